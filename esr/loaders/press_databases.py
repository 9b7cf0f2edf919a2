"""Exports of the press databases LexisNexis, Factiva and ProQuest as text: one document per article.

Each database has a layout for an article's title, source, date and other statements around the text. Exports
as DOCX and HTML are read by `esr.loaders.office` and `esr.loaders.page`, which find the database here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, islice
from typing import Any

from esr.loaders import markup
from esr.loaders.encoding import MAX_DOCUMENT_BYTES, read_lines, too_long_error
from esr.loaders.fields import read_list
from esr.loaders.format import Format, Malformed, ReadResult, Record, Source, register
from esr.loaders.ids import make_id, make_requested_id
from esr.stdlib import compile_lazily
from esr.text.languages import find_language
from esr.text.written_dates import to_iso_date

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
                yield Record(where, {"id": make_requested_id("content", fields, source, 0), **fields})

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


def _fold(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())


def _blocks(lines: Iterable[str]) -> list[str]:
    """The lines that blank lines separate, each block on one line."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [_fold(block) for block in blocks if block]


def _read_fields(lines: Iterable[str], pattern: re.Pattern[str], has_blanks: bool) -> dict[str, list[str]]:
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


def _describe(fields: dict[str, list[str]], names: dict[str, str]) -> dict[str, Any]:
    """The fields of a document. `names` maps statements to fields; all other statements are metadata."""
    texts = {field: _fold(fields[name]) for name, field in names.items() if name in fields}
    language = texts.get("language") or ""
    others = {
        name: _fold(lines) for name, lines in fields.items() if name not in names and name not in _KNOWN
    }
    return {
        "url": texts.get("url"),
        "section": texts.get("section"),
        "language": find_language(language) or (language.lower() if len(language) <= 3 else None),
        "authors": read_list("authors", texts.get("authors") or ""),
        "keywords": read_list("keywords", _SHARE.sub("", texts.get("keywords") or "")),
        "metadata": {name: value for name, value in others.items() if value},
    }


# LexisNexis

_LEXIS_AFTER_NAMES = (
    r"URL|SUBJECT|LOAD-DATE|LANGUAGE|GRAPHIC|COMPANY|PUBLICATION-TYPE|JOURNAL-CODE|GEOGRAPHIC|PERSON|TICKER"
    r"|ORGANIZATION|INDUSTRY|CITY|STATE|COUNTRY|DOCUMENT-TYPE|CORRECTION|SERIES|ACC-NO"
    # in French, German, Spanish and Dutch
    r"|SUJET|DATE-CHARGEMENT|LANGUE|TYPE-PUBLICATION|LOCALISATION-GEO|SOCIETE|SOCIÉTÉ|PERSONNE|VILLE|PAYS"
    r"|UPDATE|SPRACHE|GRAFIK|THEMA|FECHA-CARGA|IDIOMA|TEMA|TIPO-PUBLICACIÓN|TAAL|ONDERWERP|LAADDATUM"
)
_LEXIS_STATEMENT = (
    r"(BYLINE|SECTION|LENGTH|DATELINE|HIGHLIGHT|ENCART|HEADLINE|BODY|DISTRIBUTION|TYPE"
    r"|AUTEUR|RUBRIQUE|LONGUEUR|AUTOR|RUBRIK|LÄNGE|SECCIÓN|LONGITUD|SECTIE|LENGTE"
    rf"|{_LEXIS_AFTER_NAMES}):\s*(.*)"
)
_LEXIS_FIELD = compile_lazily(_LEXIS_STATEMENT)
_LEXIS_FIELD_IN_ANY_CASE = compile_lazily(_LEXIS_STATEMENT, re.I)
_LEXIS_STATEMENTS = compile_lazily(rf"Copyright |©|{_LEXIS_STATEMENT}", re.I)
_LEXIS_NAMES = {
    **dict.fromkeys(("byline", "auteur", "autor"), "authors"),
    **dict.fromkeys(("section", "rubrique", "rubrik", "sección", "sectie"), "section"),
    **dict.fromkeys(("language", "langue", "sprache", "idioma", "taal"), "language"),
    **dict.fromkeys(("subject", "sujet", "thema", "tema", "onderwerp"), "keywords"),
    "url": "url",
}
_LEXIS_LOADED = ("load-date", "date-chargement", "update", "fecha-carga", "laaddatum")
"""Statements with the day on which the database received an article, the date of articles without one."""
_LEXIS_AFTER = compile_lazily(
    rf"(?:{_LEXIS_AFTER_NAMES}):|Classification$|\s{{3,}}Copyright |Copyright \d{{4}} .*\bReserved\b"
    r"|(?:Load-Date|End of Document)\b"
)
_LEXIS_DOCUMENT = compile_lazily(
    r"\s*(?:Document )?\d+ (?:of|de|von|van) \d+ DOCUMENT(?:[SO]|OS|E|EN)?\s*", re.I
)
_LEXIS_REMARK = "Correction Appended"
_LEXIS_RIGHTS = compile_lazily(r"Copyright |(?:Distributed|Provided) by |All Rights Reserved")
"""The beginnings of paragraphs that name the holder of rights instead of the source."""


