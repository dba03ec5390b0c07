"""What people do on the page: read, write, upload, press.

In: requests of the page. Out: messages and presses for the bot, views for the page. The acceptance tests use the same
endpoints.
"""
