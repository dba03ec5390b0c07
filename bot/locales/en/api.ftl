# What the HTTP API answers when a request fails; the key is api-<status>.

api-401 = A valid token is needed: Authorization: Bearer TOKEN. `baza token add` makes one.
api-403 = This token may not do that. Use one with more rights.
api-404 = There is no such thing here. GET /rags gives the bases that a token opens.
api-405 = This address is not called so. /docs describes the methods.
api-413 = The request is too large. Send it in parts.
api-422 = The request is not as it should be. /docs describes the fields.
api-no-json = The body does not read as JSON. It takes an object, and the header Content-Type: application/json.
api-429 = Too many requests. Wait as many seconds as Retry-After says.
api-500 = This is our mistake; the log has its reason. Try again later.
api-503 = The database does not answer now. Try again in a few seconds.
api-no-original = There is no original here: only files that came over HTTP are kept. …/content gives the text.
api-other-content = Other content came with this Idempotency-Key. Use a new key.
api-being-read = This document is still being read. Wait until it has ended and repeat.
api-no-room = This base has no more room for files. Delete documents that are not needed.
api-too-many-bytes = Too much was sent today. Wait as many seconds as Retry-After says.
api-spent = This token has spent on models what it may in a day. Wait as many seconds as Retry-After says.
api-busy = Answers that are being written may take all that is left of the day. Repeat after as many seconds as Retry-After says.
api-too-many-webhooks = This base has as many addresses as it may. Remove one.
api-address = Nothing can be sent to this address: it has to be public, http or https.
api-too-many-bases = There can be no more bases: delete one that is not needed.
api-first-base = The first base cannot be deleted. Its documents can, one by one.