def _parse_lexis_classic(lines: Lines) -> dict[str, Any] | None:
    """An article headed "1 of 20 DOCUMENTS": source, date and title, then statements around the text."""
    if not lines or not _LEXIS_DOCUMENT.fullmatch(lines[0]):
        return None
    first = next((n for n, line in enumerate(lines) if _LEXIS_FIELD.match(line)), len(lines))
    blocks = [block for block in _blocks(lines[1:first]) if block != _LEXIS_REMARK]
    head = [block for block in blocks if not _LEXIS_RIGHTS.match(block)]
    at = next((n for n, block in enumerate(head) if to_iso_date(block)), None)
    text = _text_of_lexis(lines, first)
    fields = _read_fields(lines, _LEXIS_FIELD, has_blanks=False)
    before = head[:1] if at is None else head[:at][-1:]
    after = head[1:] if at is None else head[at + 1 :]
    return {
        "title": _fold(fields.get("headline", after[-1:])),
        "date": _find_loaded(fields) if at is None else to_iso_date(head[at]),
        "source": _fold(before) or _find_source_below_rights(lines[1:first]),
        **_describe(fields, _LEXIS_NAMES),
        "text": text,
    }


_RESERVED = compile_lazily(r"\s*All Rights Reserved\b[.\s]*", re.I)


def _find_source_below_rights(lines: Lines) -> str:
    """The source in the copyright paragraph: the text after "All Rights Reserved", or the last line."""
    stripped = [line.strip() for line in lines]
    begin = next((n for n, line in enumerate(stripped) if line.startswith("Copyright ")), len(stripped))
    end = stripped.index("", begin) if "" in stripped[begin:] else len(stripped)
    _, *after = _RESERVED.split(_fold(stripped[begin:end]), maxsplit=1)
    return after[0] if after else _fold(stripped[begin + 1 : end][-1:])


def _find_loaded(fields: dict[str, list[str]]) -> str | None:
    return next((to_iso_date(_fold(fields[name])) for name in _LEXIS_LOADED if name in fields), None)


def _text_of_lexis(lines: Lines, begin: int) -> str:
    """The paragraphs between the statements before the text and those after it."""
    blocks: list[list[str]] = [[]]
    for line in lines[begin:]:
        if not line.strip():
            blocks.append([])
        elif _LEXIS_AFTER.match(line) and (any(map(_is_text, blocks)) or line.startswith("Copyright")):
            break
        else:
            blocks[-1].append(line)
    return "\n\n".join("\n".join(_without_name(block)) for block in blocks if _is_text(block))


_TEXTS = ("BODY:", "HIGHLIGHT:", "ENCART:")


def _is_text(block: list[str]) -> bool:
    return bool(block) and (not _LEXIS_FIELD.match(block[0]) or block[0].startswith(_TEXTS))


def _without_name(block: list[str]) -> list[str]:
    first = block[0].split(":", 1)[1] if block[0].startswith(_TEXTS) else block[0]
    return [line for line in (first, *block[1:]) if line.strip()]


