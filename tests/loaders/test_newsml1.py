"""The sample is written from the NewsML 1.2 functional specification of the IPTC."""

import pytest

from esr.loaders import FORMATS
from tests.loaders.conftest import texts
from tests.support.samples import sample

NEWSML = sample("newsml1")
CONTENT = "<ContentItem><DataContent>x</DataContent></ContentItem>"
HARBOUR = "urn:newsml:example.com:20240115:harbour"


def test_an_item_gives_its_text_in_nitf_without_captions_and_pictures(load):
    ferry = load(NEWSML)[0]
    assert (ferry.id, ferry.title) == ("urn:newsml:example.com:20240115:ferry", "Ferry back in service")
    assert (ferry.date, ferry.source, ferry.language) == (
        "2024-01-15T08:45:00+01:00",
        "Example Agency",
        "en-GB",
    )
    assert texts(ferry) == ["The ferry sails again.", "Two hundred people were aboard."]


def test_each_article_of_an_item_is_a_document_with_an_id_of_its_own(load):
    _, english, german = load(NEWSML)
    assert (english.id, english.title, english.language) == (f"{HARBOUR}:en", "Harbour closed", "en")
    assert (german.id, german.title, german.language) == (f"{HARBOUR}:de", "Hafen bleibt zu", "de")
    assert (english.source, german.source) == ("example.com", "EX")
    assert texts(english) == ["The harbour stays closed.", "Nobody said why."]
    assert texts(german) == ["Der Hafen bleibt zu."]
    assert english.date == german.date == "2024-01-15"


def test_of_equivalent_components_the_first_with_a_text_is_taken(load):
    data = NEWSML.replace(
        b"<NewsComponent>\n      <NewsLines><HeadLine>Harbour<",
        b'<NewsComponent EquivalentsList="yes">\n      <NewsComponent/><NewsLines><HeadLine>Harbour<',
    )
    assert [document.id.rpartition(":")[2] for document in load(data)] == ["ferry", "harbour"]


@pytest.mark.parametrize("status", [b"Canceled", b"Withheld", b"withheld"])
def test_withdrawn_items_are_skipped(load, status):
    data = NEWSML.replace(b"Canceled", status)
    assert len(load(data)) == 3
    assert [document.id for document in load(data.replace(status, b"Usable"))][3:] == ["taken-back"]


@pytest.mark.parametrize(
    ("until", "there"), [(b"20240116T060000+0100", True), (b"29990101T000000Z", False), (b"", False)]
)
def test_an_item_is_skipped_while_it_is_under_embargo(load, until, there):
    change = b"<StatusWillChange><DateAndTime>%s</DateAndTime></StatusWillChange>"
    data = NEWSML.replace(
        b'<Status FormalName="Usable"/>', b'<Status FormalName="Embargoed"/>' + change % until
    )
    assert len(load(data)) == 2 + there


def test_a_plain_text_is_not_taken_for_html(load):
    document = load(NEWSML.replace(b"Canceled", b"Usable"))[3]
    assert (texts(document), document.title, document.source) == (["It rained < 5 mm."], None, None)


def test_the_id_has_no_revision_whatever_identifies_the_item(load):
    without = NEWSML.replace(b"<NewsItemId>ferry</NewsItemId>", b"")
    assert load(without)[0].id == load(NEWSML)[0].id
    for public, id in ((b"urn:x:bsf153:1N", "urn:x:bsf153"), (b"urn:x:a b", "urn:x:a_b")):
        assert load(without.replace(b"urn:newsml:example.com:20240115:ferry:2", public))[0].id == id


def test_an_item_without_an_id_is_malformed_and_those_after_it_are_read(load):
    bad = []
    assert len(load(NEWSML.replace(b'Duid="taken-back"', b"").replace(b"Canceled", b"Usable"), bad=bad)) == 3
    assert (bad[0].where, bad[0].problem.partition(":")[0]) == ("standard input:90", "the document has no id")


def test_items_within_items_are_read_once(load):
    inner = f'<NewsItem Duid="in"><NewsComponent>{CONTENT}</NewsComponent></NewsItem></NewsItem>'
    data = NEWSML.replace(b"</NewsItem>", inner.encode(), 1)
    assert [document.id.rpartition(":")[2] for document in load(data)] == ["ferry", "in", "en", "de"]


@pytest.mark.parametrize(
    "content",
    [b"<Encoding Notation='IptcBase64'/><DataContent>QWJj</DataContent>", b"<DataContent> \n</DataContent>"],
)
def test_encoded_and_empty_contents_are_no_text(load_error, content):
    item = b"<NewsML><NewsItem Duid='a'><ContentItem>%s</ContentItem></NewsItem></NewsML>"
    assert "contains no document in the format newsml1" in load_error(item % content)


def test_a_dtd_is_not_fetched(load):
    doctype = b'<!DOCTYPE NewsML SYSTEM "NewsML.dtd" [<!ENTITY % nitf SYSTEM "nitf.dtd"> %nitf;]><NewsML'
    assert load(NEWSML.replace(b"<NewsML", doctype, 1)) == load(NEWSML)


def test_it_is_told_from_nitf_and_newsml_g2():
    for kind in ("newsml1", "newsml", "nitf"):
        head = sample(kind)[:4096]
        assert [name for name in ("newsml1", "newsml", "nitf") if FORMATS[name].sniff(head)] == [kind]


def test_many_components_and_deep_ones_are_read(load):
    item = "<NewsML><NewsItem Duid='a'>{}</NewsItem></NewsML>"
    one = f"<NewsComponent><NewsLines><HeadLine>T</HeadLine></NewsLines>{CONTENT}</NewsComponent>"
    assert len(load(item.format(one * 3000))) == 3000
    # Looking for a text at each level of these would take forever.
    deep = "<NewsComponent EquivalentsList='yes'>" * 120 + one + "</NewsComponent>" * 120
    assert len(load(item.format(deep))) == 1
