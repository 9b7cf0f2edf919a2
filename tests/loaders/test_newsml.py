"""The sample is written from the NewsML-G2 2.33 guidelines of the IPTC."""

import pytest

from tests.loaders.conftest import texts
from tests.support.samples import sample

NEWSML = sample("newsml")


def test_items_give_their_text_in_xhtml_nitf_or_plain(load):
    ferry, nitf, plain = load(NEWSML, "newsml")
    assert (ferry.id, ferry.title) == ("urn:newsml:example.com:20240115:ferry", "Ferry back in service")
    assert (ferry.date, ferry.source, ferry.language) == (
        "2024-01-15T08:45:00+01:00",
        "Example Agency",
        "en-GB",
    )
    assert texts(ferry) == ["The ferry sails again.", "Two hundred people were aboard."]
    assert (nitf.title, nitf.source, nitf.language) == ("Hafen bleibt zu", "EX", "de")
    assert texts(nitf) == ["Der Hafen bleibt geschlossen."]
    assert (plain.title, texts(plain)) == ("Plain", ["Nobody said why.", "It rained."])


@pytest.mark.parametrize("status", [b"canceled", b"cancelled", b"withheld"])
def test_withdrawn_items_pictures_and_packages_are_skipped(load, status):
    data = NEWSML.replace(b"stat:canceled", b"stat:" + status)
    ids = [document.id.rpartition(":")[2] for document in load(data, "newsml")]
    assert ids == ["ferry", "nitf", "plain"]
    back = NEWSML.replace(b"stat:canceled", b"stat:usable")
    assert [d.id.rpartition(":")[2] for d in load(back, "newsml")] == [*ids, "taken-back"]


def test_the_main_headline_takes_precedence(load):
    data = NEWSML.replace(b"<headline>", b'<headline role="hld:main">')
    assert load(data, "newsml")[0].title == "Ferry back in service"
    data = NEWSML.replace(b"<headline>Ferry back in service</headline>", b"")
    assert load(data, "newsml")[0].title == "Two weeks of repairs"


def test_an_item_without_a_guid_is_malformed_and_those_after_it_are_read(load):
    bad = []
    data = NEWSML.replace(b'guid="urn:newsml:example.com:20240115:ferry"', b"")
    assert len(load(data, "newsml", bad)) == 2
    assert bad[0].where == "standard input:6" and "no guid" in bad[0].problem


def test_a_truncated_message_gives_its_complete_items_and_is_rejected(load, load_error):
    cut = NEWSML[: NEWSML.index(b"Nobody said why")]
    bad = []
    assert len(load(cut, "newsml", bad)) == 2
    assert "broken XML" in bad[0].problem and "the rest of this file is skipped" in bad[0].problem
    assert "broken XML" in load_error(cut, "newsml")


def test_a_file_without_an_item_with_text_is_rejected(load_error):
    data = b'<newsMessage xmlns="http://iptc.org/std/nar/2006-10-01/"><itemSet/></newsMessage>'
    assert "contains no document in the format newsml" in load_error(data)


@pytest.mark.parametrize(
    ("until", "there"), [(b"2024-01-16T06:00:00+01:00", True), (b"2999-01-01T00:00:00Z", False), (b"", False)]
)
def test_an_item_is_skipped_while_it_is_under_embargo(load, until, there):
    data = NEWSML.replace(b"<itemMeta>", b"<itemMeta><embargoed>%s</embargoed>" % until, 1)
    assert len(load(data, "newsml")) == 2 + there


def test_one_of_several_renditions_is_used_xml_first(load):
    notes = b'<inlineData contenttype="text/plain" rendition="ex:nonpublic">Call the desk.</inlineData>'
    data = NEWSML.replace(b"<contentSet>", b"<contentSet>" + notes, 1)
    assert load(data, "newsml") == load(NEWSML, "newsml")


@pytest.mark.parametrize("kind", [b"text/plain", b"text/html"])
def test_html_as_inline_data_is_parsed_even_if_labelled_plain_text(load, kind):
    data = NEWSML.replace(b"text/plain", kind).replace(
        b"Nobody said why.\n\nIt rained.", b"<![CDATA[<p>Nobody\nsaid <b>why</b>.</p><p>It rained.</p>]]>"
    )
    assert load(data, "newsml") == load(NEWSML, "newsml")


def test_the_header_of_a_page_and_the_headline_in_it_are_left_out(load):
    header = b"<header><ul><li>Ferries</li></ul><time>15.1.2024</time><h1>Ferry back in service</h1></header>"
    data = NEWSML.replace(b"<body><p>The", b"<body>" + header + b"<p>The")
    assert load(data, "newsml") == load(NEWSML, "newsml")
    data = NEWSML.replace(b"<body><p>The", b"<body><h1>Ferry back in service</h1><p>The")
    assert load(data, "newsml") == load(NEWSML, "newsml")


def test_paragraphs_of_wires_are_split_and_those_of_indented_xml_are_not(load):
    wire = b"<p>(Adds)\n    By A. Writer\n\n    The ferry sails\nagain.\n    * It rains\n    * So what</p>"
    data = NEWSML.replace(b"<p>The ferry sails again.</p>", wire)
    paragraphs = ["(Adds)", "By A. Writer", "The ferry sails again.", "* It rains", "* So what"]
    assert texts(load(data, "newsml")[0])[:-1] == paragraphs
    data = NEWSML.replace(b"<p>The ferry sails again", b"<p>\n        The ferry sails\n        again")
    assert load(data, "newsml") == load(NEWSML, "newsml")