def _parse_lexis(lines: Lines) -> dict[str, Any] | None:
    """An article ended by "End of Document": title, source, date, statements, "Body" and the text."""
    stripped = [line.strip() for line in lines]
    if "Body" not in stripped:
        return None
    body = stripped.index("Body")
    head = [line for line in stripped[:body] if line and line != _LEXIS_REMARK]
    # A page with a list of the articles may precede the first one.
    first = next((n for n, line in enumerate(head) if _LEXIS_STATEMENTS.match(line)), len(head))
    if first < 2:
        return {}
    dates = (n for n in range(first - 1, 1, -1) if len(head[n]) < 60 and to_iso_date(head[n]))
    at = next(dates, None)
    after = (n for n, line in enumerate(stripped) if n > body and _LEXIS_AFTER.match(line))
    end = next(after, len(lines))
    text = [line for line in stripped[body + 1 : end] if line]
    statements = (part for line in (*head, *stripped[end:]) for part in (line, ""))
    fields = _read_fields(statements, _LEXIS_FIELD_IN_ANY_CASE, has_blanks=False)
    title, source = head[:2] if at is None and first < 4 else head[(at or first) - 2 :][:2]
    return {
        "title": title,
        "date": _find_loaded(fields) if at is None else to_iso_date(head[at]),
        "source": source,
        **_describe(fields, _LEXIS_NAMES),
        "text": "\n\n".join(text),
    }


# Factiva

# An accession number has 25 characters, or fewer in a file that was cut off.
# The word before it is in the language of the user who exported it.
_FACTIVA_ID = compile_lazily(
    r"(?:AN\s+)?[^\W\d_]{2,12} ((?=\w{25}\b)[A-Za-z0-9]{3,8}\d{8,16}[a-z][a-z0-9]{6,14})\s*"
)
_FACTIVA_CODES = (
    *("SE", "HD", "CR", "BY", "WC", "PD", "ET", "SN", "SC", "ED", "PG", "VOL", "LA", "CY"),
    *("LP", "TD", "CT", "RF", "CO", "IN", "NS", "RE", "IPC", "IPD", "PUB", "AN"),
)
"""The codes of statements, in their order in an article."""
_FACTIVA_FIELD = compile_lazily(rf"({'|'.join(_FACTIVA_CODES)})(?:\s+(.*))?$")
_INDEXED = ("CO", "IN", "NS", "RE")
_LENGTH = (
    r"\d[\d,.' ]* ?(?:words|Wörter|mots|palabras|parole|palavras|woorden|kelime|słów|слов\w*|字|語|단어)"
)
_WORDS = compile_lazily(_LENGTH)
_RIGHTS = compile_lazily(r"©|\(c\)|Copyright\b", re.I)
_CLOCK = compile_lazily(r"\d{1,2}:\d\d(?: [AP]M)?|\d{1,2}:\d\d \w{2,4}")
_FACTIVA_NAMES = {"by": "authors", "se": "section", "la": "language", "ns": "keywords"}


def _parse_factiva(lines: Lines) -> dict[str, Any] | None:
    """An article, with the codes of its statements (HD, PD, SN …) or without."""
    id = next((match[1] for line in lines[-1:] if (match := _FACTIVA_ID.fullmatch(line))), None)
    if sum(bool(re.match(r"(?:HD|PD|SN)(?:\s|$)", line)) for line in lines) >= 2:
        fields = _parse_coded(lines)
    elif any(_WORDS.fullmatch(line.strip()) for line in lines):
        fields = _parse_uncoded([line.strip() for line in lines if not _FACTIVA_ID.fullmatch(line)])
    else:
        return None
    return {"id": make_id(id), **fields} if id else fields


