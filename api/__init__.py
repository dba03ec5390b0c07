"""The same base over HTTP: a second front of the conversation, beside `bot`.

In: requests with a token. Out: answers, passages and what was said, of the token's base and of no other.
"""
