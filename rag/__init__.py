"""Turns a question into an answer: memory, search, answer, sources.

In: a question of one person about one base. Out: events of a turn (`rag.records`), which the bot shows.
It knows neither Telegram nor the database's driver: it reaches the outside through the ports in `rag.ports` alone.
"""
