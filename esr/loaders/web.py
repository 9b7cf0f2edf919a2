"""Fetches addresses of the web: politely, within limits, and never from private networks unasked.

A name is resolved once, its addresses are checked, and one of those is connected to: no second answer of the
name server can lead elsewhere. Each redirect is a request of its own, with all checks.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPException, responses
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from threading import Event, Timer
from typing import Any, NamedTuple
from urllib.parse import urljoin

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, LocationParseError, NewConnectionError
from urllib3.util import Retry, Url, parse_url

from esr.errors import InputError, to_one_line

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
        rules = Protego.parse(body.decode("utf-8", "replace"))
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
            "Accept-Encoding": "gzip, deflate",
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


def _read_answer(
    connection: HTTPConnection, url: Url, max_bytes: int, headers: Mapping[str, str], is_late: Event
) -> Answer:
    connection.request("GET", url.request_uri, headers=headers, preload_content=False)
    response = connection.getresponse()
    body = bytearray()
    with closing(response):
        while response.status == 200 and (chunk := response.read(2**16)):
            body += chunk
            if len(body) > max_bytes:
                problem = f"is longer than {max_bytes / 2**20:g} MiB"
                raise NotFetched(url.url, problem, is_lasting=True)
    if is_late.is_set():  # without a length, its end looks like that of the body
        raise _Late
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
