"""Fetches feeds and sitemaps, and the articles that they list, within limits and by robots.txt.

Private networks are not accessed unless the options allow it. A host name is resolved once, its addresses are
checked, and the connection uses one of these, which prevents DNS rebinding. Each redirect is a new request
with all checks.

New and changed articles are kept in a folder as JSON Lines. Each fetch that finds any writes one file, which
is never changed.
"""

from __future__ import annotations

import gzip
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
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from msgspec import Struct
from msgspec.json import encode
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, LocationParseError, NewConnectionError
from urllib3.util import Retry, Url, parse_url

from esr.plugin import (
    SETTLED_SECONDS,
    EsrError,
    FetchReport,
    InputError,
    Record,
    Source,
    read_state,
    to_iso_date,
    to_one_line,
    write_file,
    write_state,
)
from esr.plugin.provisional import (
    MAX_FEED_BYTES,
    InvalidDocument,
    Repeated,
    build_document,
    extract_article,
    hash64,
    html_tree,
    import_lazily,
    is_feed,
    markup,
    read_feed,
    require,
)

if TYPE_CHECKING:
    import courlan
    import protego
else:
    courlan = import_lazily("courlan")
    protego = import_lazily("protego")

_MAX_REDIRECTS = 5
_MAX_ROBOTS_BYTES = 2**19
_MAX_PAUSE_SECONDS = 60
"""Maximum pause within a run. A site that asks for a longer one is left for a later run."""
_MAX_LATER_SECONDS = 7 * 24 * 3600
"""Maximum pause between runs; longer ones that a site asks for are shortened."""
_MAX_FAILURES = 3
"""Consecutive failures after which the run skips a site."""
_REDIRECTS = (301, 302, 303, 307, 308)
_TEMPORARY = (429, 500, 502, 503, 504)
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True)
class WebOptions:
    """`delay` is the time between two requests to a site, `max_seconds` the limit of a response, in seconds.

    `agent` is the User-Agent, which robots.txt may name. A temporary failure is followed by up to `retries`
    further attempts. Of private networks, only `networks` may be connected to.
    """

    agent: str
    delay: float = 1.0
    max_seconds: float = 30.0
    retries: int = 2
    networks: tuple[IPv4Network | IPv6Network, ...] = ()


class NotFetched(InputError):
    """An address could not be fetched. `status` is that of HTTP, 0 without a response.

    `is_lasting`: whether another attempt would give the same result, so that it can wait.
    """

    def __init__(self, where: str, problem: str, status: int = 0, *, is_lasting: bool = False) -> None:
        super().__init__(where, problem)
        self.status = status
        self.is_lasting = is_lasting


class Answer(NamedTuple):
    """A response. `status` is 200, or 304 if nothing has changed. `url` is the address after redirects."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def validators(self) -> dict[str, str]:
        """The headers that make the next request for this address conditional on a change."""
        names = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
        return {names[name]: self.headers[name] for name in names if self.headers.get(name)}


class Web:
    """The requests of one run, and the state of each site.

    `retry_at` has the times, in seconds since 1970, before which sites asked for no further request. It may
    be kept for the next run.
    """

    def __init__(self, options: WebOptions, retry_at: Mapping[str, float]) -> None:
        self._options = options
        self.retry_at: dict[str, float] = {site: at for site, at in retry_at.items() if at > time.time()}
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
        """Fetch at most `max_bytes` of an address. `is_robots`: whether robots.txt is not checked.

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
        """Raise NotFetched if robots.txt of the site forbids the address, or cannot be fetched."""
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
        """The rules of a site by RFC 9309: all is allowed without a file, nothing if it cannot be fetched."""
        try:
            body = self.get(f"{site}/robots.txt", _MAX_ROBOTS_BYTES, is_robots=True).body
        except NotFetched as error:
            if not 400 <= error.status < 500 or error.status in _TEMPORARY:
                return error
            body = b""
        # A byte order mark would hide a rule.
        rules = protego.Protego.parse(body.decode("utf-8-sig", "replace"))
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
        """Wait for the delay of the site. Raises NotFetched if this run skips the site."""
        if self._failures[site] >= _MAX_FAILURES:
            raise NotFetched(url.url, f"left for a later run: {site} failed {_MAX_FAILURES} times")
        if (at := self.retry_at.get(site, 0)) > time.time():
            until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
            raise NotFetched(url.url, f"left for a later run: {site} asks to wait until {until}")
        delay = self._delays.get(site, self._options.delay)
        time.sleep(max(0.0, self._last_request.get(site, -delay) + delay - time.monotonic()))
        self._last_request[site] = time.monotonic()

    def _read_pause(self, url: Url, site: str, answer: Answer) -> float:
        """The seconds that the site asks to wait. Raises NotFetched if they are too many for this run."""
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
        connection = self._connect(url)
        connected: Any = connection.sock  # the connection drops it while a response is read

        def stop() -> None:
            with suppress(OSError):  # as in TLS, which would keep others from reading meanwhile
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

        limit = self._options.max_seconds
        headers = {**self._headers(url), **validators}
        with Repeated(limit, stop) as timer:
            try:
                with closing(connection):
                    return _read_answer(connection, url, max_bytes, headers, timer)
            except (HTTPError, HTTPException, OSError):
                if not timer.has_run:
                    raise
            except _Late:
                pass
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
        """A connection to an allowed address of the site. Raises NotFetched, HTTPError or OSError."""
        name = (url.host or "").strip("[]")
        port = url.port or (443 if url.scheme == "https" else 80)
        resolved = {str(info[4][0]): None for info in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)}
        addresses = [address for address in resolved if self._is_allowed(address)]
        if not addresses:
            problem = f"{', '.join(resolved)} is in a private network, which private-networks does not allow"
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
    """The response took too long and was cut off."""


