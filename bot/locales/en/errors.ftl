# Why a source was not read and what to do; the key is error-<ingestion.errors.FailureCode>.

error-file-too-large = <b>{ $name }</b> is larger than { $limit_mb } MB, I cannot get such a file. Split it, or send a link.
error-file-empty = <b>{ $name }</b> is empty. Check the file and send it again.
error-file-encrypted = 🔒 <b>{ $name }</b> is protected by a password. Remove it and send the file again.
error-file-damaged = <b>{ $name }</b> is damaged and could not be read. Save it anew and send it again.
error-file-unsupported = <b>{ $name }</b>: I cannot read such files yet. Send PDF, DOCX, TXT or MD.
error-file-without-text = <b>{ $name }</b> holds no text, it seems to be scans. Send a file whose text can be selected.
error-file-gone = <b>{ $name }</b> no longer opens: the file vanished before I read it. Send it again.
error-file-too-slow = Reading <b>{ $name }</b> took more than { $seconds } s, so I stopped. Split it and send it again.
error-file-too-heavy = <b>{ $name }</b> is too large inside, there was not enough memory for it. Split it and send it again.
error-page-address-forbidden = The page { $host } must not be opened: it is an address of an internal network. Send an address of the internet, or the file itself.
error-page-address-invalid = { $url } does not look like a link. Check it and send it again.
error-page-not-found-host = The site { $host } was not found. Check the address.
error-page-unreachable = The page { $host } did not open: the site does not answer. Try later, or send the text as a file.
error-page-status = The page { $host } did not open: the server answered { $status }. Check the address.
error-page-too-large = The page { $host } is larger than { $limit_mb } MB. Send the part you need as text or as a file.
error-page-too-slow = The page { $host } did not load within { $seconds } s. Try later, or send the text as a file.
error-page-too-many-redirects = The page { $host } sends us around in circles. Send the final address.
error-page-type = Behind the link to { $host } is neither a page nor a document ({ $media_type }). Send a link to a page, PDF or DOCX.
error-page-without-text = No text was found on the page { $host }: it is built in the browser, or closed. Save it as PDF or paste its text here.
error-duplicate = This document has been in the base since { $created_at }: <b>{ $title }</b>.
error-cancelled = Cancelled.
error-service-refused = It could not be read: { $service } refuses our requests. The bot's owner should check key and balance.
error-service-away = It could not be read: { $service } never answered. Send it again later.
error-internal = It could not be read, and the fault is mine, not yours. It has been noted; please try to send it again.
