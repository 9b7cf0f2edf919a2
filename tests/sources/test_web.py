"""Feeds of the web, from a site that misbehaves: what is fetched, what is refused, and what is told."""

from __future__ import annotations

import gzip
import json
import socket
import time
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest

from esr.errors import EsrError
from esr.loaders.fetching import FetchReport
from esr.sources import web as web_loader
from esr.sources.web import FeedOptions, NotFetched, Web, WebFeeds, WebOptions, is_public
from tests.support.certificates import make_certificate
from tests.support.web_servers import (
    Site,
    answer,
    article,
    bomb,
    dripping,
    dripping_body,
    endless,
    in_turn,
    rss,
    serve_site,
    validated,
)

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {
    "agent": "esr/test",
    "delay": 0.0,
    "max_seconds": 10.0,
    "networks": (ip_network("127.0.0.1/32"),),
}


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as site:
        yield site


def web(**options: Any) -> Web:
    return Web(WebOptions(**OPTIONS | options), {})


def refusal(url: str, limit: int = 2**20, **options: Any) -> str:
    """The problem with an address, without the address."""
    with pytest.raises(NotFetched) as caught:
        web(**options).get(url, limit)
    return caught.value.problem


class Reader:
    """Fetches the feed of a site, as one run after another would."""

    def __init__(self, site: Site, folder: Path, *paths: str) -> None:
        self.site, self.folder = site, folder
        self.urls = [site.url + path for path in paths or ["/feed"]]

    def fetch(self, recheck_hours: float = 0, max_articles: int = 100, **options: Any) -> FetchReport:
        self.site.requests.clear()
        self.site.headers.clear()
        feed_options = FeedOptions(WebOptions(**OPTIONS | options), max_articles, recheck_hours)
        return WebFeeds(self.urls, self.folder, feed_options).fetch()

    def counts(self, **options: Any) -> tuple[int, ...]:
        """Articles that are new, changed and unchanged, problems, and those left."""
        report = self.fetch(**options)
        return report.new, report.changed, report.unchanged, len(report.problems), report.left

    def articles(self) -> list[dict[str, Any]]:
        files = sorted(self.folder.glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.fixture
def reader(site: Site, tmp_path: Path) -> Reader:
    return Reader(site, tmp_path / "articles")


# One response


@pytest.mark.parametrize("page", [dripping, dripping_body])
def test_a_slow_answer_is_cut_off(site: Site, page: Any) -> None:
    site.pages["/"] = page
    """Without that, it would never end."""
    assert refusal(site.url, max_seconds=0.3, retries=0) == "takes longer than 0.3 seconds"


@pytest.mark.parametrize("page", [endless, bomb])
def test_an_endless_answer_and_a_bomb_of_gzip_end_at_the_limit(site: Site, page: Any) -> None:
    site.pages["/"] = page
    assert refusal(site.url) == "is longer than 1 MiB"
    assert site.requests == ["/robots.txt", "/"]


@pytest.mark.parametrize("end", [1, 9, 500])
def test_a_packed_answer_that_was_cut_off_is_no_page(site: Site, end: int) -> None:
    packed = gzip.compress(b"".join(b"<p>Sentence %d.</p>" % n for n in range(999)))
    site.pages["/"] = answer(packed[:-end], content_encoding="gzip")
    assert "it was cut off" in refusal(site.url, retries=0, limit=2**20)
    site.pages["/"] = answer(packed, content_encoding="gzip")
    assert web().get(site.url, 2**20).body.endswith(b"<p>Sentence 998.</p>")
    site.pages["/"] = answer(b"not packed", content_encoding="gzip")
    assert "it cannot be unpacked" in refusal(site.url, retries=0)


@pytest.mark.parametrize("words", [1, 99_999])
def test_an_answer_that_was_packed_piece_by_piece_is_read_whole(site: Site, words: int) -> None:
    pieces = [b"<p>A storm.</p>", " ".join(map(str, range(words))).encode(), b"<p>It rained.</p>"]
    packed = b"".join(map(gzip.compress, pieces))
    site.pages["/"] = answer(packed, content_encoding="gzip")
    assert web().get(site.url, 2**20).body == b"".join(pieces)
    site.pages["/"] = answer(packed[:-9], content_encoding="gzip")
    assert "it was cut off" in refusal(site.url, retries=0, limit=2**20)


def test_redirects_are_followed_and_circles_are_not(site: Site) -> None:
    site.pages |= {"/a": answer(status=301, location="/b"), "/b": answer("text")}
    assert web().get(f"{site.url}/a", 9).url == f"{site.url}/b"
    site.pages["/b"] = answer(status=302, location=f"{site.url}/a")
    assert refusal(f"{site.url}/a") == "redirects more than 5 times"


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "http://["]
)
def test_a_redirect_to_what_is_no_address_of_the_web_is_refused(site: Site, target: str) -> None:
    site.pages["/"] = answer(status=302, location=target)
    assert refusal(site.url).startswith("is no address of the web")


