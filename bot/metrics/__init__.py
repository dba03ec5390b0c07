"""Figures of this process for those who watch over it: `/metrics` in Prometheus' text format, when METRICS_PORT is set.

In: what handlers, models, the worker and the Bot API client tell `Measures`. Out: a page for a scraper. No texts, no
ids. Figures for people are `bot.handlers.stats`'.
"""
