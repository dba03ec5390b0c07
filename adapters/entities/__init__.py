"""Names: how they are folded into keys, and the process that finds them in Russian texts.

In: texts. Out: `domain.names` and `ingestion.entities` records. It decides nothing about entities.
"""
