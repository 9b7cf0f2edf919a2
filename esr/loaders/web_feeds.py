"""Feeds and sitemaps of the web: their new and changed articles, fetched and kept in a folder as JSON Lines.

Each fetch that finds something writes one file, which is never changed.
"""

from __future__ import annotations

import io
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.json import encode

from esr.errors import EsrError, InputError
from esr.extras import require
from esr.hashing import hash64
from esr.loaders import feed, markup, page
from esr.loaders.fetching import SETTLED_SECONDS, FetchReport, read_state, write_file, write_state
from esr.loaders.format import Record, Source
from esr.loaders.web import Answer, NotFetched, Web, WebOptions, join
from esr.text.validate import InvalidDocument, build_document
from esr.text.written_dates import to_iso_date

_MAX_SITEMAPS = 200
"""How many sitemaps an index of sitemaps may name; those after them are left out."""
_PAGES = ("text/html", "application/xhtml+xml", "")
_OF_FEEDS = ("title", "date", "authors", "keywords", "language")
"""Fields that an article takes from its feed if its page does not have them."""


@dataclass(frozen=True)
class FeedOptions:
    """`max_articles` are asked for in one run; one that is still listed, again after `recheck_hours`."""

    web: WebOptions
    max_articles: int = 500
    recheck_hours: float = 6.0


class _Listing(Struct):
    """A feed when it was last read: the fields of its articles by address, and sitemaps that it names."""

    validators: dict[str, str] = {}
    entries: dict[str, dict[str, Any]] = {}
    sitemaps: list[str] = []


class _Article(Struct):
    """What is known of an article. Times are in seconds since 1970; hashes are "" if there is nothing.

    `listed` is the hash of its entry in the feed when it was fetched; a temporary failure leaves it "".
    """

    tried: float
    listed: str = ""
    content: str = ""
    validators: dict[str, str] = {}
    is_gone: bool = False


class _State(Struct):
    listings: dict[str, _Listing] = {}
    articles: dict[str, _Article] = {}
    retry_at: dict[str, float] = {}


class WebFeeds:
    """The feeds of one source, with the folder of their articles."""

    def __init__(self, urls: Sequence[str], folder: Path, options: FeedOptions) -> None:
        self.folder = folder
        self._urls = urls
        self._options = options

    def fetch(self, target: Path | None = None) -> FetchReport:
        """Fetch new and changed articles, as `Fetcher` says."""
        require("a feed of the web", "protego", "feedparser", "lxml.etree", "trafilatura")
        fetch = _Fetch(self._urls, self._options, read_state(self.folder, _State))
        try:
            fetch.run()
        finally:  # what a stopped run has fetched is kept
            self._write(target or self.folder, fetch)
        return fetch.report

    def _write(self, folder: Path, fetch: _Fetch) -> None:
        now = time.time()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if fetch.lines:
                name = f"{time.strftime('%Y%m%dt%H%M%S', time.gmtime(now))}{int(now % 1 * 10**6):06}.jsonl"
                write_file(folder / name, fetch.lines, now - SETTLED_SECONDS)
            write_state(folder, fetch.state, now)
        except OSError as error:
            raise EsrError(f"cannot write the articles of feeds to {folder}: {error.strerror}") from None


