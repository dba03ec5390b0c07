"""A loopback stand-in for Telegram: the Bot API for the bot, a chat page for people.

In: Bot API calls of an unmodified client, and what people do on the page. Out: updates, messages, files. It never
connects to Telegram and listens only on 127.0.0.1.
"""
