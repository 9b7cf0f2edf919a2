"""RSS and Atom feeds, read by feedparser: one document per entry."""

from __future__ import annotations

import io
import re
from calendar import timegm
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from esr.errors import InputError, to_one_line
from esr.loaders import html_tree
from esr.loaders.adapter import check_wordpress_export
from esr.loaders.document_ids import make_id, make_id_from_content
from esr.loaders.fields import read_list
from esr.loaders.format import Format, Malformed, ReadResult, Record, Source, register
from esr.stdlib import compile_lazily, import_lazily
from esr.text.written_dates import UnclearDate, read_date

if TYPE_CHECKING:
    import feedparser
    from feedparser import exceptions as feed_errors
else:
    feed_errors = import_lazily("feedparser.exceptions")
    feedparser = import_lazily("feedparser")

# The whole feed is read into memory, because its language and title may be at its end.
MAX_FEED_BYTES = 16 * 2**20


def read(source: Source) -> Iterator[ReadResult]:
    """A record per entry, with its content or else its summary. Raises InputError if the XML is broken.

    From a WordPress export (WXR), only published posts and pages are read.
    """
    data = source.stream.read(MAX_FEED_BYTES + 1)
    if len(data) > MAX_FEED_BYTES:
        raise InputError(source.name, f"the feed is longer than {MAX_FEED_BYTES // 2**20} MiB: split it")
    try:
        html_tree.check_attributes(data, has_code=False)  # feedparser's time grows with their square too
    except html_tree.NoArticle as error:
        raise InputError(source.name, str(error)) from None
    try:
        # A stream, because feedparser may take a string for an address and fetch it.
        parsed = feedparser.parse(io.BytesIO(data), resolve_relative_uris=False)
    except Exception as error:  # raised by the underlying parsers
        raise InputError(source.name, f"broken feed: {to_one_line(error) or type(error).__name__}") from None
    problem = parsed.get("bozo_exception")
    # The last entry of a truncated feed may be truncated too. feedparser corrects wrong encodings.
    if problem is not None and not _is_harmless(problem, data):
        line = getattr(problem, "getLineNumber", lambda: None)()
        where = f"{source.name}:{line}" if line else source.name
        raise InputError(where, f"broken feed: {to_one_line(problem)}; fetch it again or correct it")
    for number, entry in enumerate(parsed.entries, 1):
        where = f"{source.name}:entry {number}"
        if skipped := check_wordpress_export(where, entry):
            yield skipped
            continue
        try:
            yield _build_record(source, where, entry, parsed.feed)
        except html_tree.NoArticle as error:
            yield Malformed(where, str(error))


def _is_harmless(problem: Any, data: bytes) -> bool:
    """Whether a problem loses no text: a wrong encoding, or an undeclared HTML entity or namespace."""
    undeclared = str(problem).endswith(("undefined entity", "unbound prefix")) and _END.search(data[-200:])
    return bool(undeclared) or isinstance(problem, feed_errors.ThingsNobodyCaresAboutButMe)


def _build_record(source: Source, where: str, entry: Any, feed: Any) -> Record:
    id = make_id(entry.get("id") or entry.get("link") or "")
    contents = [content.get("value") or "" for content in entry.get("content", [])]
    language = next((c.get("language") for c in entry.get("content", []) if c.get("language")), None)
    text = max(contents, key=len, default="") or entry.get("summary") or ""
    origin = entry.get("source") or {}
    fields = {
        "title": html_tree.html_to_text(entry.get("title") or ""),
        "date": _find_date(entry),
        "source": origin.get("title") or feed.get("title"),
        "url": entry.get("link"),
        "language": language or feed.get("language"),
        "authors": _find_authors(entry),
        "keywords": [term for tag in entry.get("tags", []) if (term := tag.get("label") or tag.get("term"))],
        "text": _APPEARED.sub("", html_tree.html_to_text(text)),
    }
    return Record(where, {"id": id or make_id_from_content(fields), **fields})


# The last paragraph of WordPress entries: "The post TITLE appeared first on SITE." Few titles begin with a
# small letter, unlike "The post box that first appeared on this corner".
_APPEARED = compile_lazily(
    r"""(?:^|\n\n)(?:
        The\ post\ (?![a-z])[^\n]{1,400}\ (?:appeared\ first|first\ appeared)\ on
      | Der\ Beitrag\ (?![a-z])[^\n]{1,400}\ erschien\ zuerst\ auf
      | L[’']article\ (?![a-z])[^\n]{1,400}\ est\ apparu\ en\ premier\ sur
      | La\ entrada\ (?![a-z])[^\n]{1,400}\ (?:se\ publicó|aparece)\ primero\ en
      | (?:L[’']articolo|Il\ post)\ (?![a-z])[^\n]{1,400}\ proviene\ da
      | O\ post\ (?![a-z])[^\n]{1,400}\ apareceu\ primeiro\ em
      | Het\ bericht\ (?![a-z])[^\n]{1,400}\ verscheen\ eerst\ op
    )\ [^\n]{1,200}$""",
    re.X,
)


def _find_authors(entry: Any) -> list[str]:
    """The names of the authors, or else their mail addresses."""
    authors = [author.get("name") or author.get("email") or "" for author in entry.get("authors", [])]
    return [name for author in authors for name in read_list("authors", author) or []]


def _find_date(entry: Any) -> str | None:
    # feedparser's own `get` substitutes one date for another, with a warning.
    dates = (
        _read_date(dict.get(entry, name), dict.get(entry, f"{name}_parsed"))
        for name in ("published", "updated", "created")
    )
    return next(filter(None, dates), None)


def _read_date(text: Any, parsed: Any) -> str | None:
    """A date as written in a feed, or else as feedparser has parsed it.

    feedparser takes the zones of Europe for UTC, and misreads seconds since 1970. It cannot read a time
    without a zone, nor dates such as 5.3.2024.
    """
    written = moment = None
    with suppress(UnclearDate, ValueError):
        written = read_date(text) if isinstance(text, str) else None
        moment = datetime.fromisoformat(written.iso) if written else None
    try:
        if moment is not None and moment.tzinfo is not None:
            return moment.astimezone(UTC).isoformat(timespec="seconds")
        if parsed:
            return datetime.fromtimestamp(timegm(parsed), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
    return written.iso if written else None


_END = re.compile(rb"</(?:rss|rdf:RDF|(?:\w+:)?feed)\s*>\s*(?:<!--.*-->\s*)?$")
# <channel> is not specific to feeds: headers of NewsML-G2 contain it too.
_START = re.compile(rb"<(?:rss|rdf:RDF)[\s>]|<(?:\w+:)?feed[\s>]")


def is_feed(head: bytes) -> bool:
    """Whether a file that begins like this is a feed."""
    return head.startswith(b"<") and bool(_START.search(head))


register(
    Format(
        name="feed",
        description="RSS and Atom feeds: one document per entry",
        suffixes=(".rss", ".atom"),
        sniff=is_feed,
        read=read,
        needs=("feedparser", "lxml.etree"),
        may_lack_documents=True,
    )
)
