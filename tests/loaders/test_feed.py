"""The samples are written from RSS 2.0 with its content module, and from RFC 4287 (Atom)."""

import pytest

from esr.loaders import feed
from tests.loaders.conftest import texts
from tests.support.samples import FOLDER, sample

RSS = sample("feed")
ATOM = (FOLDER / "atom.xml").read_bytes()


def test_an_rss_entry_gives_its_full_content_without_scripts(load):
    first, second = load(RSS, "feed")
    assert (first.id, first.title) == ("example_1", "Ferry & bus back in service")
    assert texts(first) == ["The ferry sails again.", "Two hundred people were aboard."]
    assert (first.date, first.source) == ("2024-01-15T08:00:00+00:00", "The Example")
    assert (first.url, first.language) == ("http://news.example/1", "en-gb")
    assert (second.id, texts(second)) == ("http://news.example/2", ["Nobody said why."])
    assert second.date is None


def test_an_atom_entry_is_dated_by_its_publication(load):
    (entry,) = load(ATOM, "feed")
    assert (entry.id, entry.date) == ("urn:entry:1", "2024-01-15T08:00:00+00:00")
    assert (entry.source, entry.language, entry.url) == ("L'Exemple", "fr", "http://news.example/fr/1")
    assert texts(entry) == ["Le bac repart.", "Il pleut."]


def test_the_date_of_an_update_replaces_an_unreadable_date(load):
    data = ATOM.replace(b"2024-01-15T09:00:00+01:00", b"at dawn")
    assert load(data, "feed")[0].date == "2024-01-15T10:00:00+00:00"
    assert load(RSS.replace(b"Mon, 15 Jan 2024", b"Someday"), "feed")[0].date is None


@pytest.mark.parametrize("data", [RSS, ATOM])
def test_feeds_are_recognised_by_their_first_bytes(load, data):
    assert load(data) == load(data, "feed")


def test_newsml_with_a_channel_is_not_taken_for_a_feed(load):
    assert not feed.FORMAT.sniff(sample("newsml"))
    assert b"<channel>" in sample("newsml") and len(load(sample("newsml"))) == 3


def test_an_entry_without_an_id_is_malformed_and_those_after_it_are_read(load):
    bad = []
    documents = load(RSS.replace(b'<guid isPermaLink="false">example 1</guid>', b"")
                   .replace(b"<link>http://news.example/1</link>", b""), "feed", bad)  # fmt: skip
    assert [d.id for d in documents] == ["http://news.example/2"]
    assert [b.where for b in bad] == ["standard input:entry 1"] and "no guid, id or link" in bad[0].problem


def test_a_feed_that_is_truncated_is_rejected_as_a_whole(load_error):
    assert "broken feed" in load_error(RSS[: RSS.index(b"Nobody said")], "feed")


@pytest.mark.parametrize("odd", ["&eacute;", "<x:y>é</x:y>"])
def test_undeclared_entities_and_namespaces_do_not_break_a_feed(load, load_error, odd):
    data = RSS.decode().replace("<description>Nobody", f"<description>Caf{odd}. Nobody")
    assert len(load(data, "feed")) == 2
    assert "Caf" in texts(load(data, "feed")[1])[0]
    assert "broken feed" in load_error(data[: data.index("said why")], "feed")


@pytest.mark.parametrize(("status", "there"), [("publish", 2), ("draft", 1), ("private", 1), ("inherit", 1)])
def test_unpublished_entries_of_a_wordpress_export_are_skipped(load, status, there):
    data = RSS.decode().replace("<rss ", '<rss xmlns:wp="http://wordpress.org/export/1.2/" ')
    data = data.replace("<item>", f"<item><wp:status><![CDATA[{status}]]></wp:status>", 1)
    assert len(load(data, "feed")) == there


def test_a_feed_that_is_too_long_is_rejected(load_error, monkeypatch):
    monkeypatch.setattr(feed, "MAX_FEED_BYTES", 500)
    assert "the feed is longer than" in load_error(RSS, "feed")
