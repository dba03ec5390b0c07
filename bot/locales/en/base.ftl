# “Base” mode: intake, progress, receipts.

progress-queued = ⏳ <b>{ $title }</b> · in the queue
progress-fetching = ⏳ <b>{ $title }</b> · downloading
progress-parsing = ⏳ <b>{ $title }</b> · reading
progress-parsing-pages = ⏳ <b>{ $title }</b> · reading pages { $done } of { $total }
progress-embedding = ⏳ <b>{ $title }</b> · memorising
progress-embedding-passages = ⏳ <b>{ $title }</b> · memorising { $done } of { $total }
progress-waiting =
    ⏳ <b>{ $title }</b>
    Cannot be read right now: { $service } does not answer. The document is kept; I will finish by myself and tell you.
service-search = the search service
service-named = the service { $name }

receipt-ready = ✅ <b>{ $title }</b> is in the base
receipt-line = ✅ <b>{ $title }</b> · { $size }
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
   *[other] language { $code }
}
receipt-seconds = { $count } s
receipt-without-text = { $count ->
    [1] ⚠️ Page { $pages } has no text (a scan).
   *[other] ⚠️ Pages { $pages } have no text (scans).
}
list-and = { $first } and { $last }
list-more = { $first } and { $count } more

receipt-cancelled = Cancelled: <b>{ $title }</b>
receipt-superseded = <b>{ $title }</b>: there is a newer version.
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

ask-about = “Chat” mode. Ask about <b>{ $title }</b>: I answer and show where it comes from.

nothing-to-keep = There is nothing to keep here. Send a file (PDF, DOCX, TXT, MD), a link or text.
unsupported = { $kind ->
    [photo] I cannot read pictures yet.
    [voice] I cannot listen to voice messages yet.
    [audio] I cannot listen to recordings yet.
    [video] I cannot watch videos yet.
    [sticker] A sticker cannot be kept.
    [location] A place on the map cannot be kept.
    [poll] A poll cannot be kept.
    [contact] A contact cannot be kept.
   *[other] I cannot read such a message.
} Send a file (PDF, DOCX, TXT, MD), a link or text.
file-too-large-for-telegram = <b>{ $name }</b> is larger than { $limit_mb } MB, and Telegram does not hand such files to bots. Split it, or send a link.
