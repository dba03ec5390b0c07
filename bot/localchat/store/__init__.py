"""What the local chat remembers, in one SQLite file of its folder.

In and out: records of `bot.localchat.records`. Calls are made on the event loop: one person writes a few rows at a
time, and each takes well under a millisecond.
"""
