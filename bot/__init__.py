"""Everything that knows Telegram, and the composition root that puts the parts together.

In: updates of the Bot API and commands of the shell. Out: messages that people see. Rules of reading and answering
are in `ingestion` and `rag`.
"""
