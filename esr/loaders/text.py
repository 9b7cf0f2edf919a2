"""Plain text: one document per file. A short first line is its title, its path the id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from esr.loaders.document_ids import make_id_from_path
from esr.loaders.encoding import MAX_DOCUMENT_BYTES, read_chunks, too_long_error
from esr.loaders.format import Record, Remark, Source, loads

MAX_TITLE_CHARS = 200


_SHOWN_LINES = 100
"""Number of lines that are examined to recognise a table."""


@loads(
    "text",
    "plain text: one document per file, a short first line its title, its path the id",
    suffixes=(".txt",),
    # Any file could be plain text, so it is never recognised by content.
    sniff=lambda head: False,
    is_text=True,
    has_no_signature=True,
)
def read(source: Source) -> Iterator[Record | Remark]:
    """The record of the file, or none if it is blank. Raises InputError if it is not UTF-8.

    The first line is the title if it is short and text follows it; otherwise it is part of the text.
    """
    text = ""
    for chunk in read_chunks(source):
        text += chunk
        if len(text) > MAX_DOCUMENT_BYTES:
            raise too_long_error(source, 1)
    # Blank lines before the title are ignored.
    lines = text.strip().splitlines(keepends=True)
    if lines:
        if _is_table(lines[:_SHOWN_LINES]):
            yield Remark(
                source.name,
                "have columns with tabs between them, read as prose (--format csv reads rows)",
                "files",
            )
        has_title = len(lines) > 1 and len(lines[0].strip()) <= MAX_TITLE_CHARS
        title = lines.pop(0).strip() if has_title else None
        yield Record(source.name, {"id": make_id_from_path(source), "title": title, "text": "".join(lines)})


def _is_table(lines: Sequence[str]) -> bool:
    """Whether lines have cells with tabs between them, as in the "Unicode text" of Excel."""
    tabs = {line.count("\t") for line in lines if line.strip()}
    return len(lines) > 1 and len(tabs) == 1 and tabs != {0}
