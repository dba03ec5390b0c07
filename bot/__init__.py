"""Everything that knows Telegram, and the composition root that puts the parts together.

In: updates of the Bot API and shell commands. Out: messages that people see. The rules for reading documents and for
answering are in `ingestion` and `rag`.
"""
