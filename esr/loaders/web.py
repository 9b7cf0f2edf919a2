"""The web: addresses are fetched politely, and feeds and sitemaps are followed to their articles.

Nothing is fetched beyond limits, or from private networks unasked. A name is resolved once, its addresses are
checked, and one of those is connected to: no second answer of the name server can lead elsewhere. Each
redirect is a request of its own, with all checks.

New and changed articles of feeds and sitemaps are kept in a folder as JSON Lines. Each fetch that finds
something writes one file, which is never changed.
"""

from __future__ import annotations

import io
import socket
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPException, responses
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from itertools import chain, zip_longest
from pathlib import Path
from threading import Event, Timer
from typing import Any, NamedTuple
from urllib.parse import urljoin

from msgspec import Struct
from msgspec.json import encode
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, LocationParseError, NewConnectionError
from urllib3.util import Retry, Url, parse_url

from esr.errors import EsrError, InputError, to_one_line
from esr.extras import require
from esr.hashing import hash64
from esr.loaders import feed, markup, page
from esr.loaders.fetching import SETTLED_SECONDS, FetchReport, read_state, write_file, write_state
from esr.loaders.format import Record, Source
from esr.text.validate import InvalidDocument, build_document
from esr.text.written_dates import to_iso_date

_MAX_REDIRECTS = 5
_MAX_ROBOTS_BYTES = 2**19
_MAX_PAUSE_SECONDS = 60
"""A site that asks for a longer pause is left for a later run."""
_MAX_LATER_SECONDS = 7 * 24 * 3600
"""A site cannot ask for a longer pause."""
_MAX_FAILURES = 3
"""After as many failures in a row, the run leaves a site alone."""
_REDIRECTS = (301, 302, 303, 307, 308)
_TEMPORARY = (429, 500, 502, 503, 504)
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True)
class WebOptions:
    """`delay` is in seconds between two requests to a site, `max_seconds` the limit of one response.

    `agent` is what the sites see, and what their robots.txt may name. A temporary failure is
    followed by `retries` more attempts. Of private networks, only `networks` may be connected to.
    """

    agent: str
    delay: float = 1.0
    max_seconds: float = 30.0
    retries: int = 2
    networks: tuple[IPv4Network | IPv6Network, ...] = ()


class NotFetched(InputError):
    """An address gave nothing. `status` is that of HTTP, 0 without one.

    `is_lasting`: another attempt would give the same, so it can wait.
    """

    def __init__(self, where: str, problem: str, status: int = 0, *, is_lasting: bool = False) -> None:
        super().__init__(where, problem)
        self.status = status
        self.is_lasting = is_lasting