def test_a_redirect_into_a_private_network_is_refused_before_anything_is_sent(site: Site) -> None:
    site.pages |= {"/": answer(status=302, location=f"http://127.0.0.2:{site.port}/secret")}
    site.pages["/secret"] = answer("secret")
    assert "127.0.0.2 is in a private network" in refusal(site.url)
    assert site.requests == ["/robots.txt", "/"]
    assert web(networks=(ip_network("127.0.0.0/8"),)).get(site.url, 9).body == b"secret"


def test_the_address_that_was_checked_is_the_one_that_is_asked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server of the attacker gives a public address first, and then one of the operator's network."""
    resolve = socket.getaddrinfo
    given = {"rebinding.example": ["127.0.0.1", "127.0.0.2"], "intranet.example": ["127.0.0.2"]}

    def answer_in_turn(name: Any, *args: Any, **options: Any) -> Any:
        addresses = given.get(name, [name])
        return resolve(addresses.pop(0) if len(addresses) > 1 else addresses[0], *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answer_in_turn)
    site.pages["/"] = lambda handler: answer(handler.connection.getsockname()[0])(handler)
    rebound = web().get(f"http://rebinding.example:{site.port}/", 99, is_robots=True)
    assert rebound.body == b"127.0.0.1"
    assert site.headers[-1]["Host"] == f"rebinding.example:{site.port}"
    assert "127.0.0.2 is in a private network" in refusal(f"http://intranet.example:{site.port}/")