class _Fetch:
    """One run over the feeds: `lines` are the articles to keep."""

    def __init__(self, urls: Sequence[str], options: FeedOptions, state: _State) -> None:
        self.state = state
        self.report = FetchReport()
        self.lines: list[bytes] = []
        self._urls = [*dict.fromkeys(urls)]
        self._options = options
        self._web = Web(options.web, state.retry_at)
        state.retry_at = self._web.retry_at

    def run(self) -> None:
        listed = self._read_listings()
        due = self._find_due(listed)
        self.report.left = max(0, len(due) - self._options.max_articles)
        for url in _interleave(due[: self._options.max_articles]):
            try:
                self._fetch_article(url, listed[url])
            except InputError as error:
                self._note_failure(url, listed[url], error)

    # Feeds

    def _read_listings(self) -> dict[str, dict[str, Any]]:
        """The entries of all feeds and of the sitemaps that they name. Forgets what is no longer listed."""
        pending = [*self._urls]
        listed: dict[str, dict[str, Any]] = {}
        for url in pending:  # grows meanwhile
            known = self.state.listings.get(url, _Listing())
            try:
                known = self._read_listing(url, known)
            except InputError as error:
                self.report.failed.append(_describe(url, error))
            self.state.listings[url] = known
            if url in self._urls:
                pending += [sitemap for sitemap in known.sitemaps if sitemap not in pending]
            listed |= {article: entry for article, entry in known.entries.items() if article not in listed}
        self.report.places = len(pending)
        self.state.listings = {url: self.state.listings[url] for url in pending}
        known_articles = self.state.articles
        self.state.articles = {url: known_articles[url] for url in listed if url in known_articles}
        return listed

    def _read_listing(self, url: str, known: _Listing) -> _Listing:
        answer = self._web.get(url, feed.MAX_FEED_BYTES, known.validators)
        if answer.status == 304:
            return known
        body = _unpack(answer)
        listing = _Listing(answer.validators)
        if b"<urlset" in body[:4096] or b"<sitemapindex" in body[:4096]:
            _read_sitemap(answer.url, body, listing)
        else:
            results = [*feed.read(Source(url, url, io.BytesIO(body)))]
            for record in results:
                if isinstance(record, Record) and record.fields["url"]:
                    _add(listing, answer.url, record.fields["url"], record.fields)
            if not results and not feed.FORMAT.sniff(body[:4096].lstrip()):
                raise InputError(url, "is neither a feed nor a sitemap")
            if results and not listing.entries:
                raise InputError(url, "its entries have no address of an article")
        return listing

    def _find_due(self, listed: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """The articles to ask for: new ones, then changed ones, then those not asked for in a long time."""
        before = time.time() - self._options.recheck_hours * 3600
        due: list[tuple[int, float, str]] = []
        for url, entry in listed.items():
            article = self.state.articles.get(url)
            if article is None:
                due.append((0, 0.0, url))
            elif article.listed != _hash(entry):
                due.append((1, article.tried, url))
            elif not article.is_gone and article.tried <= before:
                due.append((2, article.tried, url))
        return [url for _, _, url in sorted(due, key=lambda each: each[:2])]

    # Articles

    def _fetch_article(self, url: str, entry: Mapping[str, Any]) -> None:
        """Fetch an article and keep it if it is new or has changed. Raises InputError."""
        known = self.state.articles.get(url, _Article(0))
        answer = self._web.get(entry["link"], page.MAX_PAGE_BYTES, known.validators)
        content = known.content
        if answer.status == 200:
            line = _build_line(url, entry, answer)
            content = _hash(line)
            if content != known.content:
                self.lines.append(line)
        if content == known.content:
            self.report.unchanged += 1
        elif known.content:
            self.report.changed += 1
        else:
            self.report.new += 1
        validators = known.validators if answer.status == 304 else answer.validators
        self.state.articles[url] = _Article(time.time(), _hash(entry), content, validators)

    def _note_failure(self, url: str, entry: Mapping[str, Any], error: InputError) -> None:
        self.report.problems.append(_describe(entry["link"], error))
        article = self.state.articles.setdefault(url, _Article(0))
        article.tried = time.time()
        is_lasting = not isinstance(error, NotFetched) or error.is_lasting
        article.listed = _hash(entry) if is_lasting else ""
        article.is_gone = isinstance(error, NotFetched) and error.status == 410


def _describe(url: str, error: InputError) -> str:
    """What went wrong with an address, which may have led to another one."""
    return str(error) if error.where.startswith(url) else f"{url} leads to {error}"


def _build_line(url: str, entry: Mapping[str, Any], answer: Answer) -> bytes:
    """The article of a page as a line of JSON. Raises InputError if there is none."""
    if answer.content_type not in _PAGES:
        raise InputError(answer.url, f"is {answer.content_type[:60]!r}, not a page of HTML")
    try:
        fields = page.extract_article(answer.body, url)
        fields.pop("author", None)
        fields |= {name: entry[name] for name in _OF_FEEDS if entry.get(name) and not fields.get(name)}
        build_document({**fields, "id": "any"})
    except (page.NoArticle, InvalidDocument) as error:
        raise InputError(answer.url, str(error)) from None
    return encode(fields) + b"\n"


def _read_sitemap(where: str, body: bytes, listing: _Listing) -> None:
    """Add what a sitemap lists, by the protocol of sitemaps.org and Google's for news. Raises InputError."""
    source = Source(where, where, io.BytesIO(body))
    for element in markup.iterate_elements(source, frozenset(("url", "sitemap"))):
        parents = [element, *markup.find_all(element, "news")]  # others have an address of a picture
        texts = {markup.local_name(child): markup.to_line(child) for parent in parents for child in parent}
        link = texts.get("loc", "")
        if markup.local_name(element) == "url":
            date = to_iso_date(texts.get("publication_date", ""))
            fields = {"title": texts.get("title"), "date": date, "lastmod": texts.get("lastmod")}
            _add(listing, where, link, fields)
        elif len(listing.sitemaps) < _MAX_SITEMAPS:
            listing.sitemaps.append(join(where, link))


def _add(listing: _Listing, base: str, link: str, fields: Mapping[str, Any]) -> None:
    """Add an article under its address without what tracks readers, so that feeds may share it."""
    from courlan import normalize_url  # of trafilatura

    link = join(base, link).partition("#")[0]
    try:
        url = normalize_url(link)
    except ValueError:  # no address
        url = link
    entry = {"link": link, "seen": _hash(fields), **{name: fields.get(name) for name in _OF_FEEDS}}
    listing.entries.setdefault(url, entry)


def _unpack(answer: Answer) -> bytes:
    """The body of a feed, unpacked if it is a file of gzip. Raises InputError."""
    if not answer.body.startswith(b"\x1f\x8b"):
        return answer.body
    try:
        body = zlib.decompressobj(31).decompress(answer.body, feed.MAX_FEED_BYTES + 1)
    except zlib.error as error:
        raise InputError(answer.url, f"cannot be unpacked ({error})") from None
    if len(body) > feed.MAX_FEED_BYTES:
        raise InputError(answer.url, f"unpacks to more than {feed.MAX_FEED_BYTES // 2**20} MiB")
    return body


def _hash(value: Any) -> str:
    text = value.decode() if isinstance(value, bytes) else encode(value).decode()
    return f"{hash64(text):016x}"


def _interleave(urls: Iterable[str]) -> Iterator[str]:
    """The addresses, those of a site far from one another, so that its delay passes with the others'."""
    sites: dict[str, list[str]] = {}
    for url in urls:
        sites.setdefault("/".join(url.split("/")[:3]), []).append(url)
    return (url for url in chain.from_iterable(zip_longest(*sites.values())) if url is not None)