class Answer(NamedTuple):
    """`status` is 200, or 304 if nothing has changed. `url` is the address after redirects."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def validators(self) -> dict[str, str]:
        """The headers of the next request for this address, for an answer only if it has changed."""
        names = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
        return {names[name]: self.headers[name] for name in names if self.headers.get(name)}


class Web:
    """One run's requests, with what it knows of each site.

    `retry_at` has the times, in seconds since 1970, before which sites asked not to be asked again. It may be
    kept for the next run.
    """

    def __init__(self, options: WebOptions, retry_at: Mapping[str, float]) -> None:
        self._options = options
        self.retry_at = {site: at for site, at in retry_at.items() if at > time.time()}
        self._robots: dict[str, Any] = {}
        self._delays: dict[str, float] = {}
        self._last_request: dict[str, float] = {}
        self._failures: Counter[str] = Counter()

    def get(
        self,
        url: str,
        max_bytes: int,
        validators: Mapping[str, str] | None = None,
        *,
        is_robots: bool = False,
    ) -> Answer:
        """Fetch an address, at most this many bytes of it. `is_robots`: without a look at robots.txt.

        Raises NotFetched.
        """
        target = url
        for _ in range(_MAX_REDIRECTS + 1):
            parsed = _parse(target)
            if not is_robots:
                self._check_robots(parsed)
            answer = self._ask(parsed, max_bytes, validators or {})
            if answer.status in (200, 304):
                return answer
            if answer.status not in _REDIRECTS or not answer.headers.get("location"):
                name = responses.get(answer.status, "is no answer")
                raise NotFetched(target, f"{answer.status} {name}", answer.status, is_lasting=True)
            target = join(target, answer.headers["location"])
        raise NotFetched(url, f"redirects more than {_MAX_REDIRECTS} times", is_lasting=True)

    # Robots

    def _check_robots(self, url: Url) -> None:
        """Raise NotFetched if robots.txt of the site forbids the address, or cannot be had."""
        site = _site(url)
        if site not in self._robots:
            self._robots[site] = self._read_robots(site)
        rules = self._robots[site]
        if isinstance(rules, NotFetched):
            problem = f"its robots.txt cannot be read: {rules.problem}"
            raise NotFetched(url.url, problem, is_lasting=rules.is_lasting)
        if not rules.can_fetch(url.url, self._options.agent):
            raise NotFetched(url.url, f"{site}/robots.txt forbids it", is_lasting=True)

    def _read_robots(self, site: str) -> Any:
        """The rules of a site, by RFC 9309: without a file, all is allowed; if it cannot be had, nothing."""
        from protego import Protego

        try:
            body = self.get(f"{site}/robots.txt", _MAX_ROBOTS_BYTES, is_robots=True).body
        except NotFetched as error:
            if not 400 <= error.status < 500 or error.status in _TEMPORARY:
                return error
            body = b""
        rules = Protego.parse(body.decode("utf-8-sig", "replace"))  # a byte order mark would hide a rule
        wanted = rules.crawl_delay(self._options.agent) or 0
        self._delays[site] = max(self._options.delay, min(wanted, _MAX_PAUSE_SECONDS))
        return rules

    # Attempts

    def _ask(self, url: Url, max_bytes: int, validators: Mapping[str, str]) -> Answer:
        """The answer to the first attempt that does not fail temporarily. Raises NotFetched."""
        site = _site(url)
        for attempt in range(self._options.retries + 1):
            pause = 0.0
            self._wait(url, site)
            try:
                answer = self._request(url, max_bytes, validators)
                if answer.status not in _TEMPORARY:
                    self._failures[site] = 0
                    return answer
                name = responses[answer.status]
                failure = NotFetched(url.url, f"{answer.status} {name}", answer.status)
                pause = self._read_pause(url, site, answer)
            except NotFetched as error:
                if not error.is_lasting:
                    self._failures[site] += 1
                raise
            except (HTTPError, HTTPException, OSError, ValueError) as error:
                failure = NotFetched(
                    url.url, f"cannot be fetched: {to_one_line(error) or type(error).__name__}"
                )
            if attempt < self._options.retries:
                time.sleep(max(pause, self._options.delay * 2**attempt))
        self._failures[site] += 1
        raise failure

    def _wait(self, url: Url, site: str) -> None:
        """Keep the delay of the site. Raises NotFetched if this run does not ask it any more."""
        if self._failures[site] >= _MAX_FAILURES:
            raise NotFetched(url.url, f"left for a later run: {site} failed {_MAX_FAILURES} times")
        if (at := self.retry_at.get(site, 0)) > time.time():
            until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
            raise NotFetched(url.url, f"left for a later run: {site} asks to wait until {until}")
        delay = self._delays.get(site, self._options.delay)
        time.sleep(max(0.0, self._last_request.get(site, -delay) + delay - time.monotonic()))
        self._last_request[site] = time.monotonic()

    def _read_pause(self, url: Url, site: str, answer: Answer) -> float:
        """The seconds to wait that the site asks for. Raises NotFetched if they are too many for this run."""
        header = answer.headers.get("retry-after")
        with suppress(HTTPError, ValueError, OverflowError):  # neither a number nor a date
            pause = min(Retry().parse_retry_after(header) if header else 0.0, _MAX_LATER_SECONDS)
            if pause > _MAX_PAUSE_SECONDS:
                self.retry_at[site] = time.time() + pause
                problem = f"{answer.status} {responses[answer.status]}: asks to wait {pause:,.0f} seconds"
                raise NotFetched(url.url, problem, answer.status)
            return pause
        return 0.0

    # Connections

    def _request(self, url: Url, max_bytes: int, validators: Mapping[str, str]) -> Answer:
        """One request. Raises NotFetched, and HTTPError, HTTPException or OSError if it fails."""
        is_late = Event()
        connection = self._connect(url)
        connected: Any = connection.sock  # which the connection forgets while an answer is read from it

        def stop() -> None:
            is_late.set()
            with suppress(OSError):  # as in TLS, which would keep others from reading meanwhile
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

        limit = self._options.max_seconds
        timer = Timer(limit, stop)
        timer.daemon = True
        timer.start()
        try:
            with closing(connection):
                return _read_answer(connection, url, max_bytes, {**self._headers(url), **validators}, is_late)
        except (HTTPError, HTTPException, OSError):
            if not is_late.is_set():
                raise
        except _Late:
            pass
        finally:
            timer.cancel()
        raise NotFetched(url.url, f"takes longer than {limit:g} seconds")

    def _headers(self, url: Url) -> dict[str, str]:
        return {
            "Host": url.netloc or "",
            "User-Agent": self._options.agent,
            "Accept": "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.5",
            "Accept-Encoding": "gzip",
            "Connection": "close",
        }

    def _connect(self, url: Url) -> HTTPConnection:
        """A connection to one of the site's allowed addresses. Raises NotFetched, HTTPError or OSError."""
        name = (url.host or "").strip("[]")
        port = url.port or (443 if url.scheme == "https" else 80)
        found = {str(info[4][0]): None for info in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)}
        addresses = [address for address in found if self._is_allowed(address)]
        if not addresses:
            problem = f"{', '.join(found)} is in a private network, which private-networks does not allow"
            raise NotFetched(url.url, problem, is_lasting=True)
        timeout = min(10.0, self._options.max_seconds)
        for address in addresses:
            connection = (
                HTTPSConnection(address, port, timeout=timeout, server_hostname=name)
                if url.scheme == "https"
                else HTTPConnection(address, port, timeout=timeout)
            )
            try:
                connection.connect()
                return connection
            except (NewConnectionError, ConnectTimeoutError) as error:
                failure: Exception = error
        raise failure

    def _is_allowed(self, text: str) -> bool:
        address = ip_address(text)
        return is_public(address) or any(address in network for network in self._options.networks)


