"""What the place of a file and its sender add to what was read in it: title, author, day, caption.

In: a parsed `Document`, and where it came from. Out: the document that is stored. It reads nothing.
"""

from dataclasses import replace

from domain.documents import SourceType
from ingestion.dating.own_day import own_moment
from ingestion.parsers.titles import choose_author, choose_title
from ingestion.records import About, Block, BlockKind, Document, FetchedFile, Source
from ingestion.spool import joined


def with_about(parsed: Document, file: FetchedFile) -> Document:
    """Fill what the file leaves open (title, author, day, medium, length) from the metadata of its place (`About`)."""
    about = file.about or About()
    is_nameless = parsed.title == choose_title(None, (), name=file.name)
    stated = (choose_author(author, parsed.blocks) for author in (parsed.author, about.author))
    return replace(
        parsed,
        title=about.title if about.title and is_nameless else parsed.title,
        author=next(filter(None, stated), None),
        published_at=parsed.published_at or about.published_at,
        medium=about.medium or parsed.medium,
        duration_s=about.duration_s or parsed.duration_s,
    )


def with_source(parsed: Document, source: Source) -> Document:
    """Add what the sender gave: the title of a note or voice message, the author of a forward, a file's caption.

    The document's own day takes precedence over the day of the forwarded message. A forwarded post is that message
    itself, so its day holds whatever day the text claims. A link has a caption if it came as a saved-link file, or
    below a file that could not be taken.
    """
    own = None if source.type is SourceType.NOTE and source.published_at else own_moment(parsed, source)
    title = source.title if source.type in (SourceType.NOTE, SourceType.FILE) else None
    caption = source.text if source.type in (SourceType.FILE, SourceType.LINK) else None
    opening = (Block(kind=BlockKind.PARAGRAPH, text=caption),) if caption else ()
    return replace(
        parsed,
        title=title or parsed.title,
        author=parsed.author or source.author,
        published_at=parsed.published_at or own or source.published_at,
        blocks=joined(opening, parsed.blocks),
    )
