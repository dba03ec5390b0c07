"""What a turn remembers of the dialogue.

In: stored exchanges. Out: messages for a model within a budget. The summary and recalled pairs will stand before
the window; the follow-up gate will be a module beside it.
"""
