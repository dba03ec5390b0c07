# “Base” mode: intake, progress, receipts.

progress-queued = ⏳ <b>{ $title }</b> · in the queue
progress-fetching = ⏳ <b>{ $title }</b> · downloading
progress-parsing = ⏳ <b>{ $title }</b> · reading
progress-parsing-of = ⏳ <b>{ $title }</b> · reading pages { $done } of { $total }
progress-embedding = ⏳ <b>{ $title }</b> · memorising
progress-embedding-of = ⏳ <b>{ $title }</b> · memorising { $done } of { $total }
progress-waiting =
    ⏳ <b>{ $title }</b>
    Cannot be read right now: { $service } does not answer. The document is kept; I will finish by myself and tell you.
progress-day-spent =
    ⏳ <b>{ $title }</b>
    Reading your documents has cost as much as it may in a day. The document is kept and waits { $until }: I will read it and tell you.
service-search = the search service
service-named = the service { $name }

receipt-ready = ✅ <b>{ $title }</b> is in the base
receipt-line = ✅ <b>{ $title }</b> · { $size }
receipt-only-words = only the words under it were read
receipt-not-all = not all of it was read
receipt-pages = { $count ->
    [one] { $count } page
   *[other] { $count } pages
}
receipt-passages = { $count ->
    [one] { $count } passage
   *[other] { $count } passages
}
receipt-language = { $code ->
    [ru] Russian
    [en] English
    [uk] Ukrainian
    [be] Belarusian
    [kk] Kazakh
    [de] German
    [fr] French
    [es] Spanish
    [it] Italian
    [zh] Chinese
    [bg] Bulgarian
    [sr] Serbian
    [pt] Portuguese
    [pl] Polish
    [tr] Turkish
    [el] Greek
    [hy] Armenian
    [he] Hebrew
    [ar] Arabic
    [hi] Hindi
    [th] Thai
    [ka] Georgian
    [ko] Korean
    [ja] Japanese
   *[other] language { $code }
}
receipt-seconds = { $count } s
receipt-without-text = { $count ->
    [1] ⚠️ Page { $pages } has no text (a scan).
   *[other] ⚠️ Pages { $pages } have no text (scans).
}
list-and = { $first } and { $last }
list-more = { $first } and { $count } more

receipt-cancelled = Cancelled: <b>{ $title }</b>
receipt-superseded = <b>{ $title }</b>: there is a newer version.
receipt-removed = { $count ->
    [1] The document was deleted from the base.
   *[other] { $count } documents were deleted from the base.
}
receipt-removed-too = { $count ->
    [one] { $count } more document was deleted from the base.
   *[other] { $count } more documents were deleted from the base.
}
receipt-total-working = Done { $done } of { $total }.
receipt-total = { $total ->
    [one] { $total } document in all, { $ready } in the base.
   *[other] { $total } documents in all, { $ready } in the base.
}
receipt-hidden = { $count ->
    [one] … and { $count } more document
   *[other] … and { $count } more documents
}

button-cancel = Cancel
button-cancel-one = Cancel: { $title }
button-ask = Ask about it
button-show = Show
cancelled = Cancelled
cancelled-too-late = It is done already, there is nothing to cancel.

ask-about = “Chat” mode. I answer from <b>{ $title }</b> alone, until you press “Only: … ✕” below an answer.

nothing-to-keep = There is nothing to keep here. Send a file, a link or text.
unsupported = { $kind ->
    [sticker] A sticker cannot be kept.
    [location] A place on the map cannot be kept.
   *[other] I cannot read such a message.
} Send a file, a link or text.
file-too-large-for-telegram = <b>{ $name }</b> is larger than { $limit_mb } MB, and Telegram does not hand such files to bots. Split it, or send a link.
caption-taken = The words under it are in the base now.

name-voice = Voice message of { $day }
name-audio = Recording of { $day }
name-video = Video of { $day }
name-video-note = Video message of { $day }
name-document = File of { $day }
name-photo = Photo of { $day }

