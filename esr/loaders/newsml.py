"""NewsML-G2 of the IPTC: news items that contain their text. https://iptc.org/standards/newsml-g2/"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from esr.loaders import markup, nitf, page
from esr.loaders.adapter import EMBARGO_REASON, is_embargoed
from esr.loaders.fields import read_list
from esr.loaders.format import (
    WITHDRAWN,
    WITHDRAWN_STATUSES,
    Format,
    Malformed,
    ReadResult,
    Record,
    Skipped,
    Source,
    register,
)
from esr.loaders.ids import make_id
from esr.text.written_dates import to_iso_date

_OTHER_ITEMS = frozenset({"packageItem", "conceptItem", "knowledgeItem", "planningItem", "catalogItem"})
_TEXT_TYPES = ("text/plain", "text/html", "application/xhtml")
_HTML = re.compile(r"</(?:p|div|body)>|<br\s?/?>", re.I)


def read(source: Source) -> Iterator[ReadResult]:
    """A record per `<newsItem>` that contains text. Raises InputError where the XML is broken.

    Skipped are pictures and other items without text, packages, concepts and plans, and items that are
    cancelled, withheld or under embargo.
    """
    for item in markup.iterate_elements(source, _OTHER_ITEMS | {"newsItem"}):
        if markup.local_name(item) != "newsItem":
            continue
        where = f"{source.name}:{item.sourceline}"
        # Alternative renditions of one content. XML comes first, because plain text may be notes to editors.
        renditions = sorted(
            markup.find_all(item, "inlineXML", "inlineData"), key=markup.local_name, reverse=True
        )
        if not renditions:
            continue
        if reason := _find_skip_reason(item):
            yield Skipped(where, reason)
            continue
        id = make_id(item.get("guid", ""))
        try:
            text = next(filter(None, map(_extract_text, renditions)), "")
        except page.NoArticle as error:
            yield Malformed(where, str(error), id or None)
            continue
        if not text:
            continue
        if not id:
            yield Malformed(where, "this <newsItem> has no guid: every item needs one")
            continue
        title = _find_title(item, renditions)
        yield Record(
            where,
            {
                "id": id,
                "title": title,
                "date": _find_date(item),
                "source": _find_source(item),
                "language": _find_language(item),
                "authors": _find_authors(item, renditions),
                "keywords": _find_keywords(item),
                "text": markup.remove_title(text, title),
            },
        )


def _find_skip_reason(item: Any) -> str | None:
    """Why an item must not be loaded; None if it may be."""
    status = markup.find_first(item, "itemMeta", "pubStatus")
    codes = "" if status is None else f"{status.get('qcode', '')} {status.get('uri', '')}"
    if codes.strip().endswith(WITHDRAWN_STATUSES):
        return WITHDRAWN
    until = markup.find_first(item, "itemMeta", "embargoed")
    return EMBARGO_REASON if until is not None and is_embargoed(markup.to_line(until)) else None


def _extract_text(rendition: Any) -> str:
    """The body of an article in NITF or XHTML, or plain text with blank lines between paragraphs.

    Raises page.NoArticle.
    """
    if markup.local_name(rendition) == "inlineData":
        return _extract_inline_data(rendition)
    if markup.find_first(rendition, "body.content") is not None:
        return nitf.extract_body(rendition)
    if next(markup.find_all(rendition, "body", "p"), None) is None:  # results, calendars, market data
        return ""
    body = markup.find_first(rendition, "body")
    return markup.to_text(rendition if body is None else body)


def _extract_inline_data(rendition: Any) -> str:
    """Plain text or HTML. Some agencies label HTML as "text/plain"."""
    content_type = rendition.get("contenttype", "text/plain")
    if not content_type.startswith(_TEXT_TYPES) or rendition.get("encoding"):
        return ""
    text = (rendition.text or "").strip()
    is_plain = content_type.startswith("text/plain") and not _HTML.search(text)
    return text if is_plain else page.html_to_text(text)


def _find_title(item: Any, renditions: list[Any]) -> str:
    meta = markup.find_first(item, "contentMeta")
    if meta is not None:
        headlines = [h for h in markup.find_all(meta, "headline") if markup.to_line(h)]
        # The main headline has no role, or the role "main".
        headlines.sort(key=lambda h: bool(h.get("role")) and not h.get("role").endswith("main"))
        if headlines:
            return markup.to_line(headlines[0])
    title = markup.to_line(markup.find_first(item, "itemMeta", "title"))
    return title or next(filter(None, map(nitf.extract_title, renditions)), "")


def _find_date(item: Any) -> str | None:
    """The date of creation, or as a last resort the date of this version."""
    for path in (
        ("contentMeta", "contentCreated"),
        ("itemMeta", "firstCreated"),
        ("itemMeta", "versionCreated"),
    ):
        if date := to_iso_date(markup.to_line(markup.find_first(item, *path))):
            return date
    return None


def _find_source(item: Any) -> str | None:
    for path in (("contentMeta", "infoSource"), ("itemMeta", "provider"), ("contentMeta", "creditline")):
        element = markup.find_first(item, *path)
        if element is not None:
            name = markup.to_line(markup.find_first(element, "name")) or markup.to_line(element)
            if source := name or element.get("literal") or (element.get("qcode") or "").partition(":")[2]:
                return str(source)
    return None


def _find_authors(item: Any, renditions: list[Any]) -> list[str]:
    meta = markup.find_first(item, "contentMeta")
    lines = [] if meta is None else [markup.to_line(by) for by in markup.find_all(meta, "by")]
    names = [name for line in lines for name in read_list("authors", line) or []]
    return names or next(filter(None, map(nitf.extract_authors, renditions)), [])


def _find_keywords(item: Any) -> list[str]:
    """The keywords, and the names of the subjects."""
    meta = markup.find_first(item, "contentMeta")
    if meta is None:
        return []
    keywords = [markup.to_line(keyword) for keyword in markup.find_all(meta, "keyword")]
    for subject in markup.find_all(meta, "subject"):
        keywords.append(markup.to_line(markup.find_first(subject, "name")))
    return [keyword for keyword in keywords if keyword]


def _find_language(item: Any) -> str | None:
    element = markup.find_first(item, "contentMeta", "language")
    language = (None if element is None else element.get("tag")) or item.get(markup.LANGUAGE)
    return str(language) if language else None


FORMAT = register(
    Format(
        name="newsml",
        description="NewsML-G2 of the IPTC: <newsItem>s that contain NITF, XHTML or plain text",
        suffixes=(".newsml", ".newsmlg2"),
        sniff=markup.sniff("newsMessage", "newsItem"),
        read=read,
        needs=("lxml.etree",),
        may_lack_documents=True,
    )
)
