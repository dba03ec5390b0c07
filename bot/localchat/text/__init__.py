"""Formatted text by Telegram's rules: units, the HTML parse mode, given entities, and what is found by itself.

In: a text as it is sent. Out: `FormattedText`. Pure.
"""