def test_a_site_needs_the_certificate_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = socket.getaddrinfo
    names = {"news.example": "127.0.0.1", "other.example": "127.0.0.1"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda name, *args, **o: resolve(names.get(name, name), *args, **o)
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with serve_site(make_certificate("news.example", tmp_path / "certificate.pem")) as site:
        site.pages["/"] = answer("safe")
        assert web().get(f"https://news.example:{site.port}/", 9).body == b"safe"
        assert "certificate" in refusal(f"https://other.example:{site.port}/", retries=0)


PRIVATE = """
127.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255
::1 :: fe80::1 fc00::1 ff02::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1:: 2001:db8::1
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private_addresses_are_no_public_ones(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::808:808"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


# Manners


@pytest.mark.parametrize(
    ("path", "rules"), [("/closed/a", "Disallow: /closed"), ("/x/a.php", "Disallow: /*.php$\nAllow: /x/a")]
)
def test_what_robots_forbid_is_not_asked_for(site: Site, path: str, rules: str) -> None:
    site.pages |= {"/robots.txt": answer(f"User-agent: *\n{rules}\n"), path: answer("a")}
    site.pages["/open"] = answer("b")
    assert refusal(site.url + path) == f"{site.url}/robots.txt forbids it"
    assert site.requests == ["/robots.txt"]
    assert web().get(f"{site.url}/open", 9).body == b"b"
    site.pages["/robots.txt"] = answer(f"User-agent: *\n{rules}\n\nUser-agent: esr\nDisallow:\n")
    assert web().get(site.url + path, 9).body == b"a"
    site.pages["/robots.txt"] = answer(f"\ufeffUser-agent: *\n{rules}\n")
    assert refusal(site.url + path) == f"{site.url}/robots.txt forbids it"


def test_without_an_answer_about_robots_nothing_is_asked_for(site: Site) -> None:
    site.pages |= {"/robots.txt": answer(status=503), "/": answer("a")}
    assert refusal(site.url, retries=0) == "its robots.txt cannot be read: 503 Service Unavailable"
    assert site.requests == ["/robots.txt"]


def test_requests_to_a_site_keep_its_delay(site: Site) -> None:
    site.pages |= {"/robots.txt": answer("User-agent: *\nCrawl-delay: 0.2\n"), "/": answer("a")}
    patient = web(delay=0.1)
    started = time.monotonic()
    for _ in range(3):
        patient.get(site.url, 9)
    assert time.monotonic() - started >= 0.6


def test_a_failing_site_is_asked_again_and_then_left_alone(site: Site) -> None:
    site.pages["/"] = in_turn(answer(status=500), answer(status=502), answer("a"))
    patient = web(retries=2)
    assert patient.get(site.url, 9).body == b"a"
    site.pages["/"] = answer(status=503)
    for _ in range(3):
        with pytest.raises(NotFetched, match="503 Service Unavailable"):
            patient.get(site.url, 9)
    site.requests.clear()
    with pytest.raises(NotFetched, match=r"left for a later run: .* failed 3 times"):
        patient.get(site.url, 9)
    assert site.requests == []


def test_a_short_pause_that_a_site_asks_for_is_kept(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    site.pages["/"] = in_turn(
        *[answer(status=429, retry_after=pause) for pause in ("soon", "1")], answer("a")
    )
    assert web().get(site.url, 9).body == b"a"
    assert max(pauses) == 1.0


def test_a_long_pause_that_a_site_asks_for_is_kept_in_later_runs_too(site: Site, reader: Reader) -> None:
    site.pages["/feed"] = answer(status=429, retry_after="3600")
    (failed,) = reader.fetch().failed
    assert failed == f"{site.url}/feed: 429 Too Many Requests: asks to wait 3,600 seconds"
    (failed,) = reader.fetch().failed
    assert "left for a later run" in failed and "asks to wait until" in failed
    assert "/feed" not in site.requests
    other = Reader(site, reader.folder.with_name("other"))
    site.pages["/feed"] = answer(status=429, retry_after="9" * 30)
    assert "429 Too Many Requests: asks to wait " in other.fetch().failed[0]
    assert "asks to wait until" in other.fetch().failed[0]


def test_a_damaged_record_of_what_was_fetched_is_named(site: Site, reader: Reader) -> None:
    site.put_feed("a")
    reader.fetch()
    (reader.folder / ".state.json").write_text("{")
    with pytest.raises(
        EsrError, match=r"\.state\.json cannot be read .*: delete it, and all is fetched again"
    ):
        reader.fetch()


# Feeds and their articles


def test_articles_are_fetched_once_and_take_what_they_lack_from_the_feed(site: Site, reader: Reader) -> None:
    item = (
        "<item><link>/a?utm_source=rss&amp;x=1#top</link><pubDate>Mon, 02 Mar 2026 06:00:00 GMT</pubDate>"
        "<category>Weather</category></item>"
    )
    site.pages |= {"/feed": answer(rss().replace("</channel>", f"{item}</channel>"))}
    site.pages["/a?utm_source=rss&x=1"] = answer(article("Hail came."))
    assert reader.counts(recheck_hours=6) == (1, 0, 0, 0, 0)
    (found,) = reader.articles()
    assert found["url"] == f"{site.url}/a?x=1" and found["title"] == "A storm passes"
    assert found["date"] == "2026-03-02T06:00:00+00:00" and found["keywords"] == ["Weather"]
    assert found["text"].startswith("Hail came.") and "Sports" not in found["text"]
    assert reader.counts(recheck_hours=6) == (0, 0, 0, 0, 0)
    assert site.requests == ["/robots.txt", "/feed"]


def test_an_article_has_the_encoding_that_its_site_states(site: Site, reader: Reader) -> None:
    site.put_feed("a")
    page = article("Łódź płynie.").encode("iso-8859-2")
    site.pages["/a"] = answer(page, kind="text/html; charset=iso-8859-2")
    assert reader.counts() == (1, 0, 0, 0, 0)
    assert reader.articles()[0]["text"].startswith("Łódź płynie.")


def test_what_has_not_changed_is_not_sent_again(site: Site, reader: Reader) -> None:
    site.pages["/feed"] = validated(rss("a"), '"1"', "application/rss+xml")
    site.pages["/a"] = validated(article("Hail came."), '"2"')
    assert reader.counts() == (1, 0, 0, 0, 0)
    assert reader.counts() == (0, 0, 1, 0, 0)
    assert [headers.get("If-None-Match") for headers in site.headers] == [None, '"1"', '"2"']
    dated = {"last_modified": "Mon, 02 Mar 2026 06:00:00 GMT"}
    site.pages["/feed"] = answer(rss("a"), kind="application/rss+xml", **dated)
    assert reader.counts() == (0, 0, 1, 0, 0)
    reader.fetch()
    assert site.headers[1]["If-Modified-Since"] == dated["last_modified"]


def test_a_changed_article_is_kept_again(site: Site, reader: Reader) -> None:
    site.put_feed("a", "b")
    assert reader.counts() == (2, 0, 0, 0, 0)
    site.pages["/a"] = answer(article("Hail was near."))
    assert reader.counts() == (0, 1, 1, 0, 0)
    assert [each["text"][:9] for each in reader.articles()] == ["a came. I", "b came. I", "Hail was "]
    assert len({each["url"] for each in reader.articles()}) == 2
    site.pages["/feed"] = answer(rss("a", "b", title="Corrected"))
    reader.fetch(recheck_hours=6)
    assert site.requests == ["/robots.txt", "/feed", "/a", "/b"]


def test_a_run_asks_for_so_many_articles_and_later_ones_for_the_rest(site: Site, reader: Reader) -> None:
    site.pages["/feed"] = validated(rss(*"abcde"), '"1"')
    for name in "abcde":
        site.pages[f"/{name}"] = answer(article(f"{name} came."))
    assert reader.counts(max_articles=2, recheck_hours=6) == (2, 0, 0, 0, 3)
    assert reader.counts(max_articles=2, recheck_hours=6) == (2, 0, 0, 0, 1)
    assert reader.counts(max_articles=2, recheck_hours=6) == (1, 0, 0, 0, 0)
    assert sorted(each["text"][0] for each in reader.articles()) == [*"abcde"]


def test_what_is_gone_or_no_page_is_told_and_stops_nothing(site: Site, reader: Reader) -> None:
    site.put_feed("gone", "lost", "pdf", "empty", "broken", "good", "http://[")
    site.pages |= {"/gone": answer(status=410), "/lost": answer(status=404)}
    site.pages |= {"/pdf": answer("%PDF", kind="application/pdf"), "/empty": answer("<html></html>")}
    site.pages["/broken"] = answer(status=500)
    report = reader.fetch(retries=0)
    assert report.new == 1 and not report.failed
    assert {problem.removeprefix(f"{site.url}/") for problem in report.problems} == {
        "gone: 410 Gone",
        "lost: 404 Not Found",
        "pdf: is 'application/pdf', not a page of HTML",
        "empty: the page contains no text of an article: leave it out",
        "broken: 500 Internal Server Error",
        "http://[: is no address of the web (http or https, without a user and a password)",
    }
    reader.fetch(recheck_hours=6, retries=0)
    assert site.requests == ["/robots.txt", "/feed", "/broken"]
    reader.fetch()
    assert "/gone" not in site.requests and "/lost" in site.requests


def test_a_failing_feed_does_not_stop_the_others(site: Site, reader: Reader) -> None:
    reader.urls = [
        f"{site.url}/{name}" for name in ("none", "page", "json", "empty", "broken", "moved", "feed")
    ]
    site.put_feed("a")
    site.pages |= {"/page": answer(article("No feed.")), "/json": answer('{"items": []}'), "/empty": answer()}
    site.pages["/broken"] = answer(rss("b").replace("</channel></rss>", ""))
    site.pages["/moved"] = answer(status=301, location="/none")
    report = reader.fetch()
    assert (report.places, report.new) == (7, 1)
    none, page, other, empty, broken, moved = (
        failed.removeprefix(f"{site.url}/") for failed in report.failed
    )
    assert none == "none: 404 Not Found"
    assert page == "page: is neither a feed nor a sitemap"
    assert other == "json: is neither a feed nor a sitemap"
    assert moved == f"moved leads to {site.url}/none: 404 Not Found"
    assert empty.startswith("empty: ") and broken.startswith("broken") and "broken feed" in broken


def test_sitemaps_are_read_with_those_that_they_name(site: Site, reader: Reader) -> None:
    names = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:n="urn:news" xmlns:i="urn:image"'
    news = "<n:news><n:publication_date>2026-03-02</n:publication_date><n:title>Hail</n:title></n:news>"
    picture = "<i:image><i:loc>/p</i:loc></i:image>"
    index = f"<sitemapindex {names}><sitemap><loc>/inner.xml.gz</loc></sitemap></sitemapindex>"
    site.pages["/feed"] = answer(index)
    inner = f"<urlset {names}><url><loc>/a</loc>{news}{picture}</url></urlset>"
    site.pages["/inner.xml.gz"] = answer(gzip.compress(inner.encode()), kind="application/gzip")
    site.pages["/a"] = answer(article("Hail came."))
    assert reader.counts() == (1, 0, 0, 0, 0)
    (found,) = reader.articles()
    assert (found["url"], found["date"]) == (f"{site.url}/a", "2026-03-02")
    site.pages["/inner.xml.gz"] = answer(gzip.compress(bytes(2**25), 9))
    (failed,) = reader.fetch().failed
    assert failed.endswith("inner.xml.gz: unpacks to more than 16 MiB")


def test_a_sitemap_of_several_gzip_members_is_read_whole_and_a_cut_one_is_told(
    site: Site, reader: Reader
) -> None:
    addresses = b"<url><loc>/a</loc></url>", b"<url><loc>/b</loc></url>"
    parts = b"<urlset>" + addresses[0], addresses[1] + b"</urlset>"
    packed = b"".join(map(gzip.compress, parts))
    site.pages |= {f"/{name}": answer(article(f"{name} came.")) for name in "ab"}
    for end in (b"", bytes(512)):  # a file may be padded with zeros
        site.pages["/feed"] = answer(packed + end, kind="application/gzip")
        reader.fetch()
        assert [each["text"][0] for each in reader.articles()] == ["a", "b"]
    for cut in (packed[:-1], packed[:-20], gzip.compress(parts[0])[:-4]):
        site.pages["/feed"] = answer(cut, kind="application/gzip")
        report = reader.fetch()
        assert report.failed == [f"{site.url}/feed: was cut off: the end of its gzip is missing"]
        assert report.unchanged == 2  # what was listed last is kept
    site.pages["/feed"] = answer(packed + b"other", kind="application/gzip")
    assert "cannot be unpacked" in reader.fetch().failed[0]


@pytest.mark.parametrize("link", ["<loc/>", "<loc> \n </loc>", ""])
def test_an_entry_of_a_sitemap_without_an_address_is_left_out(site: Site, reader: Reader, link: str) -> None:
    site.pages["/feed"] = answer(f"<urlset><url>{link}</url><url><loc>/a</loc></url></urlset>")
    site.pages["/a"] = answer(article("Hail came."))
    assert reader.counts() == (1, 0, 0, 0, 0)
    site.pages["/feed"] = answer(f"<sitemapindex><sitemap>{link}</sitemap></sitemapindex>")
    assert reader.fetch().places == 1
    assert site.requests == ["/robots.txt", "/feed"]


def test_a_run_that_is_stopped_keeps_what_it_has_fetched(site: Site, reader: Reader) -> None:
    site.put_feed("a", "b")

    class Stop(BaseException):
        pass

    def stop(*_: Any) -> None:
        raise Stop

    with pytest.MonkeyPatch.context() as patch:
        builds = [web_loader.build_line, stop]
        patch.setattr(web_loader, "build_line", lambda *args: builds.pop(0)(*args))
        with pytest.raises(Stop):
            reader.fetch()
    assert len(reader.articles()) == 1
    assert reader.counts(recheck_hours=6) == (1, 0, 0, 0, 0)
