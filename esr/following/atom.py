"""Sentences as an Atom feed (RFC 4287)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from esr.documents.dates import normalise_date, parse_date_start
from esr.engines.index import SentenceRecord
from esr.following.identity import sentence_urn

ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_XML = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass(frozen=True)
class Feed:
    """What a feed says of itself. `id` is an IRI that stays; `self_url` is where it is read from."""

    id: str
    title: str
    self_url: str | None = None
    page_url: str | None = None


def render_feed(
    feed: Feed, records: Sequence[SentenceRecord], link: Callable[[SentenceRecord], str | None]
) -> bytes:
    """The feed of these sentences, each once. `link` is where a sentence leads.

    The date of an entry is that of its document. Without one, it is the beginning of 1970.
    """
    root = ElementTree.Element(f"{{{ATOM}}}feed")
    _add(root, "id", feed.id)
    _add(root, "title", feed.title)
    by_urn = {sentence_urn(record): record for record in reversed(records)}
    moments = [_moment(record) for record in by_urn.values()]
    _add(root, "updated", max(moments, default=_rfc3339(0)))
    _add(ElementTree.SubElement(root, f"{{{ATOM}}}author"), "name", "esr")
    if feed.self_url:
        _link(root, "self", feed.self_url, MEDIA_TYPE)
    if feed.page_url:
        _link(root, "alternate", feed.page_url, "text/html")
    for urn, record in reversed(by_urn.items()):
        _add_entry(root, urn, record, link(record))
    ElementTree.register_namespace("", ATOM)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _add_entry(root: ElementTree.Element, urn: str, record: SentenceRecord, address: str | None) -> None:
    entry = ElementTree.SubElement(root, f"{{{ATOM}}}entry")
    if record.language:
        entry.set(_XML, _clean(record.language))
    moment = _moment(record)
    _add(entry, "id", urn)
    _add(entry, "title", record.title or record.document_id)
    _add(entry, "updated", moment)
    _add(entry, "published", moment)
    if record.source:
        _add(ElementTree.SubElement(entry, f"{{{ATOM}}}author"), "name", record.source)
    if address:
        _link(entry, "alternate", address, "text/html")
    _add(entry, "content", record.text)


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, f"{{{ATOM}}}{name}").text = _clean(text)


def _clean(text: str) -> str:
    """A text, without what XML cannot hold."""
    return "".join(c for c in text if c in "\t\n\r" or _is_xml(ord(c)))


def _is_xml(code: int) -> bool:
    return 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def _link(parent: ElementTree.Element, rel: str, address: str, type: str) -> None:
    ElementTree.SubElement(parent, f"{{{ATOM}}}link", {"rel": rel, "href": _clean(address), "type": type})


def _moment(record: SentenceRecord) -> str:
    try:
        return _rfc3339(parse_date_start(normalise_date(record.date or "")))
    except (ValueError, OverflowError):
        return _rfc3339(0)


def _rfc3339(milliseconds: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
