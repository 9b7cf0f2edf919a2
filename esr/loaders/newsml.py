"""NewsML-G2 of the IPTC: news items with their text inside. https://iptc.org/standards/newsml-g2/"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from esr.documents.written_dates import iso
from esr.loaders import embargo, markup, nitf, page
from esr.loaders.base import WITHDRAWN, Format, Found, Malformed, PassedOver, Record, Source, id_of, register

_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_OTHER_ITEMS = frozenset({"packageItem", "conceptItem", "knowledgeItem", "planningItem", "catalogItem"})
# What a publisher has taken back is not to be found.
_WITHDRAWN = ("canceled", "withheld")
_TEXTS = ("text/plain", "text/html", "application/xhtml")
_HTML = re.compile(r"</(?:p|div|body)>|<br\s?/?>", re.I)


def read(source: Source) -> Iterator[Found]:
    """A record of each `<newsItem>` with text in it. Raises InputError where the XML is broken.

    Passed over are pictures and other items without text in them, items that were cancelled or withheld,
    or whose embargo holds, and packages, concepts and plans.
    """
    for item in markup.elements(source, _OTHER_ITEMS | {"newsItem"}):
        if markup.name(item) != "newsItem":
            continue
        where = f"{source.name}:{item.sourceline}"
        # They are renditions of one content, to choose from; among the plain ones may be notes to editors.
        content = sorted(markup.find(item, "inlineXML", "inlineData"), key=markup.name, reverse=True)
        if not content:
            continue
        if why := _withdrawn(item):
            yield PassedOver(where, why)
            continue
        id = id_of(item.get("guid", ""))
        try:
            text = next(filter(None, map(_text, content)), "")
        except page.NoArticle as error:
            yield Malformed(where, str(error), id or None)
            continue
        if not text:
            continue
        if not id:
            yield Malformed(where, "this <newsItem> has no guid: give every item one")
            continue
        title = _title(item, content)
        yield Record(
            where,
            {
                "id": id,
                "title": title,
                "date": _date(item),
                "source": _source(item),
                "language": _language(item),
                "text": markup.without_title(text, title),
            },
        )


def _withdrawn(item: Any) -> str | None:
    """Why an item must not be found; None if it may."""
    status = markup.first(item, "itemMeta", "pubStatus")
    said = "" if status is None else f"{status.get('qcode', '')} {status.get('uri', '')}"
    if said.strip().endswith(_WITHDRAWN):
        return WITHDRAWN
    until = markup.first(item, "itemMeta", "embargoed")
    return embargo.WHY if until is not None and embargo.holds(markup.line(until)) else None


def _text(content: Any) -> str:
    """The body of an article in NITF or XHTML, or plain text, in which blank lines part paragraphs.

    Raises page.NoArticle.
    """
    if markup.name(content) == "inlineData":
        return _inline_data(content)
    if markup.first(content, "body.content") is not None:
        return nitf.body(content)
    if next(markup.find(content, "body", "p"), None) is None:  # results, calendars, market data
        return ""
    body = markup.first(content, "body")
    return markup.text(content if body is None else body)


def _inline_data(content: Any) -> str:
    """Plain text or HTML. Some agencies say "text/plain" of HTML."""
    kind = content.get("contenttype", "text/plain")
    if not kind.startswith(_TEXTS) or content.get("encoding"):
        return ""
    text = (content.text or "").strip()
    plain = kind.startswith("text/plain") and not _HTML.search(text)
    return text if plain else page.fragment_text(text)


def _title(item: Any, content: list[Any]) -> str:
    meta = markup.first(item, "contentMeta")
    if meta is not None:
        headlines = [h for h in markup.find(meta, "headline") if markup.line(h)]
        # The main one has no role, or that of one.
        headlines.sort(key=lambda h: bool(h.get("role")) and not h.get("role").endswith("main"))
        if headlines:
            return markup.line(headlines[0])
    title = markup.line(markup.first(item, "itemMeta", "title"))
    return title or next(filter(None, map(nitf.title, content)), "")


def _date(item: Any) -> str | None:
    """When the content was made; what is only known of the version comes last."""
    for path in (
        ("contentMeta", "contentCreated"),
        ("itemMeta", "firstCreated"),
        ("itemMeta", "versionCreated"),
    ):
        if found := iso(markup.line(markup.first(item, *path))):
            return found
    return None


def _source(item: Any) -> str | None:
    for path in (("contentMeta", "infoSource"), ("itemMeta", "provider"), ("contentMeta", "creditline")):
        element = markup.first(item, *path)
        if element is not None:
            named = markup.line(markup.first(element, "name")) or markup.line(element)
            if found := named or element.get("literal") or (element.get("qcode") or "").partition(":")[2]:
                return str(found)
    return None


def _language(item: Any) -> str | None:
    language = markup.first(item, "contentMeta", "language")
    tag = None if language is None else language.get("tag")
    found = tag or item.get(_XML_LANG)
    return str(found) if found else None


_START = re.compile(rb"<(?:\w+:)?(?:newsMessage|newsItem)[\s>]")

FORMAT = register(
    Format(
        name="newsml",
        description="NewsML-G2 of the IPTC: <newsItem>s with NITF, XHTML or plain text in them",
        suffixes=(".newsml", ".newsmlg2"),
        sniff=lambda head: head.startswith(b"<") and bool(_START.search(head)),
        read=read,
        needs=("lxml.etree",),
        holds_others=True,
    )
)
