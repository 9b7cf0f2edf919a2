"""Articles in exports of Factiva, with the codes of statements (HD, PD, SN) or without."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from esr.loaders.press.database import Database, Lines, build_fields, join_lines
from esr.plugin import find_language, make_id, read_list, to_iso_date
from esr.plugin.provisional import compile_lazily, markup

# An accession number has 25 characters, or fewer in a file that was cut off.
# The word before it is in the language of the user who exported it.
_ID = compile_lazily(r"(?:AN\s+)?[^\W\d_]{2,12} ((?=\w{25}\b)[A-Za-z0-9]{3,8}\d{8,16}[a-z][a-z0-9]{6,14})\s*")
_CODES = (
    *("SE", "HD", "CR", "BY", "WC", "PD", "ET", "SN", "SC", "ED", "PG", "VOL", "LA", "CY"),
    *("LP", "TD", "CT", "RF", "CO", "IN", "NS", "RE", "IPC", "IPD", "PUB", "AN"),
)
"""The codes of statements, in their order in an article."""
_FIELD = compile_lazily(rf"({'|'.join(_CODES)})(?:\s+(.*))?$")
_INDEXED = ("CO", "IN", "NS", "RE")
_LENGTH = (
    r"\d[\d,.' ]* ?(?:words|Wörter|mots|palabras|parole|palavras|woorden|kelime|słów|слов\w*|字|語|단어)"
)
_WORDS = compile_lazily(_LENGTH)
_RIGHTS = compile_lazily(r"©|\(c\)|Copyright\b", re.I)
_CLOCK = compile_lazily(r"\d{1,2}:\d\d(?: [AP]M)?|\d{1,2}:\d\d \w{2,4}")
_NAMES = {"by": "authors", "se": "section", "la": "language", "ns": "keywords"}


def _parse(lines: Lines) -> dict[str, Any] | None:
    """An article, with the codes of its statements (HD, PD, SN …) or without."""
    id = next((match[1] for line in lines[-1:] if (match := _ID.fullmatch(line))), None)
    if sum(bool(re.match(r"(?:HD|PD|SN)(?:\s|$)", line)) for line in lines) >= 2:
        fields = _parse_coded(lines)
    elif any(_WORDS.fullmatch(line.strip()) for line in lines):
        fields = _parse_uncoded([line.strip() for line in lines if not _ID.fullmatch(line)])
    else:
        return None
    return {"id": make_id(id), **fields} if id else fields


def _parse_coded(lines: Lines) -> dict[str, Any]:
    statements: dict[str, list[str]] = {}
    name = None
    left: tuple[str, ...] = _CODES
    for line in lines:
        match = _FIELD.match(line)
        # To not take a line of the text for a statement: each code occurs once, codes after the text are in
        # order, and lists of terms have colons.
        if match and match[1] in left and (match[1] not in _INDEXED or " : " in line or not match[2]):
            name = match[1].lower()
            is_text = match[1] in _CODES[_CODES.index("LP") :]
            left = tuple(
                code
                for n, code in enumerate(left)
                if code != match[1] and (not is_text or n > left.index(match[1]))
            )
            statements[name] = [match[2] or ""]
        elif name:
            statements[name].append(line)
    text = [*statements.get("lp", ()), "", *statements.get("td", ())]
    return {
        "title": join_lines(statements.get("hd", ())),
        "date": to_iso_date(join_lines(statements.get("pd", ()))),
        "source": join_lines(statements.get("sn", ())),
        **build_fields(statements, _NAMES),
        "text": "\n".join(text).strip(),
    }


def _parse_uncoded(lines: Lines) -> dict[str, Any]:
    """The fields of an article without codes.

    Its lines are the title, perhaps a byline, "523 words", the date, perhaps a time, the source, and others
    up to ©.
    """
    words = next(n for n, line in enumerate(lines) if _WORDS.fullmatch(line))
    head = [line for line in lines[:words] if line]
    byline = head.pop() if len(head) > 1 and re.match(r"(?:By|Von|Par|Por)\b", head[-1]) else ""
    rest = [(n, line) for n, line in enumerate(lines) if n > words and line and not _CLOCK.fullmatch(line)]
    if len(rest) < 2:
        return {"title": join_lines(head[-1:])}
    rights = next((n for n, line in rest[:12] if _RIGHTS.match(line)), None)
    languages = [line for n, line in rest[2:10] if find_language(line) and (rights is None or n < rights)]
    begin = rest[min(3, len(rest) - 1)][0] if rights is None else rights + 1
    return {
        "title": join_lines(head[-1:]),
        "date": to_iso_date(rest[0][1]),
        "source": rest[1][1],
        "authors": read_list("authors", byline),
        "language": find_language(languages[0]) if languages else None,
        "text": "\n".join(lines[begin:]).strip(),
    }


def mark_articles(tree: Any) -> Iterator[str]:
    """The lines of the articles in a page without codes, with codes added by the kinds of elements."""
    for article in tree.iter("div"):
        language = re.fullmatch(r"article ([a-z]{2})Article", article.get("class", ""))
        title = next((e for e in article.iter("span") if e.get("class", "").endswith("Headline")), None)
        if language is None or title is None:
            continue
        byline = next((e for e in article.iter("div") if e.get("class") == "author"), None)
        lines = markup.to_text(article).split("\n\n")
        words = next((n for n, line in enumerate(lines) if _WORDS.fullmatch(line)), None)
        if words is None or len(lines) < words + 4:
            yield from lines
            continue
        headline = markup.to_line(title)
        section = lines[: lines.index(headline)] if headline in lines[:words] else []
        header = [line for line in lines[words + 1 : words + 4] if not _CLOCK.fullmatch(line)]
        rights = (n + 1 for n, line in enumerate(lines[: words + 12]) if n > words and _RIGHTS.match(line))
        text = lines[next(rights, words + 3) : -2]
        yield from (
            f"SE {join_lines(section)}",
            f"HD {headline}",
            f"BY {markup.to_line(byline)}",
            f"PD {header[0]}",
        )
        yield from (
            f"SN {header[1]}",
            f"LA {language[1]}",
            "TD",
            *separate_paragraphs(text),
            f"PUB {lines[-2]}",
        )
        yield f"AN {lines[-1]}"


def separate_paragraphs(paragraphs: Iterable[str]) -> Iterator[str]:
    """The paragraphs with blank lines between them."""
    for paragraph in paragraphs:
        yield from (paragraph, "")


_CODED = compile_lazily(r"^HD\s.*\n(?:.*\n){0,40}?PD\s", re.M)
_UNCODED = compile_lazily(rf"^{_LENGTH}\s*\n+.{{0,20}}\b\d{{1,4}}\b.{{0,30}}\n", re.M)
EXPORT = Database(
    name="Factiva",
    is_export=lambda head: bool(_CODED.search(head) or _UNCODED.search(head)),
    boundary=_ID,
    is_end=True,
    parse=_parse,
)
