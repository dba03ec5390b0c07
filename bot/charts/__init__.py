"""Pictures of figures by day: of a base, and of everybody.

In: records of `domain.statistics`. Out: PNGs that can be read on a phone. Only digits are drawn, which every font has:
what a row or a colour means is said in the caption. Nobody is asked and nothing is sent.
"""
