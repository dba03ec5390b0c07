# “Chat” mode: answers, sources, feedback.

answer-general-label = Not from your base:
answer-quotes-label = Here is what the base holds:
answer-instead-outline = This is how each part begins. A summary in its own words is what a model writes.
answer-instead-comparison = One quote for each side. A comparison in its own words is what a model writes.
answer-instead-rows = Chosen by the numbers of the table. More involved conditions take a model.
answer-weak-label = It may be this:
answer-sources-label = The information comes from:
answer-nothing = The base holds nothing about this. Ask in other words, or add a document in “Base” mode.
answer-unsearched = I could not answer, and did not look for it in the base. Ask again, preferably in other words.
answer-nothing-empty = Your base is empty so far, there is nothing to answer from. Send a document in “Base” mode and ask again.
answer-nothing-reading = I am still reading what you sent, there is nothing to answer from yet. Ask again once the document is “in the base”.
answer-by-words = I search by words: { $words }. The documents are in another language, so only names, numbers and terms are found; ask in theirs to find more.
answer-misses-meaning = I search by words and their forms; the same thing in other words (“deposit” and “security payment”) I do not recognise. Whoever runs this Baza turns on search by meaning with one command: baza models add search
answer-alike = Other documents fit as well: the buttons below answer from them.
answer-cut = The answer broke off: the service stopped answering. Please ask again.
answer-stopped = Stopped as you asked: the answer is not finished.
answer-other-language = This did not come out in the language it should be in. If that is inconvenient, ask for a translation.
answer-withdrawn =
    { $count ->
        [one] I took out { $count } statement: it is not { $kind ->
            [conversation] in your documents, nor in our conversation
           *[from_base] in your documents
        }.
       *[other] I took out { $count } statements: they are not { $kind ->
            [conversation] in your documents, nor in our conversation
           *[from_base] in your documents
        }.
    }
answer-day-spent = You have used up a day's answers of the model: { $until } I show what the base holds, without it.
answer-full-answers =
    These are quotes: no model is set. For answers in its own words add two lines to the file .env and start again:
    <code>LLM_API_KEY=your key
    ANSWER_MODEL=openai/gpt-4.1</code>
    For a model on this machine, in place of the key: <code>LLM_BASE_URL=http://127.0.0.1:11434/v1</code>
search-model-offer = And the search goes by words and their forms. By meaning, in other words and other languages, it searches with a model on this machine, which can be downloaded now.
button-add-search = Download the search model · { $megabytes } MB
button-go-on = Go on
search-model-going = ⏳ Adding search by meaning. You can ask meanwhile.
    { $told }
search-model-added = ✅ The search model is here, and the bases have been moved to it. Start Baza again (Ctrl+C, then <code>make run</code>), and it searches by meaning.
search-model-failed = Search by meaning could not be added: { $reason }
    What has been downloaded is kept.
search-model-is-there = Search by meaning is set here already, or only the owner of this machine may add it.

place-pages = p. { $pages }
place-section = section “{ $section }”
place-moment = from { $start }

question-or-note = Is this a question or a note?
button-answer-it = Answer
button-save-it = Save
no-mode-chat = I answer, as in the mode “Chat”. To keep what you wrote, press “Base”.
no-mode-documents = I keep it, as in the mode “Base”. Ask about what is kept right here, or in the mode “Chat”.
question-or-document = Is this a question or a document for the base?
button-answer = It is a question
button-keep = Add to the base
button-only-read = Only read it now
original-gone = The original message cannot be found. Please send it again in “Base” mode.
question-is-not-text = I can only answer text. Please put the question into words.

source-gone = The base no longer holds this passage.
feedback-saved = Thank you, noted.

button-more = Show { $count } more
ask-more = Show the rest of the list that was left out.
button-only = Only: { $title } ✕
only-ended = I answer from all documents again
only-gone = The document that you were asking about is gone or was replaced: I answer from all of them again.
answer-nothing-only = This document says nothing about that. Ask in other words, or take the limit off below: I will search all of them.
button-everywhere = In all documents
dialogs-none = There are no earlier conversations.
dialogs-choose = Which conversation shall we go on with?
dialog-resumed = We go on with “{ $title }”. Ask away.
dialog-gone = That conversation is gone.
question-gone = That question is not in the conversation any more. Please ask it again.

