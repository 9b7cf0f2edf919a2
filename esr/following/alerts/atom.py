"""Atom feeds of sentences (RFC 4287).

The URN of a sentence is made of the document's id and the sentence's text, so it is stable across loads.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from esr.index.hits import SentenceRecord
from esr.stdlib import hash64
from esr.text.attributes import value_key
from esr.text.dates import normalise_date, parse_date_start
from esr.wording import remove_non_xml, shorten_title

ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_XML = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass(frozen=True)
class Feed:
    """The metadata of a feed. `id` is a permanent IRI; `self_url` is the feed's own address."""

    id: str
    title: str
    self_url: str | None = None
    page_url: str | None = None


def render_feed(
    feed: Feed, records: Sequence[SentenceRecord], link: Callable[[SentenceRecord], str | None]
) -> bytes:
    """The feed of these sentences as XML, each once. `link` returns the address of a sentence.

    The date of an entry is that of its document, or else the beginning of 1970.
    """
    root = ElementTree.Element(f"{{{ATOM}}}feed")
    _add(root, "id", feed.id)
    _add(root, "title", feed.title)
    by_urn = {sentence_urn(record): record for record in reversed(records)}
    moments = [_atom_moment(record) for record in by_urn.values()]
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
        entry.set(_XML, remove_non_xml(record.language))
    moment = _atom_moment(record)
    _add(entry, "id", urn)
    _add(entry, "title", shorten_title(record.title or record.document_id))
    _add(entry, "updated", moment)
    _add(entry, "published", moment)
    if record.source:
        _add(ElementTree.SubElement(entry, f"{{{ATOM}}}author"), "name", record.source)
    if address:
        _link(entry, "alternate", address, "text/html")
    _add(entry, "content", record.text)


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, f"{{{ATOM}}}{name}").text = remove_non_xml(text)


def _link(parent: ElementTree.Element, rel: str, address: str, type: str) -> None:
    ElementTree.SubElement(
        parent, f"{{{ATOM}}}link", {"rel": rel, "href": remove_non_xml(address), "type": type}
    )


def _atom_moment(record: SentenceRecord) -> str:
    try:
        return _rfc3339(parse_date_start(normalise_date(record.date or "")))
    except (ValueError, OverflowError):
        return _rfc3339(0)


def _rfc3339(milliseconds: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


_NAMESPACE = uuid.UUID("6f5a4c1e-0b7d-5c52-9a63-3c8c1b1f6f0e")


def text_digest(text: str) -> str:
    """16 hexadecimal digits of a sentence's text, ignoring case and white space."""
    return f"{hash64(value_key(text)):016x}"


def sentence_urn(record: SentenceRecord) -> str:
    """The URN of a sentence, which is stable across loads that keep the document's id."""
    return _urn(f"{record.document_id}\n{text_digest(record.text)}")


def feed_urn(parts: Iterable[tuple[str, str]]) -> str:
    """The URN of a search's feed: the same for the same parts in any order, on any host."""
    return _urn("\n".join(sorted(f"{name}={value}" for name, value in parts)))


def _urn(name: str) -> str:
    # An id may have half of a surrogate pair, which UTF-8 cannot encode.
    return uuid.uuid5(_NAMESPACE, name.encode("utf-8", "replace").decode()).urn
