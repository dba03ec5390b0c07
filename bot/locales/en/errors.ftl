# Why a source was not read and what to do; the key is error-<ingestion.errors.FailureCode>.

error-file-too-large = <b>{ $name }</b> is larger than { $limit_mb } MB, more than I can read. Split it and send the parts.
error-file-empty = <b>{ $name }</b> is empty. Check the file and send it again.
error-file-encrypted = 🔒 <b>{ $name }</b> is protected by a password. Remove it and send the file again.
error-file-damaged = <b>{ $name }</b> is damaged and could not be read. Save it anew and send it again.
error-file-unsupported = <b>{ $name }</b>: I cannot read such files. I read PDF, DOCX, RTF, ODT, XLSX, XLS, CSV, PPTX, EPUB, FB2, EML, HTML, TXT, MD, and ZIP of those: save it as one of them and send it again.
error-file-without-text = No text was found in <b>{ $name }</b>. If it is in pictures inside, send them as photos, or save the file as PDF.
error-file-gone = <b>{ $name }</b> no longer opens: the file vanished before I read it. Send it again.
error-file-too-slow = Reading <b>{ $name }</b> took more than { $seconds } s, so I stopped. Split it and send it again.
error-file-too-heavy = <b>{ $name }</b> is too large inside, there was not enough memory for it. Split it and send it again.
error-file-archive-empty = <b>{ $name }</b> holds nothing that I can read. Send the documents themselves.
error-file-needs-recognition = <b>{ $name }</b> has its text in pictures only, and no recognition is set up here. Send a file whose text can be selected.
error-file-needs-hearing = <b>{ $name }</b> is a recording, and speech recognition is not set up here. Send its words as text.
error-file-without-words = No words were found in <b>{ $name }</b>: it is blank, or the text cannot be made out. If it is a scan or a photo, send a larger, straighter one.
error-file-without-speech = No speech can be heard in <b>{ $name }</b>. Check the recording and send it again.
error-file-too-long = <b>{ $name }</b> is longer than { $minutes } min, too much for me to listen to. Cut it into parts and send them.
error-video-unavailable = The video on { $host } is not available: removed, private, or not for everybody. Send the file itself.
error-video-refused = { $host } did not hand out this video. Send the file itself, or a voice recording.
error-video-live = The broadcast on { $host } is still on the air. Send the link when it has ended.
error-file-needs-script = The text of <b>{ $name }</b> is put together by a script in the browser, the page itself is empty. Save it as PDF or copy the text here.
error-file-needs-login = <b>{ $name }</b> shows its text only after signing in or proving to be human. Save the page as PDF or copy the text here.
error-site-forbids = { $host } asks robots not to read this section. Send the pages you need as files.
error-site-without-text = This section of { $host } holds no text. Send a link to the page itself, or copy the text here.
error-skipped = Skipped: the base keeps what it had.
error-page-address-forbidden = The page { $host } must not be opened: it is an address of an internal network. Send an address of the internet, or the file itself.
error-page-address-invalid = { $url } does not look like a link. Check it and send it again.
error-page-not-found-host = The site { $host } was not found. Check the address.
error-page-unreachable = The page { $host } did not open: the site does not answer, or its connection is not safe. Try later, or send the text as a file.
error-page-status = { $status ->
    [401] { $host } shows this page only after signing in. Save it as PDF or copy its text here.
    [403] { $host } does not hand this page to programs. Save it as PDF or copy its text here.
    [404] { $host } has no such page. Check the address.
    [410] This page is no longer on { $host }. Check the address.
   *[other] The page { $host } did not open: the site answered with error { $status }. Check the address or try later.
}
error-page-too-large = The page { $host } is larger than { $limit_mb } MB. Send the part you need as text or as a file.
error-page-too-slow = The page { $host } did not load within { $seconds } s. Try later, or send the text as a file.
error-page-too-many-redirects = The page { $host } sends us around in circles. Send the final address.
error-page-type = Behind the link to { $host } is neither a page nor a document ({ $media_type }). Send a link to a page, PDF or DOCX.
error-page-without-text = No text was found on the page { $host }: it is built in the browser, or closed. Save it as PDF or paste its text here.
error-base-full = <b>{ $name }</b> was not taken, the base is full: it may hold no more than { $most } { $most ->
    [one] passage
   *[other] passages
}. Delete what you do not need in /docs and send it again.
error-base-without-room = <b>{ $name }</b> did not fit: it has { $passages } { $passages ->
    [one] passage
   *[other] passages
}, and the base may hold no more than { $most } in all. Delete what you do not need in /docs and send it again, or send a part of it.
error-duplicate = This document has been in the base since { $created_at }: <b>{ $title }</b>.
error-cancelled = Cancelled.
error-service-refused = It could not be read: { $service } refuses our requests. The bot's owner should check key and balance.
error-day-spent = Reading your documents has cost as much as it may in a day. Send it again tomorrow.
error-service-away = It could not be read: { $service } never answered. Send it again later.
error-internal = It could not be read, and the fault is mine, not yours. It has been noted; please try to send it again.
