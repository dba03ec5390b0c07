"""A loopback stand-in for Telegram: the Bot API for the bot, a chat page for people.

In: Bot API calls of an unchanged client, and what people do on the page. Out: updates, messages, files. It never
connects to Telegram and listens on 127.0.0.1 alone.
"""