answer-unread =
    { $count ->
        [one] { $count } document is still being read for names and facts: the list may become longer.
       *[other] { $count } documents are still being read for names and facts: the list may become longer.
    }
answer-still-read = The document “{ $title }” is still being read: { $percent } % so far.

place-slides = slide { $slides }
place-rows = rows { $rows }
place-rows-of = rows { $rows } of the sheet “{ $sheet }”
place-stretch = { $start }–{ $end }
place-member = { $file }

voice-understood = 🎙 { $question }
voice-not-heard = I do not hear spoken questions here: no speech model is set up. Type the question, please.
voice-without-speech = I could not make out a question. Say it again, or type it.
voice-away = I cannot listen right now. Type the question, or try again in a minute.

steps-title = Working it out step by step:
step-rag_db_query = Searching “{ $about }”
step-graph_query_tool = Looking at what is known: { $about }
step-list_documents = Looking at which documents there are
step-read_document = Reading “{ $about }”
step-read_documents = Reading documents
step-collect_rows = Collecting a table: { $about }
step-analyze = Thinking over what was found
step-other = Doing the next step
step-progress = { $done } of { $total }
step-nothing = { $step }: nothing found
step-no-conclusion = { $step }: no conclusions yet
step-stopped = { $step }: stopped
button-enough = Stop
enough-heard = Stopping: you get what there is.
enough-too-late = The answer is there already.
answer-documents-read =
    { $total ->
        [one] Read { $read } of { $total } document
       *[other] Read { $read } of { $total } documents
    }{ $without ->
        [0] .
       *[other] ; { $without } of them say nothing of it.
    }
answer-documents-chosen = Chosen by search: { $total } of the { $base } documents of the base, the others were not read.
answer-documents-remembered =
    { $count ->
        [one] { $count } of them was read before for the same question: taken from memory.
       *[other] { $count } of them were read before for the same question: taken from memory.
    }
answer-documents-left = Documents left to read: { $count }. Ask the same again: what was read is remembered, the rest comes next.
answer-documents-failed =
    { $count ->
        [one] { $count } document could not be worked through: the service did not answer.
       *[other] { $count } documents could not be worked through: the service did not answer.
    }
answer-facts-uncompared =
    { $count ->
        [one] { $count } statement was not compared with other documents: not every disagreement may be named.
       *[other] { $count } statements were not compared with other documents: not every disagreement may be named.
    }
answer-rows-missing =
    { $count ->
        [one] { $count } more row is in the documents but was not copied out: list and count may be incomplete.
       *[other] { $count } more rows are in the documents but were not copied out: list and count may be incomplete.
    }
answer-steps-failed = This did not work: { $steps }. The answer is incomplete without it.
answer-spent-stopped = Stopped as you asked: this is what was known by then.
answer-spent-steps = The question takes more steps than one go may have: this is what was known by then. Ask about a part.
answer-spent-seconds = The time for one question is over: this is what was known by then. Ask about a part to learn more.
answer-spent-model-calls = The question is too large for one go: this is what was known by then. Ask about a part.
answer-spent-tokens = The question is too large for one go: this is what was known by then. Ask about a part.
answer-spent-cost = The question is too dear for one go: this is what was known by then. Ask about a part.
button-table = Table as XLSX
table-gone = This table is gone: documents have changed since. Ask again.
table-disputed = Disagreements
table-formerly = Former values
table-source = Source

small-talk-greeting = Hello!
small-talk-assent = Good.
small-talk-ask = Ask me: I answer from your base and show where the answer comes from. What I can do: /help
small-talk-ask-empty = Your base is empty so far: send a document in “Base” mode, and I will answer from it. What I can do: /help
small-talk-ask-reading = I am still reading what you sent: ask once the document is “in the base”.
small-talk-thanks = You are welcome! If you need anything else, ask.
small-talk-farewell = See you! Your documents stay where they are.
small-talk-about = I am Baza: I keep your documents, links and voice messages and answer from them. Send them in “Base” mode and ask in “Chat” mode: I answer and show the sources. What the base holds: /docs, everything else: /help
small-talk-more = The base holds nothing more about this. The buttons under the answer show the places in full.
small-talk-leaning = This message alone does not say what the question is about. Please write it in full, such as “When does the lease end?” What I can do: /help
