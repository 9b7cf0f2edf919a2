"""Articles in exports of LexisNexis: the classic layout, and that of Nexis Uni and Lexis+."""

from __future__ import annotations

import re
from typing import Any

from esr.loaders.press.database import Database, Lines, build_fields, join_lines, read_fields, split_blocks
from esr.plugin import to_iso_date
from esr.plugin.provisional import compile_lazily

_AFTER_NAMES = (
    r"URL|SUBJECT|LOAD-DATE|LANGUAGE|GRAPHIC|COMPANY|PUBLICATION-TYPE|JOURNAL-CODE|GEOGRAPHIC|PERSON|TICKER"
    r"|ORGANIZATION|INDUSTRY|CITY|STATE|COUNTRY|DOCUMENT-TYPE|CORRECTION|SERIES|ACC-NO"
    # in French, German, Spanish and Dutch
    r"|SUJET|DATE-CHARGEMENT|LANGUE|TYPE-PUBLICATION|LOCALISATION-GEO|SOCIETE|SOCIÉTÉ|PERSONNE|VILLE|PAYS"
    r"|UPDATE|SPRACHE|GRAFIK|THEMA|FECHA-CARGA|IDIOMA|TEMA|TIPO-PUBLICACIÓN|TAAL|ONDERWERP|LAADDATUM"
)
_STATEMENT = (
    r"(BYLINE|SECTION|LENGTH|DATELINE|HIGHLIGHT|ENCART|HEADLINE|BODY|DISTRIBUTION|TYPE"
    r"|AUTEUR|RUBRIQUE|LONGUEUR|AUTOR|RUBRIK|LÄNGE|SECCIÓN|LONGITUD|SECTIE|LENGTE"
    rf"|{_AFTER_NAMES}):\s*(.*)"
)
_FIELD = compile_lazily(_STATEMENT)
_FIELD_IN_ANY_CASE = compile_lazily(_STATEMENT, re.I)
_STATEMENTS = compile_lazily(rf"Copyright |©|{_STATEMENT}", re.I)
_NAMES = {
    **dict.fromkeys(("byline", "auteur", "autor"), "authors"),
    **dict.fromkeys(("section", "rubrique", "rubrik", "sección", "sectie"), "section"),
    **dict.fromkeys(("language", "langue", "sprache", "idioma", "taal"), "language"),
    **dict.fromkeys(("subject", "sujet", "thema", "tema", "onderwerp"), "keywords"),
    "url": "url",
}
_LOADED = ("load-date", "date-chargement", "update", "fecha-carga", "laaddatum")
"""Statements with the day on which the database received an article, the date of articles without one."""
_AFTER = compile_lazily(
    rf"(?:{_AFTER_NAMES}):|Classification$|\s{{3,}}Copyright |Copyright \d{{4}} .*\bReserved\b"
    r"|(?:Load-Date|End of Document)\b"
)
_DOCUMENT = compile_lazily(r"\s*(?:Document )?\d+ (?:of|de|von|van) \d+ DOCUMENT(?:[SO]|OS|E|EN)?\s*", re.I)
_REMARK = "Correction Appended"
_RIGHTS = compile_lazily(r"Copyright |(?:Distributed|Provided) by |All Rights Reserved")
"""The beginnings of paragraphs that name the holder of rights instead of the source."""


def _parse_classic(lines: Lines) -> dict[str, Any] | None:
    """An article headed "1 of 20 DOCUMENTS": source, date and title, then statements around the text."""
    if not lines or not _DOCUMENT.fullmatch(lines[0]):
        return None
    first = next((n for n, line in enumerate(lines) if _FIELD.match(line)), len(lines))
    blocks = [block for block in split_blocks(lines[1:first]) if block != _REMARK]
    head = [block for block in blocks if not _RIGHTS.match(block)]
    at = next((n for n, block in enumerate(head) if to_iso_date(block)), None)
    text = _extract_text(lines, first)
    fields = read_fields(lines, _FIELD, has_blanks=False)
    before = head[:1] if at is None else head[:at][-1:]
    after = head[1:] if at is None else head[at + 1 :]
    return {
        "title": join_lines(fields.get("headline", after[-1:])),
        "date": _find_loaded(fields) if at is None else to_iso_date(head[at]),
        "source": join_lines(before) or _find_source_below_rights(lines[1:first]),
        **build_fields(fields, _NAMES),
        "text": text,
    }


