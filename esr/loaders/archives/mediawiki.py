"""Dumps of MediaWiki, such as Wikinews and Wikipedia, read by mwparserfromhell: one document per article."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

from esr.plugin import (
    Format,
    Malformed,
    ReadResult,
    Record,
    Skipped,
    Source,
    make_id,
    to_iso_date,
    to_one_line,
)
from esr.plugin.provisional import compile_lazily, import_lazily, markup

if TYPE_CHECKING:
    import mwparserfromhell
else:
    mwparserfromhell = import_lazily("mwparserfromhell")

_START = re.compile(rb"<mediawiki[\s>]")
_MAX_TEXT = 4 * 2**20
"""Maximum characters of a text. Longer ones are lists, and parsing them would take minutes."""
_FILE, _CATEGORY = 6, 14  # the numbers of these namespaces in every wiki
_CANONICAL = {_FILE: {"file", "image"}, _CATEGORY: {"category"}}
# In dumps of old versions, only the prefix of a page shows its namespace.
_OTHERS = frozenset(
    ("talk", "user", "project", "mediawiki", "template", "help", "special", "media", "portal")
)


def read(source: Source) -> Iterator[ReadResult]:
    """A record per article in its last revision. Raises InputError where the XML is broken.

    Redirects, and pages of other namespaces such as discussions, are skipped.
    """
    site: dict[str, str] = {}
    spaces = {number: set(names) for number, names in _CANONICAL.items()}
    for element in markup.iterate_elements(source, frozenset({"siteinfo", "page"})):
        where = f"{source.name}:{element.sourceline}"
        if markup.local_name(element) == "siteinfo":
            site = {markup.local_name(child): markup.to_line(child) for child in element}
            site["language"] = markup.attribute(element.getparent(), markup.LANGUAGE)
            for space in markup.find_all(element, "namespace"):
                key = int(space.get("key")) if re.fullmatch(r"-?\d{1,5}", space.get("key", "")) else 0
                if key and space.text:
                    spaces.setdefault(key, set()).add(space.text.lower())
        else:
            yield _read_page(where, element, site, spaces)


def _join(base: str, title: str) -> str | None:
    """The address of the page with this title; None if that of the wiki is none."""
    try:
        return urljoin(base, quote(title.replace(" ", "_")))
    except ValueError:  # such as an unfinished IPv6 address
        return None


def _read_page(where: str, page: Any, site: dict[str, str], spaces: dict[int, set[str]]) -> ReadResult:
    title = markup.to_line(markup.find_first(page, "title"))
    space = markup.to_line(markup.find_first(page, "ns"))
    prefix = title.lower().partition(":")[0] if ":" in title else ""
    names = _OTHERS.union(*spaces.values())
    is_other = space != "0" if space else prefix in names or prefix.endswith(" talk")
    if is_other:
        return Skipped(where, "no article of the wiki", is_lasting=True)
    if markup.find_first(page, "redirect") is not None:
        return Skipped(where, "a redirect of the wiki", is_lasting=True)
    number = next(map(markup.to_line, markup.find_children(page, "id")), "")
    revisions = markup.find_children(page, "revision")
    if not (number or title) or not revisions:
        return Malformed(where, "this page has no id or no revision: make the dump again")
    last = max(revisions, key=lambda revision: markup.to_line(markup.find_first(revision, "timestamp")))
    element = markup.find_first(last, "text")
    wikitext = (element.text or "") if element is not None else ""
    id = make_id(f"{site.get('dbname') or site.get('sitename') or 'wiki'}:{number or title}")
    if len(wikitext) > _MAX_TEXT:
        return Malformed(where, f"the text is longer than {_MAX_TEXT // 2**20} MiB: leave it out", id)
    if not _is_closed(wikitext):
        problem = f"more than {_MAX_OPEN:,} of its templates, links or tags are open at once: leave it out"
        return Malformed(where, problem, id)
    try:
        text, categories, date = _to_text(wikitext, spaces)
    # The parser raises errors of its own, and RecursionError.
    except Exception as error:
        return Malformed(
            where, f"its wikitext cannot be read ({to_one_line(error) or type(error).__name__})", id
        )
    fields = {
        "id": id,
        "title": title,
        "date": date or markup.to_line(markup.find_first(last, "timestamp")) or None,
        "source": site.get("sitename"),
        "url": _join(site["base"], title) if site.get("base") and title else None,
        "language": site.get("language") or None,
        "keywords": categories,
        "text": text,
    }
    return Record(where, fields)


_NOTE = re.compile(r"<ref\b[^<>]{0,500}/>|<ref\b[^<>]{0,500}>.{0,20000}?</ref\s*>", re.I | re.DOTALL)
# Tags without running text that the parser would keep; it drops formulas and galleries itself.
_NO_TEXT = frozenset(("score", "style", "table", "templatestyles", "timeline"))


_MAX_OPEN = 1_000
"""Maximum number of open marks of a kind. The parser's time grows with their square."""
_MARK = compile_lazily(r"\{\{|\[\[|\[(?=\w{2,9}:|//)|<!--|<(?=[a-z])|\}\}|\]\]?|-->|</|/>", re.I)
_OPENED = {"}}": "{{", "]]": "[[", "]": "[", "-->": "<!--", "</": "<", "/>": "<"}


