"""The local chat's storage: one SQLite file in its folder.

In and out: records of `bot.localchat.records`. Calls block the event loop: people write a few rows at a time, and each
takes well under a millisecond.
"""
