-- Nothing to seed: bases, documents and dialogues are made by their owners' first messages.
-- The file is here because `supabase db reset` reads it (config.toml, [db.seed]).
select 1;
