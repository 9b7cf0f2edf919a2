"""The sample is written from the NewsML-G2 2.33 guidelines of the IPTC."""

import pytest

from tests.loaders.conftest import texts
from tests.loaders.samples import sample

NEWSML = sample("newsml")


def test_items_give_their_text_in_xhtml_nitf_or_plain(loaded):
    ferry, nitf, plain = loaded(NEWSML, "newsml")
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


def test_items_that_were_taken_back_pictures_and_packages_are_passed_over(loaded):
    ids = [document.id.rpartition(":")[2] for document in loaded(NEWSML, "newsml")]
    assert ids == ["ferry", "nitf", "plain"]
    back = NEWSML.replace(b"stat:canceled", b"stat:usable")
    assert [d.id.rpartition(":")[2] for d in loaded(back, "newsml")] == [*ids, "taken-back"]


def test_the_main_headline_goes_before_another(loaded):
    data = NEWSML.replace(b"<headline>", b'<headline role="hld:main">')
    assert loaded(data, "newsml")[0].title == "Ferry back in service"
    data = NEWSML.replace(b"<headline>Ferry back in service</headline>", b"")
    assert loaded(data, "newsml")[0].title == "Two weeks of repairs"


def test_an_item_without_a_guid_is_malformed_and_those_after_it_are_read(loaded):
    bad = []
    data = NEWSML.replace(b'guid="urn:newsml:example.com:20240115:ferry"', b"")
    assert len(loaded(data, "newsml", bad)) == 2
    assert bad[0].where == "standard input:6" and "no guid" in bad[0].problem


def test_a_message_that_is_cut_off_gives_the_items_before_and_is_refused(loaded, refused):
    cut = NEWSML[: NEWSML.index(b"Nobody said why")]
    bad = []
    assert len(loaded(cut, "newsml", bad)) == 2
    assert "broken XML" in bad[0].problem and "what follows in this file is left out" in bad[0].problem
    assert "broken XML" in refused(cut, "newsml")


def test_a_file_without_an_item_with_text_is_refused(refused):
    data = b'<newsMessage xmlns="http://iptc.org/std/nar/2006-10-01/"><itemSet/></newsMessage>'
    assert "there is no document in it, read as newsml" in refused(data)


@pytest.mark.parametrize(
    ("until", "there"), [(b"2024-01-16T06:00:00+01:00", True), (b"2999-01-01T00:00:00Z", False), (b"", False)]
)
def test_an_item_is_passed_over_while_its_embargo_holds(loaded, until, there):
    data = NEWSML.replace(b"<itemMeta>", b"<itemMeta><embargoed>%s</embargoed>" % until, 1)
    assert len(loaded(data, "newsml")) == 2 + there


def test_of_several_renditions_one_is_taken_and_that_in_xml_first(loaded):
    notes = b'<inlineData contenttype="text/plain" rendition="ex:nonpublic">Call the desk.</inlineData>'
    data = NEWSML.replace(b"<contentSet>", b"<contentSet>" + notes, 1)
    assert loaded(data, "newsml") == loaded(NEWSML, "newsml")


@pytest.mark.parametrize("kind", [b"text/plain", b"text/html"])
def test_html_as_data_is_no_plain_text_whatever_it_says(loaded, kind):
    data = NEWSML.replace(b"text/plain", kind).replace(
        b"Nobody said why.\n\nIt rained.", b"<![CDATA[<p>Nobody\nsaid <b>why</b>.</p><p>It rained.</p>]]>"
    )
    assert loaded(data, "newsml") == loaded(NEWSML, "newsml")


def test_the_header_of_a_page_and_the_headline_in_it_are_left_out(loaded):
    header = b"<header><ul><li>Ferries</li></ul><time>15.1.2024</time><h1>Ferry back in service</h1></header>"
    data = NEWSML.replace(b"<body><p>The", b"<body>" + header + b"<p>The")
    assert loaded(data, "newsml") == loaded(NEWSML, "newsml")
    data = NEWSML.replace(b"<body><p>The", b"<body><h1>Ferry back in service</h1><p>The")
    assert loaded(data, "newsml") == loaded(NEWSML, "newsml")


def test_paragraphs_as_wires_lay_them_out_are_parted_and_those_of_indented_xml_are_not(loaded):
    wire = b"<p>(Adds)\n    By A. Writer\n\n    The ferry sails\nagain.\n    * It rains\n    * So what</p>"
    data = NEWSML.replace(b"<p>The ferry sails again.</p>", wire)
    found = ["(Adds)", "By A. Writer", "The ferry sails again.", "* It rains", "* So what"]
    assert texts(loaded(data, "newsml")[0])[:-1] == found
    data = NEWSML.replace(b"<p>The ferry sails again", b"<p>\n        The ferry sails\n        again")
    assert loaded(data, "newsml") == loaded(NEWSML, "newsml")
