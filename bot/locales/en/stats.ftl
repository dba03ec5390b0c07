# /stats: how much and how fast. There are never any words or names of anybody in it.

stats-title = 📊 <b>Your base</b>
stats-title-group = 📊 <b>This group's base</b>
stats-held = { $documents ->
    [one] { NUMBER($documents) } document
   *[other] { NUMBER($documents) } documents
}, { $passages ->
    [one] { NUMBER($passages) } passage
   *[other] { NUMBER($passages) } passages
}
stats-pages = Pages in them: { NUMBER($count) }
stats-recorded = Recordings and videos: { $length }
stats-not-asked = No questions in 30 days.
stats-asked = Questions in 7 days: { NUMBER($week) }, in 30 days: { NUMBER($month) }
stats-bound-passages = Room in the base: { NUMBER($held) } of { NUMBER($most) } { $most ->
    [one] passage
   *[other] passages
} taken
stats-bound-questions = Questions to the model in 24 hours: { NUMBER($asked) } of { NUMBER($most) }
stats-bound-cost = Spent in 24 hours: { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } of { NUMBER($most, minimumFractionDigits: 2, maximumFractionDigits: 4) } $
stats-kind-from_base = from the base { NUMBER($count) }
stats-kind-general = general knowledge { NUMBER($count) }
stats-kind-quotes = in quotes { NUMBER($count) }
stats-kind-conversation = conversation { NUMBER($count) }
stats-kind-nothing = nothing found { NUMBER($count) }
stats-seconds = An answer usually takes { NUMBER($median, maximumFractionDigits: 1) } s, 95 of 100 no more than { NUMBER($most, maximumFractionDigits: 1) } s
stats-thumbs = Ratings: 👍 { NUMBER($up) } · 👎 { NUMBER($down) }
stats-tokens = Tokens of models: { NUMBER($tokens) }
stats-cost = Cost: { NUMBER($dollars, minimumFractionDigits: 2, maximumFractionDigits: 4) } $
stats-steps = Questions in several steps: { NUMBER($turns) }, { NUMBER($steps) } { $steps ->
    [one] step
   *[other] steps
} on average, usually { NUMBER($seconds, maximumFractionDigits: 0) } s

stats-all-title = 📈 <b>All bases, { $days } days</b>
stats-all-people = People: { NUMBER($people) }, asked: { NUMBER($active) }, bases: { NUMBER($bases) }
stats-all-turns = Questions: { NUMBER($turns) }; general knowledge { NUMBER($general) }, in quotes { NUMBER($quoted) }, nothing found { NUMBER($unanswered) }
stats-all-calls = Calls of models: { NUMBER($count) }
stats-all-slowest = Slowest answer: { NUMBER($seconds, maximumFractionDigits: 1) } s
stats-all-waiting = Of the time of answers, waited for searches { $searching } %, for models { $models } %
stats-all-facts = Facts found: { NUMBER($found) }, used by answers: { NUMBER($used) } ({ $share } %)
stats-all-plans = Steps planned: { NUMBER($planned) }, run: { NUMBER($run) }, changed on the way: { NUMBER($adapted) }
stats-all-actions = Steps: { $list }
stats-all-action = { $action } { NUMBER($count) } of { NUMBER($seconds, maximumFractionDigits: 1) } s{ $tokens ->
    [0] { "" }
   *[other] , tokens { NUMBER($tokens) }
}{ $failed ->
    [0] { "" }
   *[other] , failed { NUMBER($failed) }
}
stats-all-slowest-document = Slowest document: { $length }
stats-all-documents = Documents: { $list }
stats-all-failures = Not read in these days: { $list }
stats-all-queue = Queue: { NUMBER($waiting) } waiting, the first for { $age }; { NUMBER($working) } being read
stats-all-no-queue = Queue empty; { NUMBER($working) } being read
stats-status-queued = waiting
stats-status-choosing = waiting for a choice
stats-status-fetching = being fetched
stats-status-parsing = being read
stats-status-recognising = being recognised
stats-status-listening = being listened to
stats-status-embedding = being indexed
stats-status-ready = ready
stats-status-failed = not read
stats-status-duplicate = known already
stats-status-cancelled = cancelled
stats-status-superseded = earlier versions

stats-chart-title = Day by day:
stats-chart-asked = 🟦 Questions, 🟧 how many people asked
stats-chart-documents = Documents: 🟩 read, 🟥 not read
stats-chart-tokens = 🟪 Tokens of models
stats-chart-cost = 🟧 Cost, $
stats-chart-seconds = Seconds of an answer: 🟦 usually, 🟧 95 of 100 no more than
stats-chart-thumbs = Ratings, %: 🟩 👍, 🟥 👎
