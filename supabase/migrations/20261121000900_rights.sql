-- Who may touch what: the owner of the database and, on Supabase, `service_role`. Nobody else may read a row or call a
-- function. In: all that the migrations before made. Out: row-level security without a policy, and grants.
-- Tables and functions are named one by one, because pgvector may live in this schema too and stays open to all. A
-- later migration does the same for what it adds; a test finds what was forgotten.

do $$
declare
  tables constant text[] := array[
    'bases', 'base_members', 'user_state', 'batches', 'documents', 'document_blocks', 'documents_chunks', 'chunk_terms',
    'common_terms', 'blocks', 'block_places', 'block_terms', 'block_plans', 'renamed_documents',
    'vector_shelves', 'next_vectors',
    'chat_messages', 'chat_archive', 'chat_session_summary', 'answer_feedback', 'turn_metrics', 'answer_tables',
    'kept_readings', 'enrichments', 'entities', 'entity_aliases', 'entity_mentions', 'graph_facts', 'inbox'];
  views constant text[] := array['document_cards', 'passages', 'hidden_documents'];
  counters constant text[] := array[
    'documents_chunks', 'chat_messages', 'answer_feedback', 'turn_metrics', 'answer_tables', 'entities',
    'graph_facts'];
  functions constant text[] := array[
    'open_base', 'open_named_base', 'read_or_create_state', 'set_mode', 'set_language', 'new_session',
    'lock_base', 'count_removed', 'count_changed', 'remove_postings', 'enqueue_batch', 'waiting_bases', 'turns',
    'next_document', 'album_caption', 'claim_document', 'touch_batch', 'held_document', 'finish_document',
    'renew_lease', 'return_document', 'report_progress',
    'full_at', 'ensure_room',
    'ready_namesake', 'ready_before', 'may_be_found', 'brings_caption', 'adopt_caption', 'stopped_by_another', 'named',
    'in_lineage',
    'record_content', 'become_link', 'known_reading', 'store_blocks', 'keep_chunks', 'put_chunks', 'add_chunks',
    'supersede', 'hide_rivals',
    'insert_blocks', 'put_blocks', 'add_blocks', 'publish_document', 'postpone_document', 'fail_document',
    'documents_ahead', 'is_called', 'list_documents', 'count_base', 'document_card', 'document_versions', 'retitle',
    'bear_own_titles', 'file_name', 'only_name', 'numbered_names', 'rename_document', 'cancel_document', 'cancel_batch', 'beside', 'free_number', 'choose_document', 'delete_document',
    'clean_base', 'read_blocks', 'utf16_length', 'joint', 'join_note', 'begin_batch', 'edition_of', 'try_again',
    'refresh_document', 'stay_until', 'keep_document', 'keep_batch', 'remove_expired',
    'save_feedback', 'save_turn', 'spent_in_a_day',
    'local_day', 'base_statistics', 'turns_by_day', 'queue_state', 'documents_by_status',
    'failures_by_code', 'overall_statistics', 'overall_by_day', 'steps_by_action', 'save_table', 'read_table',
    'forget_tables',
    'recall_readings', 'keep_reading', 'forget_readings',
    'lock_entities', 'drop_unmentioned', 'forget_entities', 'await_enrichment', 'claim_enrichment', 'read_again',
    'held_enrichment',
    'renew_enrichment', 'postpone_enrichment', 'store_entities', 'read_spans', 'resolve_names', 'entity_facts',
    'exact_scan_limit', 'scan_vectors', 'scan_documents', 'sketch', 'scan_shelf', 'compare_chunks', 'search_vectors',
    'shelf_wanted', 'shelf_edges', 'new_shelf', 'fill_shelf', 'clear_shelf', 'drop_old_shelves', 'ensure_shelves',
    'list_shelves', 'read_shelf',
    'counted_passages', 'count_common_terms', 'refresh_common_terms', 'forget_terms', 'is_word',
    'similar_terms', 'count_postings', 'weigh_terms',
    'score_postings', 'search_postings', 'search_terms',
    'block_size', 'blocked_up_to', 'unblocked_share', 'writing_key', 'begin_writing', 'writers_in', 'leave_blocks',
    'add_block', 'block_wanted', 'ensure_term_blocks',
    'even_vector', 'edge_above', 'search_blocks',
    'folded', 'matching_documents', 'search', 'passage', 'holds_documents',
    'read_passages',
    'outdated_chunks', 'outdated_bases', 'named_bases', 'outdated_documents', 'chunks_to_embed', 'store_next_vectors',
    'switch_model',
    'lock_dialogue', 'insert_and_trim_pairs', 'dialogue_window', 'archived_pairs', 'recall_pairs', 'recollect',
    'unsummarised_pairs', 'save_summary', 'list_sessions', 'resume_session', 'clean_chat',
    'tell_removed', 'attach_notice', 'due_notices', 'confirm_notice',
    'receive_update', 'finish_update', 'unfinished_updates', 'begin_update_again', 'schema_version'];
  service constant boolean := exists (select from pg_roles where rolname = 'service_role');
  outsiders constant text[] := array(
    select quote_ident(rolname) from pg_roles where rolname in ('anon', 'authenticated')) || 'public'::text;
  outsider text;
  name text;
begin
  foreach name in array tables loop
    execute format('alter table public.%I enable row level security', name);
  end loop;
  foreach outsider in array outsiders loop
    foreach name in array tables || views loop
      execute format('revoke all on public.%I from %s', name, outsider);
    end loop;
    foreach name in array counters loop
      execute format('revoke all on sequence %s from %s', pg_get_serial_sequence('public.' || name, 'id'), outsider);
    end loop;
    foreach name in array functions loop
      execute format('revoke all on function public.%I from %s', name, outsider);
    end loop;
  end loop;
  if not service then
    return;
  end if;
  grant usage on schema extensions to service_role;
  foreach name in array tables || views loop
    execute format('grant all on public.%I to service_role', name);
  end loop;
  foreach name in array functions loop
    execute format('grant execute on function public.%I to service_role', name);
  end loop;
end $$;
