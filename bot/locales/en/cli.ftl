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
cli-migrated = { $functions ->
    [none] { $count ->
        [0] The database fits this version already.
       *[other] Migrations applied: { $count }.
    }
   *[other] Migrations applied: { $count }. Functions made anew: { $functions }.
  }

cli-reindexing = { $base }: { $done } of { $total } passages
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
missing-jina = no Jina key: I search by words and their forms
missing-reranker = no Jina key: what is found is not reranked
doctor-database = { $kind }
doctor-altered = Migrations that were applied with another text than the one here: { $versions }. Install the Baza that applied them, or restore a backup.
doctor-sandbox-holds = strangers' files are read in confinement: { $held }
doctor-sandbox-lacks = not here: { $lacking }; here: { $held } (docs/operations.md, “Confinement”)
doctor-telegram = Telegram refused: { $reason }. Check BOT_TOKEN.

cli-token = Token (shown once): { $token }
  Id { $id }, base { $base }
