"""The grammar of signs and marks: patterns, and nothing else.

In: nothing. Out: compiled patterns with which `rag.answering.marks` parses a model's text. `prompts/answer.md` explains
signs and marks to the model.
"""

import re

_DASHES = r"\-–—−"  # as models write them; for character classes

_NUMBERS = rf"\d{{1,3}}(?:[ ]*[,;{_DASHES}][ ]*\d{{1,3}})*"
# The address of a Markdown link, [1](https://…), with brackets inside it or a title after it.
_ADDRESS = r"\([^\s()\[\]]*(?:\([^\s()\[\]]*\)[^\s()\[\]]*)*(?:[ ]\"[^\"\n]*\")?\)"
# [1] [2, 5] [1-3] [[4]] [^1] [№1] [материал 1] [[1]](#1), and a form that some models were trained on: 【1†source】
_OPENED = rf"\[{{1,2}}(?:\^|\#|№|[Мм]атериал[ ]|[Mm]aterial[ ])?[ ]*{_NUMBERS}[ ]*"
_FORMS = (
    rf"{_OPENED}\]{{1,2}}\(\#[^\s()]*\)",
    rf"{_OPENED}\]{{1,2}}(?!{_ADDRESS})",
    rf"【[ ]*{_NUMBERS}[^】\n]{{0,40}}】",
    rf"\[[ ]*[+{_DASHES}][ ]*\]",  # a sign in the middle of the text
)
_MARK = f"(?:{'|'.join(_FORMS)})"
# Spaces around a comma match in one way only: with two ways, twenty marks in a row would backtrack a million times.
_MARKS = rf"{_MARK}(?:[ \t]*(?:(?:[,;]|и|and)[ \t]*)?{_MARK})*"
PIECES = re.compile(
    rf"""
    (?P<fence>^[ \t>]*(?:(?:[-*+]|\d{{1,3}}[.)])[ \t]+)?(?P<ticks>`{{3,}}|~{{3,}})[^\n`]*\n
        (?:.*?^[ \t>]*(?P=ticks)[`~]*[ \t]*$|.*\Z))                     # a code block, to its end or the text's
    |(?P<span>(?<!`)(?P<run>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=run)(?!`))   # code within a paragraph
    |(?P<link>\[[^\[\]\n]*\](?!\(\#){_ADDRESS})
    |(?P<line>^[ \t]*{_MARKS}[ \t]*(?:\n|\Z))                           # a line of nothing but marks
    |(?P<first>^[ \t]*{_MARKS}[ \t]+)                                   # marks at the start of a line
    |(?P<marks>[ \t\u00a0]*(?:\({_MARKS}\)|\*\*{_MARKS}\*\*|{_MARKS}))
    |(?P<tag></?material-[0-9a-f]+[^>\n]*>|<\|\w{{1,20}}\|>)            # the fence of the prompt, a model's own signs
    """,
    re.M | re.S | re.X,
)
VERBATIM = frozenset({"fence", "span", "link"})
MARK_PIECES = frozenset({"line", "first", "marks"})
NAMED = re.compile(rf"(?<![†\d])(\d{{1,3}})(?:[ ]*[{_DASHES}][ ]*(\d{{1,3}}))?(?!\d)")
SIGN = re.compile(rf"\A\s*(?:<\|\w{{1,20}}\|>\s*)*(?:\*\*)?\[[ ]*([+0{_DASHES}])[ ]*\](?:\*\*)?:?\s*")
THOUGHTS = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.S)  # reasoning that local servers leave in the text
# A list of sources that the model was told not to write: a label, then nothing but lines that begin with marks. The
# repetitions are possessive (`*+`): no other match is possible, and backtracking would double with each mark.
_LABEL = r"\n[ \t*_#]*(?:Источники?|Информация взята из|Sources?)[*_]*[ \t]*"
_LISTED = rf"(?:[\s,;.•*-]|\d+[.)]|{_MARK}[^\n]*+)*+"
OWN_SOURCES = re.compile(rf"{_LABEL}(?::[*_]*|(?=\s*\Z)){_LISTED}(?:[\[【][^\]】\n]*)?\Z", re.I)
MAYBE_OWN_SOURCES = re.compile(  # an incomplete label, or a number that may belong to the list
    rf"\n[ \t*_#]*[ИS]\w{{0,10}}(?: взята)?(?: из)?\Z|{_LABEL}:[*_]*{_LISTED}\d+\Z", re.I
)

# Ends of a text that may still become something else. Everything from there on is held back and not examined further:
# code comes first, because nothing inside code can open anything.
OPEN_ENDS = tuple(
    re.compile(pattern, re.M | re.S)
    for pattern in (
        r"`(?:(?!\n[ \t]*\n).)*\Z",  # code that is not closed yet
        r"~(?:~[^\n]*)?\Z",  # a fence of tildes, until its line has ended
        r"[\[【][^\]】\n]*(?:\]\]?(?:\([^)\n]*)?)?\Z",  # a mark or a link
        r"<[^>\n]{0,80}\Z",
    )
)
# After a mark: another mark may follow, or the mark may turn out to be a link.
MORE_MARKS = re.compile(r"(?:[\s,;)*]|и|an?d?)*(?:[\[【][^\]】\n]*\]{0,2})?\Z|\([^)\s]*\Z")
NOT_BREAK = re.compile(r"[^\n]")
LOOSE_END = " \t\n\u00a0(*_"  # spaces, and what may open around a mark
