"""Monitoring of this process: `/metrics` in Prometheus's text format, when METRICS_PORT is set.

In: what handlers, models, the worker and the Bot API client report to `Measures`. Out: a page for a scraper, without
texts or ids. Figures for people are in `bot.handlers.stats`.
"""
