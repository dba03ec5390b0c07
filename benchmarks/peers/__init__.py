"""The same work done by other libraries, in an environment of their own (`requirements.txt` of this folder).

In: a PostgreSQL address and files. Out: one line of JSON. Nothing of Baza is imported here: each script is what a
programmer writes after the library's own introduction.
"""