class _Gzip:
    """Unpacks a response. urllib3 would take a truncated one for complete."""

    def __init__(self, max_bytes: int) -> None:
        self._unpacker = zlib.decompressobj(31)
        self._most = max_bytes + 1

    def __call__(self, data: bytes) -> bytes:
        """The unpacked bytes of `data`, up to the limit. Raises HTTPError."""
        unpacked = b""
        try:
            while data and len(unpacked) < self._most:
                if self.is_complete:  # some servers send several gzip members
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
    connection: HTTPConnection, url: Url, max_bytes: int, headers: Mapping[str, str], timer: Repeated
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
    if timer.has_run:  # without a length, this looks like the end of the body
        raise _Late
    if isinstance(unpack, _Gzip) and body and not unpack.is_complete:
        raise HTTPError("it was cut off: the end of its gzip is missing")
    known = {name.lower(): value for name, value in response.headers.items()}
    return Answer(url.url, response.status, known, bytes(body))


def join(base: str, link: str) -> str:
    """The absolute address of a link. An invalid link is unchanged, and fetching it will fail."""
    try:
        return urljoin(base, link)
    except ValueError:
        return link


def _parse(url: str) -> Url:
    """The parts of an HTTP address, normalised and without its fragment. Raises NotFetched."""
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
    """Whether an address is on the public internet. IPv4 addresses embedded in IPv6 ones are checked too."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


# Feeds and sitemaps


_MAX_SITEMAPS = 200
"""Maximum number of sitemaps read from an index of sitemaps."""
_PAGES = ("text/html", "application/xhtml+xml", "")
_OF_FEEDS = ("title", "date", "authors", "keywords", "language")
"""Fields that an article takes from its feed if its page does not have them."""


@dataclass(frozen=True)
class FeedOptions:
    """Limits: `max_articles` are fetched per run, and listed ones again only after `recheck_hours`."""

    web: WebOptions
    max_articles: int = 500
    recheck_hours: float = 6.0


class _Listing(Struct):
    """The last state of a feed: the fields of its articles by address, and the sitemaps that it names."""

    validators: dict[str, str] = {}
    entries: dict[str, dict[str, Any]] = {}
    sitemaps: list[str] = []


class _Article(Struct):
    """The state of an article. Times are in seconds since 1970; a missing hash is "".

    `listed` is the hash of its entry in the feed at the time of fetching, "" after a temporary failure.
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
        """The entries of all feeds and of the sitemaps that they name. Drops the state of unlisted ones."""
        pending = [*self._urls]
        listed: dict[str, dict[str, Any]] = {}
        for url in pending:  # grows during the loop
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
        answer = self._web.get(url, MAX_FEED_BYTES, known.validators)
        if answer.status == 304:
            return known
        body = _unpack(answer)
        listing = _Listing(answer.validators)
        if b"<urlset" in body[:4096] or b"<sitemapindex" in body[:4096]:
            _read_sitemap(answer.url, body, listing)
        else:
            has_items = is_feed(body[:4096].lstrip())
            try:
                results = [*read_feed(Source(url, url, io.BytesIO(body)))]
            except InputError:
                if has_items:
                    raise
                results = []
            for record in results:
                if isinstance(record, Record) and record.fields["url"]:
                    _add(listing, answer.url, record.fields["url"], record.fields)
            if not results and not has_items:
                raise InputError(url, "is neither a feed nor a sitemap")
            if results and not listing.entries:
                raise InputError(url, "its entries have no address of an article")
        return listing

    def _find_due(self, listed: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """The articles to fetch: new ones, then changed ones, then those not fetched for a long time."""
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
        return [url for _, _, url in sorted(due, key=lambda entry: entry[:2])]

    # Articles

    def _fetch_article(self, url: str, entry: Mapping[str, Any]) -> None:
        """Fetch an article and keep it if it is new or has changed. Raises InputError."""
        known = self.state.articles.get(url, _Article(0))
        answer = self._web.get(entry["link"], html_tree.MAX_PAGE_BYTES, known.validators)
        content = known.content
        if answer.status == 200:
            line = build_line(url, entry, answer)
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
    """The error of an address, which may have been redirected, as a message."""
    return str(error) if error.where.startswith(url) else f"{url} leads to {error}"


def build_line(url: str, entry: Mapping[str, Any], answer: Answer) -> bytes:
    """The article of a page as a line of JSON. Raises InputError if there is none."""
    if answer.content_type not in _PAGES:
        raise InputError(answer.url, f"is {answer.content_type[:60]!r}, not a page of HTML")
    try:
        fields = extract_article(answer.body, url, answer.headers.get("content-type", ""))
        fields.pop("author", None)
        fields |= {name: entry[name] for name in _OF_FEEDS if entry.get(name) and not fields.get(name)}
        build_document({**fields, "id": "any"})
    except (html_tree.NoArticle, InvalidDocument) as error:
        raise InputError(answer.url, str(error)) from None
    return encode(fields) + b"\n"


def _read_sitemap(where: str, body: bytes, listing: _Listing) -> None:
    """Add the entries of a sitemap by sitemaps.org and Google's news extension. Raises InputError."""
    source = Source(where, where, io.BytesIO(body))
    for element in markup.iterate_elements(source, frozenset(("url", "sitemap"))):
        parents = [element, *markup.find_all(element, "news")]  # other children have addresses of pictures
        texts = {markup.local_name(child): markup.to_line(child) for parent in parents for child in parent}
        link = texts.get("loc")
        if not link:  # joined, it would be the address of the sitemap
            continue
        if markup.local_name(element) == "url":
            date = to_iso_date(texts.get("publication_date", ""))
            fields = {"title": texts.get("title"), "date": date, "lastmod": texts.get("lastmod")}
            _add(listing, where, link, fields)
        elif len(listing.sitemaps) < _MAX_SITEMAPS:
            listing.sitemaps.append(join(where, link))


def _add(listing: _Listing, base: str, link: str, fields: Mapping[str, Any]) -> None:
    """Add an article under its address without tracking parameters, so that feeds share it."""
    link = join(base, link).partition("#")[0]
    try:
        url = courlan.normalize_url(link)
    except ValueError:  # not an address
        url = link
    entry = {"link": link, "seen": _hash(fields), **{name: fields.get(name) for name in _OF_FEEDS}}
    listing.entries.setdefault(url, entry)


def _unpack(answer: Answer) -> bytes:
    """The body of a feed, unpacked if it is a gzip file. Raises InputError."""
    if not answer.body.startswith(b"\x1f\x8b"):
        return answer.body
    try:
        with gzip.open(io.BytesIO(answer.body)) as file:  # reads all members, as zlib alone does not
            body = file.read(MAX_FEED_BYTES + 1)
    except EOFError:
        raise InputError(answer.url, "was cut off: the end of its gzip is missing") from None
    except (OSError, zlib.error) as error:
        raise InputError(answer.url, f"cannot be unpacked ({error})") from None
    if len(body) > MAX_FEED_BYTES:
        raise InputError(answer.url, f"unpacks to more than {MAX_FEED_BYTES // 2**20} MiB")
    return body


def _hash(value: Any) -> str:
    text = value.decode() if isinstance(value, bytes) else encode(value).decode()
    return f"{hash64(text):016x}"


def _interleave(urls: Iterable[str]) -> Iterator[str]:
    """The addresses in an order that spreads those of a site, so that its delay passes with other sites."""
    sites: dict[str, list[str]] = {}
    for url in urls:
        sites.setdefault("/".join(url.split("/")[:3]), []).append(url)
    return (url for url in chain.from_iterable(zip_longest(*sites.values())) if url is not None)
