"""The bot's replies: answers, receipts and lists as Telegram shows them.

In: records of `rag` and `domain`, Markdown of a model, `Words`. Out: text within Telegram's limits and keyboards.
"""
