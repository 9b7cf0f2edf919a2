"""The samples are written from RSS 2.0 with its content module, and from RFC 4287 (Atom)."""

import json

import pytest

from esr.loaders import ReadOptions, feed, read_documents
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


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("Mon, 15 Jan 2024 09:00:00 CET", "2024-01-15T08:00:00+00:00"),
        ("Mon, 15 Jul 2024 00:30 CEST", "2024-07-14T22:30:00+00:00"),
        ("Mon, 15 Jan 2024 09:00:00 +0100", "2024-01-15T08:00:00+00:00"),
        ("Mon, 15 Jan 24 08:00:00 GMT", "2024-01-15T08:00:00+00:00"),
        ("2024-01-15T08:00:00.250Z", "2024-01-15T08:00:00+00:00"),
        ("1705305600", "2024-01-15T08:00:00+00:00"),
        ("2024-01-15", "2024-01-15T00:00:00+00:00"),
        ("2024-01", "2024-01-01T00:00:00+00:00"),
        ("Mon, 15 Jan 2024 08:00:00", "2024-01-15T08:00:00"),
        ("15.1.2024 08:00", "2024-01-15T08:00"),
        ("lundi 15 janvier 2024", "2024-01-15"),
        ("05/01/2024", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_dates_of_entries_are_read_as_publishers_write_them(load, written, date):
    (entry,) = load(
        f"<rss><channel><item><title>A</title><pubDate>{written}</pubDate></item></channel></rss>", "feed"
    )
    assert entry.date == date


@pytest.mark.parametrize("data", [RSS, ATOM])
def test_feeds_are_recognised_by_their_first_bytes(load, data):
    assert load(data) == load(data, "feed")


def test_newsml_with_a_channel_is_not_taken_for_a_feed(load):
    assert not feed.is_feed(sample("newsml"))
    assert b"<channel>" in sample("newsml") and len(load(sample("newsml"))) == 3


def test_an_entry_without_an_id_gets_one_made_of_its_content(load):
    documents = load(RSS.replace(b'<guid isPermaLink="false">example 1</guid>', b"")
                   .replace(b"<link>http://news.example/1</link>", b""), "feed")  # fmt: skip
    assert len(documents[0].id) == 32 and documents[1].id == "http://news.example/2"


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


@pytest.mark.parametrize(
    "last",
    [
        "The post <a>Ferry</a> appeared first on <a>Northern Wire</a>.",
        "Der Beitrag <a>Fähre</a> erschien zuerst auf <a>Nordpost</a>.",
        "L’article <a>Bac</a> est apparu en premier sur <a>Le Nord</a>.",
    ],
)
def test_the_line_that_wordpress_adds_to_each_entry_is_left_out(load, last):
    told = "<p>It sails again.</p><p>The post that he wrote appeared first on Monday. He said so.</p>"
    old = b"<p>Two hundred people were aboard.</p>"
    assert old in RSS
    first = load(RSS.replace(old, f"{told}<p>{last}</p>".encode()), "feed")[0]
    assert texts(first)[-2:] == ["The post that he wrote appeared first on Monday.", "He said so."]


def test_a_last_paragraph_like_the_line_of_wordpress_remains(load):
    last = "The post box that first appeared on this corner in 1852 was painted."
    old = b"<p>Two hundred people were aboard.</p>"
    assert texts(load(RSS.replace(old, f"<p>{last}</p>".encode()), "feed")[0])[-1] == last


def test_a_feed_that_is_too_long_is_rejected(load_error, monkeypatch):
    monkeypatch.setattr(feed, "MAX_FEED_BYTES", 500)
    assert "the feed is longer than" in load_error(RSS, "feed")


# The entries are written after the export (WXR 1.2) and the REST interface of WordPress 6.


ENTRY = """<item><title>{id}</title><guid isPermaLink="false">{id}</guid>
<content:encoded><![CDATA[<!-- wp:paragraph -->
<p>The ferry &amp; the bus.</p>]]></content:encoded>
<wp:post_password><![CDATA[{password}]]></wp:post_password>
<wp:status><![CDATA[{status}]]></wp:status><wp:post_type><![CDATA[{type}]]></wp:post_type></item>"""
EXPORT = """<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"
xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Blog</title>{}</channel></rss>"""
ENTRIES = [
    ("post", "publish", ""),
    ("page", "publish", ""),
    ("post", "draft", ""),
    ("post", "private", ""),
    ("post", "publish", "secret"),
    ("revision", "publish", ""),
    ("attachment", "publish", ""),
    ("nav_menu_item", "publish", ""),
    ("wp_global_styles", "publish", ""),
]
REASONS = [
    "not published in WordPress",
    "not published in WordPress",
    "protected by a password in WordPress",
    *["no post or page of WordPress"] * 4,
]


def written_export():
    entries = [
        ENTRY.format(id=f"e{n}", type=type, status=status, password=password)
        for n, (type, status, password) in enumerate(ENTRIES)
    ]
    return EXPORT.format("".join(entries))


def written_rest():
    return json.dumps(
        [
            {
                "id": f"e{n}",
                "type": type,
                "status": status,
                "title": {"rendered": "The sea"},
                "content": {"rendered": "<p>The ferry &amp; the bus.</p>", "protected": bool(password)},
            }
            for n, (type, status, password) in enumerate(ENTRIES)
        ]
    )


@pytest.mark.parametrize(("name", "written"), [("x.rss", written_export), ("x.json", written_rest)])
def test_only_published_posts_and_pages_of_wordpress_are_read(tmp_path, name, written):
    (tmp_path / name).write_text(written())
    skipped = []
    documents = read_documents([str(tmp_path / name)], options=ReadOptions(on_skipped=skipped.append))
    read = {located.document.id: [s.text for s in located.document.sentences] for located in documents}
    assert read == {"e0": ["The ferry & the bus."], "e1": ["The ferry & the bus."]}
    assert [s.reason for s in skipped] == REASONS and all(s.is_lasting for s in skipped)


def test_an_object_with_a_type_and_a_status_of_its_own_is_no_entry_of_wordpress(tmp_path):
    line = {"id": "a", "type": "article", "status": "final", "content": "The ferry sails."}
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    assert len(list(read_documents([str(tmp_path)]))) == 1


@pytest.mark.parametrize("item", ["<item {}>", "<item><script><p {}/></script>"])
def test_a_feed_with_an_element_of_too_many_attributes_is_refused_before_it_is_parsed(
    load_error, monkeypatch, item
):
    def fail(*_, **__):
        raise AssertionError("the library would take minutes")

    monkeypatch.setattr("feedparser.parse", fail)
    attributes = " ".join(f'a{number}=""' for number in range(1_100))
    opening = item.format(attributes)
    feed = f'<rss version="2.0"><channel>{opening}<title>Ferry</title></item></channel></rss>'
    assert "an element has more than 1,000 attributes: leave it out" in load_error(feed, "feed")
