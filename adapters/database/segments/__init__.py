"""Binary-quantised vectors of large bases in memory, so that a search need not compare them in the database.

In: segments of the database (`vector_segments.sql`), a query vector. Out: the passages whose bits are nearest: a
proposal, which the database checks in the base that asks. `scanning` compares, `mirror` holds a copy of each segment
and keeps it fresh.
"""