def _is_closed(wikitext: str) -> bool:
    """Whether there is no place at which too many marks of a kind are open."""
    depths = dict.fromkeys(_OPENED.values(), 0)
    for mark in _MARK.finditer(_LINE_END.sub("", wikitext)):
        if opened := _OPENED.get(mark[0]):
            depths[opened] = max(0, depths[opened] - 1)
        else:
            depths[mark[0]] += 1
            if depths[mark[0]] > _MAX_OPEN:
                return False
    return True


_LINE_END = compile_lazily(r"<br\b[^<>]{0,500}>", re.I)
# A line of links to the same article in other languages: "[[de:Fähre]]".
_IN_OTHER_LANGUAGES = compile_lazily(
    r"^(?:\[\[[a-z]{2,3}(?:-[a-z]{2,8})*:[^\[\]|\n]{1,500}\]\][ \t]*)+$", re.M
)
_SWITCH = compile_lazily(r"__[^\W\d]{3,50}__")


def _remove_switch(switch: re.Match[str]) -> str:
    """An empty replacement for a behaviour switch such as __NOTOC__."""
    return "" if switch[0].isupper() else switch[0]


def _to_text(wikitext: str, spaces: dict[int, set[str]]) -> tuple[str, list[str], str | None]:
    """The text without templates, tables, notes and pictures, the categories, and the date of Wikinews."""
    wikitext = _SWITCH.sub(_remove_switch, _LINE_END.sub("\n", _NOTE.sub("", wikitext)))
    wikitext = _IN_OTHER_LANGUAGES.sub("", wikitext)
    code = mwparserfromhell.parse(wikitext, skip_style_tags=False)
    categories = []
    for link in code.filter_wikilinks():
        space, _, name = str(link.title).strip().partition(":")
        if space.strip().lower() in spaces[_CATEGORY] and name:
            categories.append(name.strip())
        elif space.strip().lower() not in spaces[_FILE]:
            continue
        _remove(code, link)
    for tag in code.filter_tags():
        if str(tag.tag).strip().lower() in _NO_TEXT:
            _remove(code, tag)
    dates = (t.get(1).value for t in code.filter_templates() if t.name.matches("date") and t.has(1))
    date = next(filter(None, (to_iso_date(str(date)) for date in dates)), None)
    text = code.strip_code(normalize=True, collapse=True, keep_template_params=False)
    paragraphs = re.split(r"\n+", text)
    return (
        "\n\n".join(filter(None, (paragraph.strip(" *#:;\t") for paragraph in paragraphs))),
        categories,
        date,
    )


def _remove(code: Any, node: Any) -> None:
    """Remove a node, unless it was removed with another one around it."""
    with suppress(ValueError):
        code.remove(node)


MEDIAWIKI = Format(
    "mediawiki",
    "dumps of MediaWiki (Wikinews, Wikipedia and others): one document per article",
    suffixes=(),
    sniff=lambda head: head.startswith(b"<") and bool(_START.search(head)),
    read=read,
    needs=("lxml.etree", "mwparserfromhell"),
)
