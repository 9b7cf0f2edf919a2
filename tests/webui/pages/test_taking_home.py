"""Feeds, citations and links that stay, as the page gives them."""

from __future__ import annotations

import re
from pathlib import Path

import feedparser
import pytest
from flask.testing import FlaskClient

import esr
from esr.following.citations import CITATIONS
from esr.following.identity import text_digest
from tests.support.elasticsearch import document, load
from webui.app import create_app

ATOM = "{http://www.w3.org/2005/Atom}"


def test_a_feed_has_the_newest_sentences_with_all_words(real: FlaskClient) -> None:
    newest = real.get("/search.json?q=earthquake&sort=date").json
    assert newest is not None
    feed = feedparser.parse(real.get("/search.atom?q=earthquake").data)
    assert not feed.bozo
    assert [entry.content[0].value for entry in feed.entries] == [hit["text"] for hit in newest["hits"]]
    assert len({entry.id for entry in feed.entries}) == len(feed.entries) > 1
    dated = [entry.updated for entry in feed.entries]
    assert dated == sorted(dated, reverse=True) and feed.feed.updated == dated[0]
    assert real.get(feed.entries[0].link.removeprefix("http://localhost")).status_code == 302


def test_the_page_links_its_feed_with_the_same_filters(real: FlaskClient) -> None:
    html = real.get("/search?q=earthquake&source=Northern+Wire&group=document").text
    address = re.search(r'<link rel="alternate" type="application/atom\+xml"[^>]*href="([^"]+)"', html)
    assert address
    feed = feedparser.parse(real.get(address[1].replace("&amp;", "&")).data)
    assert {entry.author for entry in feed.entries} <= {"Northern Wire", "esr"}


def test_ids_stay_whatever_the_order_the_number_and_the_host(real: FlaskClient) -> None:
    first = feedparser.parse(real.get("/search.atom?q=earthquake&from=2000&k=5").data)
    other = feedparser.parse(
        real.get("/search.atom?from=2000&q=earthquake&sort=date", base_url="https://news.example/x").data
    )
    assert first.feed.id == other.feed.id
    assert {e.id for e in first.entries} <= {e.id for e in other.entries}


def test_a_feed_that_did_not_change_is_not_sent_again(real: FlaskClient) -> None:
    answer = real.get("/search.atom?q=earthquake")
    tag = answer.headers["ETag"]
    again = real.get("/search.atom?q=earthquake", headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")
    assert real.get("/search.atom?q=relief", headers={"If-None-Match": tag}).status_code == 200


def test_a_feed_satisfies_the_specification(real: FlaskClient) -> None:
    from lxml import etree

    for address in ("q=earthquake", "q=harbour", "q=qwertyuiop"):
        root = etree.fromstring(real.get(f"/search.atom?{address}").data)
        for parent in (root, *root.findall(f"{ATOM}entry")):
            for name in ("id", "title", "updated"):  # RFC 4287, 4.1.1 and 4.1.2: exactly one of each
                assert len(parent.findall(f"{ATOM}{name}")) == 1, name
            assert re.fullmatch(
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", parent.findtext(f"{ATOM}updated") or ""
            )
            assert re.match(r"urn:uuid:[0-9a-f-]{36}$", parent.findtext(f"{ATOM}id") or "")
            assert len(parent.findall(f"{ATOM}link[@rel='alternate']")) == 1
        assert root.find(f"{ATOM}author/{ATOM}name") is not None  # 4.1.1: for entries without one
        assert root.find(f"{ATOM}link[@rel='self']") is not None


@pytest.mark.parametrize("name", CITATIONS)
def test_citations_of_the_page_and_of_one_sentence(real: FlaskClient, name: str) -> None:
    suffix = CITATIONS[name].suffix
    html = real.get("/search?q=earthquake").text
    assert f"/search.{suffix}?q=earthquake" in html and f"/sentence.{suffix}?" in html
    page = real.get(f"/search.{suffix}?q=earthquake")
    one = real.get(f"/sentence.{suffix}?id=earthquake-relief.s0")
    assert page.status_code == one.status_code == 200
    assert page.mimetype == CITATIONS[name].media_type
    assert "attachment" in one.headers["Content-Disposition"]
    assert len(page.text) > len(one.text)
    assert real.get(f"/sentence.{suffix}?id=nowhere").status_code == 404


def test_a_quotation_says_where_it_is_from(real: FlaskClient) -> None:
    html = real.get("/search?q=earthquake&source=Northern+Wire").text
    quotation = re.search(r'(?s)<p class="quotation" data-copy>(.*?)</p>', html)
    assert quotation
    text = " ".join(re.sub("<[^>]+>", "", quotation[1]).split())
    assert re.fullmatch(r"“.+” — .+, Northern Wire, \d{4}-\d\d-\d\d[^ ,]*(, https?://\S+)?", text), text


def test_a_link_to_a_sentence_stays_valid_after_a_load_that_moves_it(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, [document("a", "It blew.", "A storm  came.", "Then calm.")])
    with esr.open(where) as searcher:
        client = create_app(searcher).test_client()
        html = client.get("/search?q=storm").text
        link = re.search(r'href="(/sentence\?[^"]+)"', html)
        assert link and text_digest("a STORM came.") in link[1]
        address = link[1].replace("&amp;", "&")
        assert client.get(address).location == "/document?id=a#s1"
        load(
            where,
            [document("a", "New: it blew.", "Hail fell.", "It blew.", "A storm came.")],
            if_exists="replace",
        )
        assert client.get(address).location == "/document?id=a#s3"
        load(where, [document("a", "Nothing.")], if_exists="replace")
        lost = client.get(address, follow_redirects=True)
        assert lost.status_code == 200 and "no longer has the sentence" in lost.text
        load(where, [document("b", "Nothing.")], if_exists="replace")
        assert client.get(address).status_code == 404
