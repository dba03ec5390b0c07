"""The Bot API as an unchanged client sees it: one module per family of methods, and the route that joins them.

In: HTTP calls of a client. Out: what Telegram would answer. What people see of it is `bot.localchat.people`'s.
"""
