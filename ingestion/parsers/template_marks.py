"""Removes marks of documentation generators that are in Markdown files but are no Markdown.

In: Markdown from documentation repositories. Out: the same text without the marks; their words are kept.
"""

import re

RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\{(?:linkto|link)\([^()\n]*\)\[[^\]\n]*?text=([^\]\n]+)\]\}", r"\1"),  # {linkto(#id)[text=words]}
        (r"(?m)^\{cut\(([^\n{}]*?)\)(?:\[[^\]\n]*\])?\}$", r"###### \1"),
        (r"\{(?:heading|cut|tab)\(([^\n{}]*?)\)(?:\[[^\]\n]*\])?\}", r"\1"),  # {heading(Words)[id=x]}
        (r"\{(?:include|ifdef|ifndef|note|caption|counter)\([^\n{}]*?\)(?:\[[^\]\n]*\])?\}", ""),
        (r"\{/(?:cut|ifdef|ifndef|note|tab|tabs|caption)\}|\{(?:tabs|note)\}", ""),
        (r"\{\{#(?:rustdoc_include|include|playground)[^}\n]*\}\}", ""),  # mdBook: the text is in another file
    )
)
"""Patterns to delete or unwrap, in order. `{var(name)}` stays: its name is informative, its value is elsewhere."""


def unwrap_template_marks(text: str) -> str:
    """Returns a text without such marks unchanged."""
    if "{" not in text:
        return text
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text
