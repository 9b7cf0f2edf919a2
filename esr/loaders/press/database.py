"""What the exports of press databases have in common: articles with statements around their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from esr.plugin import (
    MAX_DOCUMENT_BYTES,
    Malformed,
    ReadResult,
    Record,
    Source,
    find_language,
    make_id_from_content,
    read_list,
    too_long_error,
)
from esr.plugin.provisional import compile_lazily

Lines = Sequence[str]


@dataclass(frozen=True)
class Database:
    """The export format of a database.

    `is_export` recognises an export by its beginning. `boundary` matches the last line of each article if
    `is_end`, or else the first line. `parse` converts the lines of an article to fields, or returns None if
    they are no article.
    """

    name: str
    is_export: Callable[[str], bool]
    boundary: re.Pattern[str]
    is_end: bool
    parse: Callable[[Lines], dict[str, Any] | None]

    def read_lines(self, name: str, lines: Iterable[str]) -> Iterator[ReadResult]:
        """A record per article in the paragraphs of the document `name`."""
        return self.split_articles(Source(name, name, BytesIO()), enumerate(lines, 1))

    def split_articles(self, source: Source, lines: Iterable[tuple[int, str]]) -> Iterator[ReadResult]:
        """A record per article in the numbered lines of a source."""
        for begin, article, is_complete in self._split(source, lines):
            fields = self.parse(article)
            if fields is None:
                continue
            where = f"{source.name}:{begin}"
            if not is_complete:
                yield Malformed(
                    where, "this article has no end: the file may be truncated, so export it again"
                )
            elif not fields.get("date") or not (fields.get("title") or fields.get("text")):
                problem = (
                    f"this article has no title and date where {self.name} has them: correct or remove it"
                )
                yield Malformed(where, problem)
            else:
                fields = {name: value for name, value in fields.items() if value}
                yield Record(where, {"id": make_id_from_content(fields), **fields})

    def _split(
        self, source: Source, lines: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[int, list[str], bool]]:
        """The articles: the number of the first line, the lines, and whether an article is complete."""
        begin = size = 0
        article: list[str] = []
        for number, line in lines:
            line = line.rstrip().replace("\xa0", " ")
            is_boundary = bool(self.boundary.fullmatch(line))
            if is_boundary and not self.is_end:
                yield begin, article, True
                article = []
            begin = begin if article else number
            article.append(line)
            size = size + len(line) if len(article) > 1 else len(line)
            if size > MAX_DOCUMENT_BYTES:
                raise too_long_error(source, begin)
            if is_boundary and self.is_end:
                yield begin, article, True
                article = []
        yield begin, article, not self.is_end


def join_lines(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())


def split_blocks(lines: Iterable[str]) -> list[str]:
    """The lines that blank lines separate, each block on one line."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [join_lines(block) for block in blocks if block]


def read_fields(lines: Iterable[str], pattern: re.Pattern[str], has_blanks: bool) -> dict[str, list[str]]:
    """The lines of each statement by its name in lower case. `pattern` matches a name and the text after it.

    A blank line ends a statement unless `has_blanks`.
    """
    fields: dict[str, list[str]] = {}
    name = None
    for line in lines:
        if match := pattern.match(line):
            name = match[1].lower()
            fields.setdefault(name, []).append(match[2])
        elif not line.strip() and not has_blanks:
            name = None
        elif name:
            fields[name].append(line)
    return fields


_KNOWN = frozenset(
    (
        *("headline", "highlight", "body", "hd", "pd", "sn", "lp", "td", "an", "title", "abstract"),
        *("full text", "publication date", "publication title", "proquest document id"),
    )
)
"""Statements that are parsed separately for each database."""
_SHARE = compile_lazily(r"\s*\(\d+%\)")


def build_fields(fields: dict[str, list[str]], names: dict[str, str]) -> dict[str, Any]:
    """The fields of a document. `names` maps statements to fields; all other statements are metadata."""
    texts = {field: join_lines(fields[name]) for name, field in names.items() if name in fields}
    language = texts.get("language") or ""
    others = {
        name: join_lines(lines) for name, lines in fields.items() if name not in names and name not in _KNOWN
    }
    return {
        "url": texts.get("url"),
        "section": texts.get("section"),
        "language": find_language(language) or (language.lower() if len(language) <= 3 else None),
        "authors": read_list("authors", texts.get("authors") or ""),
        "keywords": read_list("keywords", _SHARE.sub("", texts.get("keywords") or "")),
        "metadata": {name: value for name, value in others.items() if value},
    }
