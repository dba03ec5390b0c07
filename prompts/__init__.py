"""Prompts for models: text files, filled from typed records.

In: nothing. Out: `load_prompts()`. It knows no other package; the caller builds the record for a prompt.
"""
