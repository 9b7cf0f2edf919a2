"""The sample is written by warcio, as crawlers write WARC 1.0."""

import gzip
import logging

import pytest

from tests.loaders.conftest import texts
from tests.support.samples import sample

WARC = sample("warc")
IDS = ["urn:uuid:00000000-0000-0000-0000-000000000001", "urn:uuid:00000000-0000-0000-0000-000000000004"]


def records() -> list[bytes]:
    """The sample's records."""
    return [b"WARC/1.0\r\n" + record for record in WARC.split(b"WARC/1.0\r\n")[1:]]


def test_answered_pages_are_read_and_other_records_skipped(load):
    first, second = load(WARC, "warc")
    assert [first.id, second.id] == IDS
    assert (first.title, first.url) == ("Ferry back in service", "http://news.example/1")
    assert "recipes" not in " ".join(texts(first))


def test_a_page_without_a_date_gets_that_of_the_visit(load):
    data = WARC.replace(b"2024-01-15T09:00:00+01:00", b"x" * 25)
    assert load(WARC, "warc")[0].date == "2024-01-15"
    assert load(data, "warc")[0].date == "2024-01-16T09:00:00Z"
    # Early crawlers wrote days that do not exist.
    assert load(data.replace(b"2024-01-16T09", b"2024-01-65T09"), "warc")[0].date is None


@pytest.mark.parametrize("address", ["?id=5&from=rss", ":8080/?id=5", "#top", "/a?id=5"])
def test_the_source_of_a_page_without_a_name_is_its_host(load, address):
    address = b"http://www.news.example" + address.encode()
    data = WARC.replace(b"http://news.example/1\r", address + b"\r")
    site = b'<meta property="og:site_name" content="The Example">'
    for part in (site, b" - The Example", b'<link rel="canonical" href="http://news.example/ferry">'):
        data = data.replace(part, b" " * len(part))  # records state their lengths
    first, _ = load(data, "warc")
    assert (first.source, first.url) == ("news.example", address.decode())


def test_an_address_with_a_blank_does_not_break_a_record(load, monkeypatch):
    monkeypatch.setattr(logging.getLogger("warcio"), "propagate", False)  # as without pytest
    first, _ = load(WARC.replace(b"http://news.example/1\r", b"http://news.example/ 1\r"), "warc")
    assert first.url == "http://news.example/%201"


@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, lambda _: b"".join(map(gzip.compress, records()))],
    ids=["", "gz", "gz each"],
)
def test_it_is_recognised_by_its_first_bytes_however_it_is_packed(load, pack):
    assert [d.id for d in load(pack(WARC))] == IDS


def test_a_truncated_page_is_not_a_document(load, load_error):
    cut = b"".join(records()[:2])[:-500]
    assert load(WARC, "warc", bad := []) and not bad
    assert "truncated" in load_error(cut, "warc")


def test_a_record_longer_than_its_content_length_is_not_a_document(load):
    bad = []
    *before, last = records()
    assert [d.id for d in load(b"".join([*before, last[:-4] + b"more\r\n\r\n"]), "warc", bad)] == IDS[:1]
    assert "has another length than it states" in bad[0].problem


def test_a_record_with_too_small_a_content_length_is_not_a_document(load):
    before, page, *_, last = records()
    size = next(line for line in page.split(b"\r\n") if line.startswith(b"Content-Length: "))
    less = page.replace(size, b"Content-Length: %d" % (int(size.split()[1]) - 900), 1)
    bad = []
    assert [d.id for d in load(b"".join([before, last, less, last]), "warc", bad)] == IDS[1:]
    assert len(bad) == 1 and "broken WARC" in bad[0].problem


def test_a_record_without_an_id_is_malformed(load):
    bad = []
    data = WARC.replace(b"WARC-Record-ID: <" + IDS[0].encode() + b">\r\n", b"")
    assert [d.id for d in load(data, "warc", bad)] == IDS[1:]
    assert "no WARC-Record-ID" in bad[0].problem
