# The first minute: greeting, modes, commands, help.

hello = Hello! I am Baza: I keep your documents, links and { $hears ->
    [yes] voice messages
   *[no] notes
} and answer from them, showing where each answer comes from.
choose-mode = Choose a mode:

button-chat = 💬 Chat
button-documents = 📚 Base
button-library = 🗂 Documents
button-chosen = { $mode } ✓
write-here = Message

documents-hint = “Base” mode. Send a file, a link{ $hears ->
    [yes] , a voice message, a video
   *[no] { "" }
} or just text, and it all goes into your base. When you are done, press “Chat” and ask.
documents-hint-group = “Base” mode for this group. Mention me or reply to me: files, links and text go into the group's base.
chat-hint = “Chat” mode. Ask me: I answer from your base and show where the answer comes from.
chat-hint-group = “Chat” mode for this group. Mention me or reply to me: I answer from the group's base.
chat-hint-empty = Your base is empty so far. Send the first document in “Base” mode, and I will answer from it. You can ask right away, too: I will answer from general knowledge.
chat-hint-empty-strict = Your base is empty so far. Send the first document in “Base” mode, and I will answer from it.
chat-hint-reading = “Chat” mode. I am still reading what you sent. Ask once the document is “in the base”: I answer from it and show where the answer comes from.
mode-set-chat = “Chat” mode
mode-set-documents = “Base” mode

new-dialogue = A new conversation has begun: I no longer look at the previous one; /dialogs brings it back. Your documents are where they were.
new-dialogue-first = A new conversation is ready; there were none before it. Your documents are where they were.

language-choose = Which language shall I speak?
language-set = I speak English now.
language-name = English

help =
    “Base” mode: send a file, a link{ $hears ->
        [yes] , a voice message
       *[no] { "" }
    } or text, and I read it all.
    “Chat” mode: ask, I answer from your base and show the sources.
    /bases: other bases, shared ones. /docs: what the base holds; open, delete.
    /new: begin a new conversation, documents stay. /dialogs: go back to an earlier one.
    /clean: clear the conversation or the base.
    /stats: how much and how fast. /privacy: what is kept and how to delete it. /language: language.
privacy =
    <b>What is kept.</b> The text of your documents, links and notes, the latest messages of the conversation, mode and language, your 👍 and 👎; of answers also times and numbers of tokens, without words.
    <b>Where.</b> In the database of whoever runs this bot; files that came over HTTP instead of Telegram lie there, too, while their document does. Nobody but its members sees a base here.
    <b>Who gets it.</b> If outside services for search and answers are connected, they receive the question, the text of documents and the recent conversation.
    <b>How to delete it.</b> What was only read leaves by itself in a day. One document: /docs. The conversation, the base, or all of yours at once: /clean. What was deleted cannot be brought back; what you have spent on models is remembered for a day.

unknown-command = There is no such command. What I can do: /help
unknown-button = This button no longer works. Open what you need anew: /docs or /help
refused = This bot works for a chosen circle of people. To join it, give its owner your number: <code>{ $user }</code>
too-often = Too many messages in a row: I took neither this one nor those after it. Please wait a minute and send them again.
too-often-pressed = Too often: I let this press pass. Please wait a minute and press again.
trouble = Something broke on my side, not yours. Please try again; if it happens again, show the bot's owner this number: <code>{ $number }</code>
too-many-waiting = { $most } of your documents are waiting already, which is as many as fit. This one was not taken: please send it again when some have been read.
database-away = Not possible right now: the storage does not answer. Please send this again in a minute.

command-start = begin and choose a mode
command-chat = “Chat” mode: ask
command-base = “Base” mode: send documents
command-docs = what the base holds
command-new = new conversation
command-dialogs = earlier conversations
command-clean = clear the conversation or the base
command-stats = how much and how fast
command-language = language
command-bases = your bases: open, make, share
command-api = access for programs (HTTP, MCP)
command-privacy = what is kept and how to delete it
command-help = how to use me
bot-description =
    I keep your documents, links and notes and answer from them, showing where each answer comes from.

    Send a file, a link or text in “Base” mode, then ask in “Chat” mode.
bot-short-description = I keep your documents, links and notes and answer from them, showing where each answer comes from.
