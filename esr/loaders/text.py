"""Plain text: a document a file, its first line the title, its path the id."""

from __future__ import annotations

from collections.abc import Iterator

from esr.loaders.base import Format, Record, Source, path_id_of, register
from esr.loaders.utf8 import MAX_DOCUMENT_BYTES, pieces, too_long


def read(source: Source) -> Iterator[Record]:
    """The one record of the file, or none if it is blank. Raises InputError if it is not UTF-8."""
    text = ""
    for piece in pieces(source):
        text += piece
        if len(text) > MAX_DOCUMENT_BYTES:
            raise too_long(source, 1)
    # Blank lines before the title are no title.
    lines = text.lstrip().splitlines(keepends=True)
    if lines:
        yield Record(
            source.name, {"id": path_id_of(source), "title": lines[0].strip(), "text": "".join(lines[1:])}
        )


def _sniff(head: bytes) -> bool:
    # Anything can be plain text: a table or a web page must not become one by a guess.
    return False


FORMAT = register(
    Format(
        name="text",
        description="plain text: a document a file, the first line its title, the path its id",
        suffixes=(".txt",),
        sniff=_sniff,
        read=read,
    )
)
