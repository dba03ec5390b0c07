"""What the bot does with messages and buttons: one module for each part of the conversation.

In: events with a `Talk` from the middlewares, and `Services`. Out: messages. Each module registers its handlers with a
router; the order is in `bot.dispatcher`.
"""
