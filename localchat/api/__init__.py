"""The Bot API as an unmodified client sees it: one module per family of methods, and the route that joins them.

In: HTTP calls of a client. Out: what Telegram would answer. `localchat.people` shows the results to people.
"""
