"""Charts of daily figures: of one base, and of all bases together.

In: records of `domain.statistics`. Out: PNGs that can be read on a phone. Only digits are drawn, which every font has;
the caption explains rows and colours. This package reads no store and sends nothing.
"""
