# Several bases, shared bases.

base-left = The base “{ $name }” is no longer open to you. Your own is open now.
base-closed = This base is gone, or was closed to you. Your bases: /bases
base-read-only = You may not do this in this base: its owner decided so. Your bases: /bases
base-only-read = In the base “{ $name }” you read and ask; its owner, and those the owner allowed, add to it. Put this into a base of yours?

notice-base = 📚 { $name }
bases-title = 📚 <b>Your bases</b>
base-line = { $number }. { $sign } { $name } · { $facts }
base-card = 📚 <b>{ $name }</b> · { $facts }
base-own = Personal
base-of = Base of { $owner }
base-owner = owned by { $owner }
base-documents = { $count ->
    [one] { NUMBER($count) } document
   *[other] { NUMBER($count) } documents
}
base-others = { $count ->
    [one] { NUMBER($count) } other member
   *[other] { NUMBER($count) } other members
}
base-until = until { $day }
role-reader = read only
role-writer = read and add
role-owner = owner

base-opened = The base “{ $name }” is open. What you send or ask is about it now.
base-name-question = What is the base to be called?
base-unnamed = A base cannot be called that: a name needs a letter. Try again: /bases
base-renamed = The base is called “{ $name }” now.
bases-too-many = You cannot have more bases: delete one that you do not need. /bases
base-delete-sure = Delete the base “{ $name }”? Its documents ({ $count }), the conversations about them and the access of its other members ({ $others }) go with it. They cannot be brought back.
base-deleted = The base “{ $name }” is deleted; it had { $count } documents.
base-first-stays = The first base cannot be deleted. It can be cleared: /clean
base-leave-sure = Leave the base “{ $name }”? Only a new link brings you back.
base-quit = You left the base “{ $name }”.

button-bases = ‹ Bases
button-new-base = ➕ New
button-base-share = 🔗 Share
button-base-members = 👥 Members
button-base-groups = Open in a group
button-base-rename = ✏️ Rename
button-base-delete = 🗑 Delete
button-base-erase = Delete the base
button-base-quit = Leave
button-leave-base = Leave the base
button-make-link = Make the link
button-revoke = Revoke: { $link }
button-revoke-this = Revoke
button-take-off = Take off: { $name }

share-choose = A link to the base “{ $name }”. What is it to allow, to how many, and for how long?
share-read = read and ask
share-write = and add
share-many = many
share-once = one
share-days-0 = no end
share-days-7 = a week
share-days-30 = a month
share-made = A link to the base “{ $name }” ({ $what }):
    { $address }
    I will not show it again. Whoever follows it gets in, until you revoke it.
share-revoked = The link no longer works. Who has joined stays: see “Members”.
share-gone = This link does not work: it was revoked, has ended or was used. Ask for a new one.
share-own = This link leads to your own base “{ $name }”: you need not share it with yourself.
share-joined-reader = You joined the base “{ $name }”, owned by { $owner }. You may read it and ask.
share-joined-writer = You joined the base “{ $name }”, owned by { $owner }. You may read it, ask and add.
members-none = Nobody but you is in the base.
members-title = 👥 <b>Members</b>
member-line = { $number }. { $name } · { $facts }
member-gone = Taken off. This member no longer sees the base.

base-groups = In which group is the base “{ $name }” to be open? Whoever writes to me there may read it and add to it.
base-groups-none = Add me to a group and write to me there: then the base “{ $name }” can be opened in it.
base-bound = The base “{ $name }” is open in the group “{ $group }”. To close it: “Members”, “Take off”.
base-bound-group = The base “{ $name }” is open in this group now. Back to the group's own: /bases
only-administrators-choose = Which base is open in a group only its administrators decide.
only-administrators-bind = Only an administrator of a group may open a base of theirs in it.

button-send-over = 📚 To another base
button-send-copy = Copy: { $name }
button-send-move = Move: { $name }
send-where = Where is <b>{ $title }</b> to go? It need not be read again.
send-nowhere = There is nowhere to send <b>{ $title }</b>: you have no other base that you may add to. Make one: /bases
send-copied = <b>{ $title }</b> is in the base “{ $name }”, too.
send-moved = <b>{ $title }</b> is in the base “{ $name }” now.
send-there = The base “{ $name }” has <b>{ $title }</b> already. Nothing was changed.
send-no-room = The base “{ $name }” has no room for this document.

tokens-title = 🔑 <b>Access for programs</b>. A token opens a base over HTTP and MCP; whoever runs Baza knows the address. A token is shown once.
tokens-private = Tokens are given in the private chat only.
tokens-too-many = There are too many tokens already: revoke those that you do not need.
token-line = { $number }. { $what }
token-all = all my bases
token-used = last request { $day }
token-made = A new token, which I will not show again:
    <code>{ $token }</code>
    Pass it on to nobody: who knows it sees what you see.
token-revoked = The token no longer works.
button-token-base-read = The open base: read
button-token-base-write = and add
button-token-all-read = All bases: read
button-token-all-write = and change
button-token-revoke = Revoke { $number }