def _parse_coded(lines: Lines) -> dict[str, Any]:
    statements: dict[str, list[str]] = {}
    name = None
    left: tuple[str, ...] = _FACTIVA_CODES
    for line in lines:
        match = _FACTIVA_FIELD.match(line)
        # To not take a line of the text for a statement: each code occurs once, codes after the text are in
        # order, and lists of terms have colons.
        if match and match[1] in left and (match[1] not in _INDEXED or " : " in line or not match[2]):
            name = match[1].lower()
            is_text = match[1] in _FACTIVA_CODES[_FACTIVA_CODES.index("LP") :]
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
        "title": _fold(statements.get("hd", ())),
        "date": to_iso_date(_fold(statements.get("pd", ()))),
        "source": _fold(statements.get("sn", ())),
        **_describe(statements, _FACTIVA_NAMES),
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
        return {"title": _fold(head[-1:])}
    rights = next((n for n, line in rest[:12] if _RIGHTS.match(line)), None)
    languages = [line for n, line in rest[2:10] if find_language(line) and (rights is None or n < rights)]
    begin = rest[min(3, len(rest) - 1)][0] if rights is None else rights + 1
    return {
        "title": _fold(head[-1:]),
        "date": to_iso_date(rest[0][1]),
        "source": rest[1][1],
        "authors": read_list("authors", byline),
        "language": find_language(languages[0]) if languages else None,
        "text": "\n".join(lines[begin:]).strip(),
    }


def _mark_articles(tree: Any) -> Iterator[str]:
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
        said = [line for line in lines[words + 1 : words + 4] if not _CLOCK.fullmatch(line)]
        rights = (n + 1 for n, line in enumerate(lines[: words + 12]) if n > words and _RIGHTS.match(line))
        text = lines[next(rights, words + 3) : -2]
        yield from (f"SE {_fold(section)}", f"HD {headline}", f"BY {markup.to_line(byline)}", f"PD {said[0]}")
        yield from (f"SN {said[1]}", f"LA {language[1]}", "TD", *_separate(text), f"PUB {lines[-2]}")
        yield f"AN {lines[-1]}"


def _mark_proquest(tree: Any) -> None:
    """Replace the named anchor before each article of ProQuest by a rule, as exports as text have it."""
    for anchor in tree.iter("a"):
        if anchor.get("name", "").startswith("DocID_"):
            anchor.tag, anchor.text = "p", "_" * 40


def _separate(paragraphs: Iterable[str]) -> Iterator[str]:
    """The paragraphs with blank lines between them."""
    for paragraph in paragraphs:
        yield from (paragraph, "")


# ProQuest

_PROQUEST_FIELD = compile_lazily(
    r"(Abstract|Access|Accession number|Author|Business indexing term|Company ?/ ?organization|Copyright"
    r"|Country of publication|Credit"
    r"|Database|Document feature|Document type|Document URL|DOI|[Ee]dition|First page|Full text"
    r"|Identifiers? / keyword|ISBN|ISSN|Issue|Language of publication|Language|Last updated|Links|Location"
    r"|Number of pages|Pages?"
    r"|People|Person|Place of publication|ProQuest document ID|Publication (?:date|info|subject|title|year)"
    r"|Publisher|Section|Source type|Subject|Title|Volume|Year):\s*(.*)"
)
_PROQUEST_NAMES = {
    "author": "authors",
    "section": "section",
    "language of publication": "language",
    "subject": "keywords",
    "document url": "url",
}


def _parse_proquest(lines: Lines) -> dict[str, Any] | None:
    """An article of statements after their names, including "Full text"."""
    statements = _read_fields(lines, _PROQUEST_FIELD, has_blanks=True)
    if "proquest document id" not in statements and "full text" not in statements:
        return None
    title = _fold(statements.get("title", ()))
    first = (
        line.strip() for line in lines if line.strip(" _") and not re.match(r"\s*Document \d+ of \d+", line)
    )
    text = statements.get("full text") or statements.get("abstract") or ()
    id = next(iter(re.findall(r"\d+", _fold(statements.get("proquest document id", ())))), "")
    said = (
        statements[name]
        for name in ("publication date", "publication info", "last updated")
        if name in statements
    )
    source = _fold(statements.get("publication title", ()))
    return {
        **({"id": make_id(f"proquest-{id}")} if id else {}),
        "title": title or next(first, ""),
        "date": next(filter(None, (to_iso_date(_fold(lines)) for lines in said)), None),
        "source": re.split(r"\s*;", source)[0],
        **_describe(statements, _PROQUEST_NAMES),
        "text": "\n".join(text).strip(),
    }