RESERVED = compile_lazily(r"\s*All Rights Reserved\b[.\s]*", re.I)


def _find_source_below_rights(lines: Lines) -> str:
    """The source in the copyright paragraph: the text after "All Rights Reserved", or the last line."""
    stripped = [line.strip() for line in lines]
    begin = next((n for n, line in enumerate(stripped) if line.startswith("Copyright ")), len(stripped))
    end = stripped.index("", begin) if "" in stripped[begin:] else len(stripped)
    _, *after = RESERVED.split(join_lines(stripped[begin:end]), maxsplit=1)
    return after[0] if after else join_lines(stripped[begin + 1 : end][-1:])


def _find_loaded(fields: dict[str, list[str]]) -> str | None:
    return next((to_iso_date(join_lines(fields[name])) for name in _LOADED if name in fields), None)


def _extract_text(lines: Lines, begin: int) -> str:
    """The paragraphs between the statements before the text and those after it."""
    blocks: list[list[str]] = [[]]
    for line in lines[begin:]:
        if not line.strip():
            blocks.append([])
        elif _AFTER.match(line) and (any(map(_is_text, blocks)) or line.startswith("Copyright")):
            break
        else:
            blocks[-1].append(line)
    return "\n\n".join("\n".join(_without_name(block)) for block in blocks if _is_text(block))


_TEXTS = ("BODY:", "HIGHLIGHT:", "ENCART:")


def _is_text(block: list[str]) -> bool:
    return bool(block) and (not _FIELD.match(block[0]) or block[0].startswith(_TEXTS))


def _without_name(block: list[str]) -> list[str]:
    first = block[0].split(":", 1)[1] if block[0].startswith(_TEXTS) else block[0]
    return [line for line in (first, *block[1:]) if line.strip()]


def _parse_nexis(lines: Lines) -> dict[str, Any] | None:
    """An article ended by "End of Document": title, source, date, statements, "Body" and the text."""
    stripped = [line.strip() for line in lines]
    if "Body" not in stripped:
        return None
    body = stripped.index("Body")
    head = [line for line in stripped[:body] if line and line != _REMARK]
    # A page with a list of the articles may precede the first one.
    first = next((n for n, line in enumerate(head) if _STATEMENTS.match(line)), len(head))
    if first < 2:
        return {}
    dates = (n for n in range(first - 1, 1, -1) if len(head[n]) < 60 and to_iso_date(head[n]))
    at = next(dates, None)
    after = (n for n, line in enumerate(stripped) if n > body and _AFTER.match(line))
    end = next(after, len(lines))
    text = [line for line in stripped[body + 1 : end] if line]
    statements = (part for line in (*head, *stripped[end:]) for part in (line, ""))
    fields = read_fields(statements, _FIELD_IN_ANY_CASE, has_blanks=False)
    title, source = head[:2] if at is None and first < 4 else head[(at or first) - 2 :][:2]
    return {
        "title": title,
        "date": _find_loaded(fields) if at is None else to_iso_date(head[at]),
        "source": source,
        **build_fields(fields, _NAMES),
        "text": "\n\n".join(text),
    }


_HEAD = compile_lazily(
    r"^\s*(?:Copyright|©).{4,}\n(?:.*\n){0,12}?(?:Section|Length|Byline):(?:.*\n){1,8}?\s*Body\s*$", re.M
)

NEXIS = Database(
    name="LexisNexis",
    is_export=lambda head: bool(_HEAD.search(head)),
    boundary=compile_lazily(r"\s*End of Document\s*"),
    is_end=True,
    parse=_parse_nexis,
)
CLASSIC = Database(
    name="LexisNexis",
    is_export=lambda head: any(map(_DOCUMENT.fullmatch, head.splitlines())),
    boundary=_DOCUMENT,
    is_end=False,
    parse=_parse_classic,
)