progress-queued-behind = ⏳ <b>{ $title }</b> · waiting, { $count } before it
progress-fetching-of = ⏳ <b>{ $title }</b> · loading pages: { $done } of { $total }
progress-recognising = ⏳ <b>{ $title }</b> · recognising
progress-recognising-of = ⏳ <b>{ $title }</b> · recognising pages: { $done } of { $total }
progress-listening = ⏳ <b>{ $title }</b> · listening
progress-listening-of = ⏳ <b>{ $title }</b> · listening: { $done } of { $total }
progress-searchable = You can ask already: { $percent } % read.

receipt-duration = { $length }
receipt-files = { $count ->
    [one] { $count } file
   *[other] { $count } files
}
receipt-site-pages = { $count ->
    [one] { $count } page of the site
   *[other] { $count } pages of the site
}
receipt-replaced = ✅ <b>{ $title }</b>: replaced
receipt-captioned = ✅ <b>{ $title }</b> was in the base already: added your caption to it
receipt-unchanged = <b>{ $title }</b>: nothing has changed.
receipt-asked = The same <b>{ $title }</b> is waiting for your answer already.
unread-part = { $code ->
    [file-encrypted] { $name } (password)
    [file-damaged] { $name } (damaged)
    [file-unsupported] { $name } (unknown format)
    [file-too-large] { $name } (too large)
    [file-too-heavy] { $name } (too large)
    [page-too-large] { $name } (too large)
    [file-too-slow] { $name } (out of time)
    [page-too-slow] { $name } (no answer in time)
    [page-unreachable] { $name } (the site does not answer)
    [page-status] { $name } (the site answered with an error)
    [file-without-text] { $name } (no text)
    [file-needs-recognition] { $name } (pictures only)
    [file-without-words] { $name } (words cannot be made out)
    [file-needs-hearing] { $name } (a recording, cannot listen)
    [file-without-speech] { $name } (no speech)
    [file-too-long] { $name } (recording too long)
    [file-needs-script] { $name } (built in the browser)
    [file-needs-login] { $name } (needs signing in)
    [file-archive-empty] { $name } (nothing inside)
   *[other] { $name }
}
receipt-unread = { $count ->
    [1] ⚠️ Not read: { $parts }
   *[other] ⚠️ Not read: { $parts }
}
choice-question = <b>{ $title }</b> is there already, but its content is new.
choice-made = All right, I will do so.
choice-too-late = This is decided already.
button-replace = Replace
button-take-back = Remove
taken-back = Removed
only-asker-or-administrators = Only whoever asked, or an administrator of the group, can stop the answer.
only-sender-or-administrators = Only whoever sent the document, or an administrator of the group, can do this.
button-keep-both = Keep both
button-skip = Skip
button-cancel-all = Cancel all
button-section = Add the whole section
section-begun = Reading the section; a message of its own will show it.
section-known = I have taken this section already: see /docs.
refresh-begun = Reading it again.
changes = What changed: { $list }.
changes-added = { $count ->
    [1] section added: { $names }
   *[other] sections added: { $names }
}
changes-removed = { $count ->
    [1] section removed: { $names }
   *[other] sections removed: { $names }
}
changes-edit = { $kind ->
    [clause] clause { $name } now says
    [row] row “{ $name }” now says
    [section] section “{ $name }” now says
   *[nowhere] now it says
} “{ $after }” instead of “{ $before }”
changes-paragraphs = { $count ->
    [one] { $count } paragraph changed
   *[other] { $count } paragraphs changed
}
progress-fetching-percent = ⏳ <b>{ $title }</b> · loading: { $percent } %

until = { $ahead ->
    [0] until { $time }
    [1] until tomorrow, { $time }
   *[other] until { $day }, { $time }
}
receipt-read = ✅ <b>{ $title }</b> is read, ask about it
receipt-leaves = It stays { $until }.
receipt-read-before = <b>{ $title }</b> was read already and stays { $until }.
receipt-stays = <b>{ $title }</b> is in the base now: it was there for a day.
button-stay = Keep in the base
stays-now = It stays in the base.
documents-gone = These documents are not in the base any more.