_UNI = compile_lazily(
    r"^\s*(?:Copyright|©).{4,}\n(?:.*\n){0,12}?(?:Section|Length|Byline):(?:.*\n){1,8}?\s*Body\s*$", re.M
)
_CODED = compile_lazily(r"^HD\s.*\n(?:.*\n){0,40}?PD\s", re.M)
_UNCODED = compile_lazily(rf"^{_LENGTH}\s*\n+.{{0,20}}\b\d{{1,4}}\b.{{0,30}}\n", re.M)
_PROQUEST = compile_lazily(
    r"^_{20,}\s*\n(?:.*\n){1,40}?(?:Full text|Publication info|Publication title|Author): ", re.M
)

_NEXIS = Database(
    name="LexisNexis",
    is_export=lambda head: bool(_UNI.search(head)),
    boundary=compile_lazily(r"\s*End of Document\s*"),
    is_end=True,
    parse=_parse_lexis,
)
DATABASES = (
    Database(
        name="LexisNexis",
        is_export=lambda head: any(map(_LEXIS_DOCUMENT.fullmatch, head.splitlines())),
        boundary=_LEXIS_DOCUMENT,
        is_end=False,
        parse=_parse_lexis_classic,
    ),
    _NEXIS,
    Database(
        name="Factiva",
        is_export=lambda head: bool(_CODED.search(head) or _UNCODED.search(head)),
        boundary=_FACTIVA_ID,
        is_end=True,
        parse=_parse_factiva,
    ),
    Database(
        name="ProQuest",
        is_export=lambda head: bool(_PROQUEST.search(head)),
        boundary=compile_lazily(r"\s*_{20,}\s*"),
        is_end=False,
        parse=_parse_proquest,
    ),
)
_HEAD_LINES = 100


def find_database(lines: Lines) -> Database | None:
    """The database that exported a document with these paragraphs, or None."""
    head = "\n".join(lines[:_HEAD_LINES])
    if {"Body", "End of Document"} <= set(lines):
        return _NEXIS
    return next((database for database in DATABASES if database.is_export(head)), None)


_RULE = compile_lazily(r"\s*_{20,}\s*")


def find_export(lines: Lines) -> Database | None:
    """The database whose export a mail or page is, also below a greeting and a list of contents, or None."""
    first_rule = next((n for n, line in enumerate(lines) if _RULE.fullmatch(line)), 0)
    return find_database(lines) or find_database(lines[first_rule:])


_PAGE = compile_lazily(
    rb"\bFactiva\b|\d (?:of|de|von|van) \d+ DOCUMENT|\bEnd of Document\b|ProQuest document ID", re.I
)


def read_page(source: Source, data: bytes, parse: Callable[[bytes], Any]) -> Iterator[ReadResult] | None:
    """The records of the articles in an HTML export of a database; None for any other page.

    `parse` converts the page to a tree.
    """
    if not _PAGE.search(data):
        return None
    tree = parse(data)
    for paragraph in tree.iter("p"):
        text = paragraph.text_content().strip()
        if text.startswith("Copyright ") and not _RESERVED.search(text):
            for line_end in paragraph.iter("br"):
                line_end.tag = "hr"  # the source follows the copyright in the same paragraph
    _mark_proquest(tree)
    lines = list(_mark_articles(tree)) or list(_separate(markup.to_text(tree).split("\n\n")))
    database = find_export(lines)
    return database.read_lines(source.name, lines) if database else None


def _register(label: str) -> None:
    own = [database for database in DATABASES if database.name == label]

    def find(head: str) -> Database | None:
        return next((database for database in own if database.is_export(head)), None)

    def read(source: Source) -> Iterator[ReadResult]:
        """A record per article."""
        lines = read_lines(source)
        head = list(islice(lines, _HEAD_LINES))
        database = find("".join(line for _, line in head).replace("\r\n", "\n")) or own[-1]
        yield from database.split_articles(source, chain(head, lines))

    register(
        Format(
            name=label.lower(),
            description=f"{label}: the articles of an export as text",
            suffixes=(),
            sniff=lambda head: find("\n".join(head.decode("utf-8", "replace").splitlines())) is not None,
            read=read,
            is_text=True,
        )
    )


for _label in ("LexisNexis", "Factiva", "ProQuest"):
    _register(_label)