class _Late(Exception):
    """The answer was cut off since it took too long."""


class _Gzip:
    """Unpacks an answer. urllib3, which can do so too, takes one that was cut off for complete."""

    def __init__(self, max_bytes: int) -> None:
        self._unpacker = zlib.decompressobj(31)
        self._most = max_bytes + 1

    def __call__(self, data: bytes) -> bytes:
        """The bytes that these add, as far as the limit. Raises HTTPError."""
        unpacked = b""
        try:
            while data and len(unpacked) < self._most:
                if self.is_complete:  # some servers pack an answer piece by piece
                    self._unpacker = zlib.decompressobj(31)
                unpacked += self._unpacker.decompress(data, self._most)
                data = self._unpacker.unused_data
        except zlib.error as error:
            raise HTTPError(f"it cannot be unpacked ({error})") from None
        return unpacked

    @property
    def is_complete(self) -> bool:
        return self._unpacker.eof


def _read_answer(
    connection: HTTPConnection, url: Url, max_bytes: int, headers: Mapping[str, str], is_late: Event
) -> Answer:
    connection.request("GET", url.request_uri, headers=headers, preload_content=False)
    response = connection.getresponse()
    body = bytearray()
    unpack = _Gzip(max_bytes) if response.headers.get("Content-Encoding", "").strip() == "gzip" else bytes
    with closing(response):
        while response.status == 200 and (chunk := response.read(2**16, decode_content=unpack is bytes)):
            body += unpack(chunk)
            if len(body) > max_bytes:
                problem = f"is longer than {max_bytes / 2**20:g} MiB"
                raise NotFetched(url.url, problem, is_lasting=True)
    if is_late.is_set():  # without a length, its end looks like that of the body
        raise _Late
    if isinstance(unpack, _Gzip) and body and not unpack.is_complete:
        raise HTTPError("it was cut off: the end of its gzip is missing")
    known = {name.lower(): value for name, value in response.headers.items()}
    return Answer(url.url, response.status, known, bytes(body))


def join(base: str, link: str) -> str:
    """The address that a link leads to. One that is none stays as it is, and fetching it says so."""
    try:
        return urljoin(base, link)
    except ValueError:
        return link


def _parse(url: str) -> Url:
    """The parts of an address of HTTP, normalised and without its fragment. Raises NotFetched."""
    try:
        parsed = parse_url(url)
    except LocationParseError:
        parsed = Url()
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.auth:
        problem = "is no address of the web (http or https, without a user and a password)"
        raise NotFetched(to_one_line(url), problem, is_lasting=True)
    return parsed._replace(fragment=None)


def _site(url: Url) -> str:
    return f"{url.scheme}://{url.netloc}"


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is of the public internet. IPv4 addresses inside of IPv6 ones are looked at."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


# Feeds and sitemaps


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
            is_feed = feed.FORMAT.sniff(body[:4096].lstrip())
            try:
                results = [*feed.read(Source(url, url, io.BytesIO(body)))]
            except InputError:
                if is_feed:
                    raise
                results = []
            for record in results:
                if isinstance(record, Record) and record.fields["url"]:
                    _add(listing, answer.url, record.fields["url"], record.fields)
            if not results and not is_feed:
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
