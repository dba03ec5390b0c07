"""What models are told: one text file a role, filled by typed records.

In: nothing. Out: `load_prompts()`. It knows no other package; whoever fills a prompt builds its record.
"""
