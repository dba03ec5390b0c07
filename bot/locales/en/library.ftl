# Documents and clearing.

library-title = 🗂 <b>Documents: { $count }</b>
library-choices = waiting for your choice: { $count }
library-waiting = still reading: { $count }
library-failures = ⚠️ <b>Could not be read: { $count }</b>
button-dismiss = Remove the unread ones
library-page = p. { $page } of { $pages }
library-empty = Your base is empty so far. Send the first document in “Base” mode.
library-pages = { $count } p.
library-failed = not read
library-working = reading
library-choosing = waits for your choice
button-back = ‹ To the list
button-original = Original
button-delete = Delete
button-delete-sure = Yes, delete
button-no = Cancel

card-published = of { $day }
card-added = added on { $day }
delete-sure = Delete <b>{ $title }</b>? It cannot be brought back.
deleted = Deleted: <b>{ $title }</b>
document-gone = The base holds no such document.

clean-what = What shall I clear?
button-clean-chat = Conversation
button-clean-base = Base
clean-base-sure = Clear the base? { $count ->
    [one] { $count } document and all that was read from it will be deleted. It cannot be brought back.
   *[other] { $count } documents and all that was read from them will be deleted. They cannot be brought back.
}
button-clean-base-sure = Delete everything
clean-base-done = The base is empty: { $documents ->
    [one] { $documents } document
   *[other] { $documents } documents
} deleted ({ $passages ->
    [one] { $passages } passage
   *[other] { $passages } passages
}).
clean-base-others = And those that are not read: { $count }.
clean-base-empty = The base is empty already.
clean-chat-sure = Clear the chat? I will forget the conversation (documents stay).
button-clean-chat-sure = Clear
clean-chat-done = The conversation is forgotten: { $messages ->
    [one] { $messages } message
   *[other] { $messages } messages
} deleted. Your documents are where they were.
button-clean-all = All about me
clean-all-sure =
    Delete everything of yours? Nothing can be brought back.

    • bases: { $bases }, documents in them: { $documents }{ $others ->
        [0] { "" }
       *[other] ; others in them ({ $others }) lose them, too
    }
    • conversations, links to join, tokens and addresses that are notified

    You leave the bases of others; what you sent there stays, without your name. The chat in Telegram stays: that is yours to delete.
button-clean-all-sure = Delete all of mine
clean-all-done = Everything of yours is deleted: { $bases } bases, { $documents } documents. If you write again, we begin anew.
clean-cancelled = Nothing was deleted.

library-line = { $sign } { $title }
library-day = { $day }
card-title = <b>{ $title }</b>
card-source = { $source }

library-named = “{ $name }”
library-none = No document has “{ $name }” in its name. Try another word.
library-search = Which words are in the name?
button-text = Text
button-rename = Rename
button-refresh = Read again
button-versions = Versions: { $count }
button-open = Open
button-to-card = ‹ To the document
card-version = version { $number }
card-author = By { $author }
card-not-refreshed = ⚠️ The last refresh failed.
rename-question = What shall <b>{ $title }</b> be called?
rename-unreadable = A name needs at least one letter or digit. What shall the document be called?
renamed = It is called <b>{ $title }</b> now.
text-none = There is no text.
versions-title = Versions of <b>{ $title }</b>
version-line = { $number } · { $day }
original-text = The message itself cannot be opened any more; this is what I read from it.
only-administrators = In a group only its administrators may delete.
