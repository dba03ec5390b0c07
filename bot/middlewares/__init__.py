"""What happens to every message and button before a handler sees it; the order is in `bot.dispatcher`.

In: updates. Out: the same ones with a `Talk`, or nothing when they are not for us.
"""
