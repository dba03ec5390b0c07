"""What a turn remembers of the dialogue: the window, the summary of what left it, and recalled old exchanges.

In: stored exchanges. Out: a `Dialogue`, and messages for a model within a budget. Whether a question depends on the
dialogue is the planner's decision.
"""
