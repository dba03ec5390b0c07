-- Who may call what: the owner of the database and, on Supabase, `service_role`. Nobody else may call or read anything.
-- Functions are named one by one, because pgvector may live in this schema too and its functions stay open to all.

do $$
declare
  ours constant text[] := array[
    'open_base', 'open_named_base', 'read_or_create_state', 'set_mode', 'set_language', 'new_session',
    'count_removed', 'count_changed', 'remove_postings', 'enqueue_batch', 'claim_document', 'touch_batch',
    'held_document', 'finish_document', 'renew_lease', 'report_progress',
    'ready_twin', 'finish_if_duplicate', 'record_content', 'store_blocks', 'stored_chunks', 'add_chunks',
    'publish_document', 'postpone_document', 'fail_document',
    'list_documents', 'count_base', 'document_card', 'cancel_document', 'delete_document', 'clean_base', 'read_blocks',
    'save_feedback', 'save_turn',
    'exact_scan_limit', 'ensure_vector_index', 'scan_vectors', 'walk_vectors', 'search_vectors', 'search_terms',
    'search', 'passage', 'holds_documents',
    'lock_dialogue', 'insert_and_trim_pairs', 'dialogue_window', 'clean_chat',
    'attach_notice', 'due_notices', 'confirm_notice',
    'receive_update', 'finish_update', 'unfinished_updates'];
  name text;
  role text;
begin
  foreach name in array ours loop
    execute format('revoke all on function public.%I from public', name);
  end loop;
  foreach role in array array['anon', 'authenticated'] loop
    continue when not exists (select from pg_roles where rolname = role);
    foreach name in array ours loop
      execute format('revoke all on function public.%I from %I', name, role);
    end loop;
    execute format('revoke all on public.document_cards, public.passages, public.hidden_documents from %I', role);
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    foreach name in array ours loop
      execute format('grant execute on function public.%I to service_role', name);
    end loop;
    grant select on public.document_cards, public.passages, public.hidden_documents to service_role;
    grant usage on schema extensions to service_role;
  end if;
end $$;
