"""RSS and Atom feeds, read by feedparser: a document an entry."""

from __future__ import annotations

import io
from calendar import timegm
from collections.abc import Iterator
from datetime import UTC, datetime
from re import compile
from typing import Any

from esr.errors import InputError
from esr.loaders import page
from esr.loaders.base import Format, Malformed, Record, Source, id_of, one_line, register

# A feed is read as a whole, as its language and title may stand at its end.
MAX_FEED_BYTES = 16 * 2**20


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record of each entry: its content or else its summary. Raises InputError where the XML is broken.

    Passed over are entries of a WordPress export (WXR) that are not published.
    """
    import feedparser

    data = source.stream.read(MAX_FEED_BYTES + 1)
    if len(data) > MAX_FEED_BYTES:
        raise InputError(source.name, f"a feed of more than {MAX_FEED_BYTES // 2**20} MiB: split it")
    try:
        # As a stream: it would take text for an address, and fetch it.
        parsed = feedparser.parse(io.BytesIO(data), resolve_relative_uris=False)
    except Exception as error:  # of the parsers beneath it
        raise InputError(source.name, f"broken feed: {one_line(error) or type(error).__name__}") from None
    problem = parsed.get("bozo_exception")
    # Entries of a feed that is cut off would be cut off too. Wrong encodings are found out and mended.
    if problem is not None and not _harmless(problem, data):
        line = getattr(problem, "getLineNumber", lambda: None)()
        where = f"{source.name}:{line}" if line else source.name
        raise InputError(where, f"broken feed: {one_line(problem)}; fetch it again or mend it")
    for number, entry in enumerate(parsed.entries, 1):
        if entry.get("wp_status") not in (None, "publish"):  # WordPress exports drafts and pictures too
            continue
        where = f"{source.name}:entry {number}"
        try:
            yield _record(where, entry, parsed.feed)
        except page.NoArticle as error:
            yield Malformed(where, str(error))


def _harmless(problem: Any, data: bytes) -> bool:
    """Whether nothing is lost: the encoding was wrong, an entity of HTML or a namespace not declared."""
    from feedparser.exceptions import ThingsNobodyCaresAboutButMe

    undeclared = str(problem).endswith(("undefined entity", "unbound prefix")) and _END.search(data[-200:])
    return bool(undeclared) or isinstance(problem, ThingsNobodyCaresAboutButMe)


def _record(where: str, entry: Any, feed: Any) -> Record | Malformed:
    id = id_of(entry.get("id") or entry.get("link") or "")
    if not id:
        return Malformed(where, "this entry has no guid, id or link: give every entry one")
    contents = [content.get("value") or "" for content in entry.get("content", [])]
    language = next((c.get("language") for c in entry.get("content", []) if c.get("language")), None)
    text = max(contents, key=len, default="") or entry.get("summary") or ""
    origin = entry.get("source") or {}
    fields = {
        "id": id,
        "title": page.fragment_text(entry.get("title") or ""),
        "date": _date(entry),
        "source": origin.get("title") or feed.get("title"),
        "url": entry.get("link"),
        "language": language or feed.get("language"),
        "text": page.fragment_text(text),
    }
    return Record(where, fields)


def _date(entry: Any) -> str | None:
    for name in ("published_parsed", "updated_parsed", "created_parsed"):
        # Its own get takes one date for another, and warns of it.
        if parsed := dict.get(entry, name):
            try:
                return datetime.fromtimestamp(timegm(parsed), UTC).isoformat()
            except (ValueError, OverflowError, OSError):
                continue
    return None


_END = compile(rb"</(?:rss|rdf:RDF|(?:\w+:)?feed)\s*>\s*(?:<!--.*-->\s*)?$")
# A <channel> tells nothing: agencies name theirs in the headers of NewsML-G2.
_START = compile(rb"<(?:rss|rdf:RDF)[\s>]|<(?:\w+:)?feed[\s>]")

FORMAT = register(
    Format(
        name="feed",
        description="RSS and Atom feeds: a document an entry",
        suffixes=(".rss", ".atom"),
        sniff=lambda head: head.startswith(b"<") and bool(_START.search(head)),
        read=read,
        needs=("feedparser", "lxml.etree"),
        holds_others=True,
    )
)
