# What the HTTP API answers when a request fails; the key is api-<status>.

api-401 = A valid token is needed: Authorization: Bearer TOKEN. `baza token add` makes one.
api-403 = This token may only read. Use one made without --read-only.
api-404 = There is no such thing here. A token opens one base; GET /rags gives its id.
api-405 = This address is not called so. /docs describes the methods.
api-409 = This is being done, or was done with another content. Use a new Idempotency-Key.
api-413 = The request is too large. Send it in parts.
api-422 = The request is not as it should be. /docs describes the fields.
api-429 = Too many requests. Wait as many seconds as Retry-After says.
api-500 = This is our mistake; the log has its reason. Try again later.
api-503 = The database does not answer now. Try again in a few seconds.
