"""Exports of the press databases LexisNexis, Factiva and ProQuest: one document per article.

The formats read exports as text. The refinement recognises exports as pages, mails and office documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

from esr.loaders.press import factiva, lexisnexis, proquest
from esr.loaders.press.database import Database, Lines
from esr.loaders.press.factiva import separate_paragraphs
from esr.plugin import Format, ReadResult, Refinement, Source
from esr.plugin import read_lines as read_source_lines
from esr.plugin.provisional import compile_lazily, markup

DATABASES = (lexisnexis.CLASSIC, lexisnexis.NEXIS, factiva.EXPORT, proquest.EXPORT)
_HEAD_LINES = 100


def find_database(lines: Lines) -> Database | None:
    """The database that exported a document with these paragraphs, or None."""
    head = "\n".join(lines[:_HEAD_LINES])
    if {"Body", "End of Document"} <= set(lines):
        return lexisnexis.NEXIS
    return next((database for database in DATABASES if database.is_export(head)), None)


_RULE = compile_lazily(r"\s*_{20,}\s*")


def find_export(lines: Lines) -> Database | None:
    """The database whose export a mail or page is, also below a greeting and a list of contents, or None."""
    first_rule = next((n for n, line in enumerate(lines) if _RULE.fullmatch(line)), 0)
    return find_database(lines) or find_database(lines[first_rule:])


_PAGE = compile_lazily(
    rb"\bFactiva\b|\d (?:of|de|von|van) \d+ DOCUMENT|\bEnd of Document\b|ProQuest document ID", re.I
)


def read_lines(name: str, lines: Lines) -> Iterator[ReadResult] | None:
    """The records of the articles in an export as text; None for any other text."""
    database = find_export(lines)
    return database.read_lines(name, lines) if database else None


def read_page(name: str, data: bytes, parse: Callable[[], Any]) -> Iterator[ReadResult] | None:
    """The records of the articles in an HTML export of a database; None for any other page."""
    if not _PAGE.search(data):
        return None
    tree = parse()
    for paragraph in tree.iter("p"):
        text = paragraph.text_content().strip()
        if text.startswith("Copyright ") and not lexisnexis.RESERVED.search(text):
            for line_end in paragraph.iter("br"):
                line_end.tag = "hr"  # the source follows the copyright in the same paragraph
    proquest.mark_articles(tree)
    lines = list(factiva.mark_articles(tree)) or separate_paragraphs(markup.to_text(tree).split("\n\n"))
    return read_lines(name, list(lines))


def _read(label: str, source: Source) -> Iterator[ReadResult]:
    """A record per article."""
    lines = read_source_lines(source)
    head = list(islice(lines, _HEAD_LINES))
    database = _find(label, "".join(line for _, line in head).replace("\r\n", "\n"))
    yield from (database or _NAMED[label][-1]).split_articles(source, chain(head, lines))


def _sniff(label: str, head: bytes) -> bool:
    return _find(label, "\n".join(head.decode("utf-8", "replace").splitlines())) is not None


def _find(label: str, head: str) -> Database | None:
    """The layout of a database that an export with this beginning has, or None."""
    return next((database for database in _NAMED[label] if database.is_export(head)), None)


_NAMED = {
    label: [database for database in DATABASES if database.name == label]
    for label in ("LexisNexis", "Factiva", "ProQuest")
}


def _build_format(label: str) -> Format:
    return Format(
        name=label.lower(),
        description=f"{label}: the articles of an export as text",
        suffixes=(),
        sniff=partial(_sniff, label),
        read=partial(_read, label),
        is_text=True,
    )


LEXISNEXIS, FACTIVA, PROQUEST = map(_build_format, _NAMED)
DATABASE_EXPORTS = Refinement(name="databases", read_page=read_page, read_lines=read_lines)
