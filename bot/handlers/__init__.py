"""What the bot does with messages and buttons: one module and one Router for each part of the conversation.

In: events with a `Talk` from the middlewares, and `Services`. Out: messages. Routers are made by `build_router`, never
at import; their order is in `bot.dispatcher`.
"""
