"""Formatted text by Telegram's rules: units, the HTML parse mode, given entities, and detected ones.

In: a text as it is sent. Out: `FormattedText`. Pure.
"""
