"""The samples are written from RSS 2.0 with its content module, and from RFC 4287 (Atom)."""

import pytest

from esr.loaders import feed
from tests.loaders.conftest import texts
from tests.loaders.samples import FOLDER, sample

RSS = sample("feed")
ATOM = (FOLDER / "atom.xml").read_bytes()


def test_an_rss_entry_gives_its_whole_content_without_scripts(loaded):
    first, second = loaded(RSS, "feed")
    assert (first.id, first.title) == ("example_1", "Ferry & bus back in service")
    assert texts(first) == ["The ferry sails again.", "Two hundred people were aboard."]
    assert (first.date, first.source) == ("2024-01-15T08:00:00+00:00", "The Example")
    assert (first.url, first.language) == ("http://news.example/1", "en-gb")
    assert (second.id, texts(second)) == ("http://news.example/2", ["Nobody said why."])
    assert second.date is None


def test_an_atom_entry_is_dated_by_its_publication(loaded):
    (entry,) = loaded(ATOM, "feed")
    assert (entry.id, entry.date) == ("urn:entry:1", "2024-01-15T08:00:00+00:00")
    assert (entry.source, entry.language, entry.url) == ("L'Exemple", "fr", "http://news.example/fr/1")
    assert texts(entry) == ["Le bac repart.", "Il pleut."]


def test_the_date_of_an_update_stands_in_for_one_that_cannot_be_read(loaded):
    data = ATOM.replace(b"2024-01-15T09:00:00+01:00", b"at dawn")
    assert loaded(data, "feed")[0].date == "2024-01-15T10:00:00+00:00"
    assert loaded(RSS.replace(b"Mon, 15 Jan 2024", b"Someday"), "feed")[0].date is None


@pytest.mark.parametrize("data", [RSS, ATOM])
def test_feeds_are_known_by_their_first_bytes(loaded, data):
    assert loaded(data) == loaded(data, "feed")


def test_a_channel_in_newsml_makes_no_feed(loaded):
    assert not feed.FORMAT.sniff(sample("newsml"))
    assert b"<channel>" in sample("newsml") and len(loaded(sample("newsml"))) == 3


def test_an_entry_without_an_id_is_malformed_and_those_after_it_are_read(loaded):
    bad = []
    found = loaded(RSS.replace(b'<guid isPermaLink="false">example 1</guid>', b"")
                   .replace(b"<link>http://news.example/1</link>", b""), "feed", bad)  # fmt: skip
    assert [d.id for d in found] == ["http://news.example/2"]
    assert [b.where for b in bad] == ["standard input:entry 1"] and "no guid, id or link" in bad[0].problem


def test_a_feed_that_is_cut_off_is_refused_as_a_whole(refused):
    assert "broken feed" in refused(RSS[: RSS.index(b"Nobody said")], "feed")


@pytest.mark.parametrize("odd", ["&eacute;", "<x:y>é</x:y>"])
def test_entities_and_namespaces_that_are_not_declared_spoil_no_whole_feed(loaded, refused, odd):
    data = RSS.decode().replace("<description>Nobody", f"<description>Caf{odd}. Nobody")
    assert len(loaded(data, "feed")) == 2
    assert "Caf" in texts(loaded(data, "feed")[1])[0]
    assert "broken feed" in refused(data[: data.index("said why")], "feed")


@pytest.mark.parametrize(("status", "there"), [("publish", 2), ("draft", 1), ("private", 1), ("inherit", 1)])
def test_what_a_wordpress_export_holds_unpublished_is_passed_over(loaded, status, there):
    data = RSS.decode().replace("<rss ", '<rss xmlns:wp="http://wordpress.org/export/1.2/" ')
    data = data.replace("<item>", f"<item><wp:status><![CDATA[{status}]]></wp:status>", 1)
    assert len(loaded(data, "feed")) == there


def test_a_feed_that_is_too_long_is_refused(refused, monkeypatch):
    monkeypatch.setattr(feed, "MAX_FEED_BYTES", 500)
    assert "a feed of more than" in refused(RSS, "feed")
