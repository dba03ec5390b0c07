# Texts of the command line.

cli-page = Baza: { $page }
cli-worker = Baza: reading documents
cli-data = Data: { $home }
cli-missing = Not configured: { $missing }
cli-complete = Everything is configured.
cli-open-to-all = ALLOWED_USERS is empty: the bot answers everybody
cli-open-unbounded = ALLOWED_USERS is empty: the bot answers everybody, and nothing bounds what they may cost (PERSON_DAILY_COST, PERSON_DAILY_QUESTIONS, BASE_PASSAGES)

cli-added = ✓ { $title }: { $passages } { $passages ->
    [one] passage
   *[other] passages
  }, { $seconds } s
cli-duplicate = ✓ { $title }: in the base already
cli-document = { $id }  { $status }  { $title } ({ $passages })
cli-no-such-file = There is no file { $path }, it cannot be read, or the folder holds no files. Check the path.
cli-migrating = Migrations
cli-migrated = { $functions ->
    [none] { $count ->
        [0] The database fits this version already.
       *[other] Migrations applied: { $count }.
    }
   *[other] Migrations applied: { $count }. Functions made anew: { $functions }.
  }

cli-reindexing = { $base }: { $done } of { $total } passages
cli-own-base = personal base { $id }
cli-stopped = stopped
cli-reindexed = { $model ->
    [none] { $base }: searched by words now, without a model
   *[other] { $base }: searched by { $model } now
  }
cli-reindexed-restart = A bot that runs now still asks with the model of its start, so it searches by words only. Restart it: baza run
cli-nothing-to-reindex = { $model ->
    [none] Nothing to move: no model is configured, and search goes by words already.
   *[other] Nothing to move: every passage has vectors of { $model }.
  }

missing-token = no BOT_TOKEN: the talk goes on in the local chat
missing-model = no LLM key: I answer with quotes
missing-speech = no WHISPER_MODEL: I do not listen to voice notes, audio and video
missing-recognition = no tesseract and no VISION_MODEL: words in photos and scans are not read
missing-jina = neither a Jina key nor a model: I search by words and their forms (search by meaning on this machine: baza models add search)
missing-reranker = no Jina key: what is found is not reranked
doctor-database = { $kind }
doctor-altered = Migrations that were applied with another text than the one here: { $versions }. Install the Baza that applied them, or restore a backup.
doctor-sandbox-holds = strangers' files are read in confinement: { $held }
doctor-sandbox-lacks = not here: { $lacking }; here: { $held } (docs/operations.md, “Confinement”)
doctor-telegram = Telegram refused: { $reason }. Check BOT_TOKEN.

cli-token = Token (shown once): { $token }
  Id { $id }, base { $base }

cli-model = { $task }: { $name }, { $megabytes } MB, { $licence }, languages: { $languages }. { $state ->
    [used] In use.
    [here] Downloaded, but the settings name another.
   *[no] To add it: baza models add { $task }
  }
      { $brings }
cli-model-search = Search by meaning: finds an answer also where the question has other words or another language.
cli-model-rerank = The order of what was found: each passage is compared with the question, the best come first. Slower.
cli-model-speech = Speech: voice messages, sound and video become text that can be found.
cli-model-fetching = Downloading { $name } ({ $megabytes } MB). You may stop it: the same command goes on.
cli-model-fetched = { $done } of { $total } MB downloaded
cli-model-set = Written to { $file }: { $name }={ $value }
cli-model-overruled = But the environment or .env sets { $name } to something else, which counts more. Remove it there.
cli-model-jina = But JINA_API_KEY is set, and Jina searches. Remove it to search by this model, then: baza reindex
cli-model-restart = Restart Baza to use the model: baza run
cli-adding = Reading
cli-dialogue = Ask away; Ctrl-D ends the dialogue.
