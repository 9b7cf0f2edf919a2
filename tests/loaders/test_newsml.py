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


# The sample is written from the NewsML-G2 2.33 guidelines of the IPTC.


NEWSML_G2 = sample("newsml")


def test_items_give_their_text_in_xhtml_nitf_or_plain(load):
    ferry, nitf, plain = load(NEWSML_G2, "newsml")
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
    data = NEWSML_G2.replace(b"stat:canceled", b"stat:" + status)
    ids = [document.id.rpartition(":")[2] for document in load(data, "newsml")]
    assert ids == ["ferry", "nitf", "plain"]
    back = NEWSML_G2.replace(b"stat:canceled", b"stat:usable")
    assert [d.id.rpartition(":")[2] for d in load(back, "newsml")] == [*ids, "taken-back"]


def test_the_main_headline_takes_precedence(load):
    data = NEWSML_G2.replace(b"<headline>", b'<headline role="hld:main">')
    assert load(data, "newsml")[0].title == "Ferry back in service"
    data = NEWSML_G2.replace(b"<headline>Ferry back in service</headline>", b"")
    assert load(data, "newsml")[0].title == "Two weeks of repairs"


def test_an_item_without_a_guid_is_malformed_and_those_after_it_are_read(load):
    bad = []
    data = NEWSML_G2.replace(b'guid="urn:newsml:example.com:20240115:ferry"', b"")
    assert len(load(data, "newsml", bad)) == 2
    assert bad[0].where == "standard input:6" and "no guid" in bad[0].problem


def test_a_truncated_message_gives_its_complete_items_and_is_rejected(load, load_error):
    cut = NEWSML_G2[: NEWSML_G2.index(b"Nobody said why")]
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
def test_an_item_of_g2_is_skipped_while_it_is_under_embargo(load, until, there):
    data = NEWSML_G2.replace(b"<itemMeta>", b"<itemMeta><embargoed>%s</embargoed>" % until, 1)
    assert len(load(data, "newsml")) == 2 + there


def test_one_of_several_renditions_is_used_xml_first(load):
    notes = b'<inlineData contenttype="text/plain" rendition="ex:nonpublic">Call the desk.</inlineData>'
    data = NEWSML_G2.replace(b"<contentSet>", b"<contentSet>" + notes, 1)
    assert load(data, "newsml") == load(NEWSML_G2, "newsml")


@pytest.mark.parametrize("kind", [b"text/plain", b"text/html"])
def test_html_as_inline_data_is_parsed_even_if_labelled_plain_text(load, kind):
    data = NEWSML_G2.replace(b"text/plain", kind).replace(
        b"Nobody said why.\n\nIt rained.", b"<![CDATA[<p>Nobody\nsaid <b>why</b>.</p><p>It rained.</p>]]>"
    )
    assert load(data, "newsml") == load(NEWSML_G2, "newsml")


def test_the_header_of_a_page_and_the_headline_in_it_are_left_out(load):
    header = b"<header><ul><li>Ferries</li></ul><time>15.1.2024</time><h1>Ferry back in service</h1></header>"
    data = NEWSML_G2.replace(b"<body><p>The", b"<body>" + header + b"<p>The")
    assert load(data, "newsml") == load(NEWSML_G2, "newsml")
    data = NEWSML_G2.replace(b"<body><p>The", b"<body><h1>Ferry back in service</h1><p>The")
    assert load(data, "newsml") == load(NEWSML_G2, "newsml")


def test_paragraphs_of_wires_are_split_and_those_of_indented_xml_are_not(load):
    wire = b"<p>(Adds)\n    By A. Writer\n\n    The ferry sails\nagain.\n    * It rains\n    * So what</p>"
    data = NEWSML_G2.replace(b"<p>The ferry sails again.</p>", wire)
    paragraphs = ["(Adds)", "By A. Writer", "The ferry sails again.", "* It rains", "* So what"]
    assert texts(load(data, "newsml")[0])[:-1] == paragraphs
    data = NEWSML_G2.replace(b"<p>The ferry sails again", b"<p>\n        The ferry sails\n        again")
    assert load(data, "newsml") == load(NEWSML_G2, "newsml")


# The sample is written from NITF 3.4 of the IPTC.


NITF = sample("nitf")


def test_an_article_gives_its_fields_and_its_body_only(load):
    (article,) = load(NITF, "nitf")
    assert (article.id, article.title) == ("nitf.1", "Ferry back in service")
    assert (article.date, article.source) == ("2024-01-15T08:00:00Z", "The Example")
    assert (article.url, article.language) == ("http://news.example/nitf/1", "en-GB")
    assert texts(article) == ["The ferry sails again.", "Two hundred people were aboard.", "Bergen", "10"]


@pytest.mark.parametrize(
    ("gone", "date"),
    [
        (b'<date.issue norm="20240115T080000Z"/>', "2024-01-16T00:00:00Z"),
        (b'<date.release norm="20240116T000000Z"/>', "2024-01-15T08:00:00Z"),
    ],
)
def test_the_day_of_issue_takes_precedence_over_the_release(load, gone, date):
    assert load(NITF.replace(gone, b""), "nitf")[0].date == date


def test_a_file_without_a_doc_id_gets_its_path_as_the_id(load):
    assert load(NITF.replace(b"<doc-id", b"<x"), "nitf")[0].id == "stdin"


def test_articles_inside_other_xml_need_their_own_ids(load):
    one = NITF.split(b"?>", 1)[1]
    wire = b"<wire>" + one.replace(b"<doc-id", b"<x") + one + b"</wire>"
    bad = []
    assert [d.id for d in load(wire, "nitf", bad)] == ["nitf.1"]
    assert "no <doc-id id-string=>" in bad[0].problem


@pytest.mark.parametrize(
    ("head", "source"),
    [
        (b"<distributor><org>Example Agency</org></distributor>", "Example Agency"),
        (b"", "Example Press"),
    ],
)
def test_without_a_publication_the_source_is_the_distributor_or_the_owner(load, head, source):
    data = NITF.replace(b' name="The Example"', b"").replace(b"<body.head>", b"<body.head>" + head)
    data = data.replace(b"<date.issue", b'<doc.copyright holder="Example Press" year="2024"/><date.issue')
    assert load(data, "nitf")[0].source == source


@pytest.mark.parametrize(
    ("status", "release", "there"),
    [
        (b"usable", b"29990101T000000Z", True),
        (b"canceled", b"20240116T000000Z", False),
        (b"cancelled", b"20240116T000000Z", False),
        (b"withheld", b"20240116T000000Z", False),
        (b"embargoed", b"20240116T000000Z", True),
        (b"embargoed", b"29990101T000000Z", False),
        (b"embargoed", b"", False),
    ],
)
def test_articles_that_are_withdrawn_or_under_embargo_are_skipped(load, status, release, there):
    data = NITF.replace(b"20240116T000000Z", release)
    data = data.replace(b"<docdata>", b'<docdata management-status="%s">' % status)
    other = NITF.split(b"?>", 1)[1].replace(b"nitf.1", b"nitf.2")
    both = b"<wire>" + data.split(b"?>", 1)[1] + other + b"</wire>"
    assert [d.id for d in load(both, "nitf")] == ["nitf.1"] * there + ["nitf.2"]


def test_one_br_does_not_end_a_sentence_but_two_end_a_paragraph(load):
    data = NITF.replace(b"Two hundred people", b"Two hundred <br/>\n people").replace(
        b"were aboard.", b"were aboard<br/> <br/>It rained"
    )
    assert texts(load(data, "nitf")[0])[1:3] == ["Two hundred people were aboard", "It rained"]


def test_a_first_paragraph_that_is_the_headline_is_left_out(load):
    data = NITF.replace(b"<body.content>", b"<body.content><p>Ferry back in service</p>")
    assert load(data, "nitf") == load(NITF, "nitf")


def test_the_full_text_block_is_used_where_the_lead_is_repeated(load):
    content = (
        b'<block class="lead_paragraph"><p>It.</p></block><block class="full_text"><p>It. All.</p></block>'
    )
    start, rest = NITF.split(b"<body.content>")
    data = start + b"<body.content>" + content + b"</body.content>" + rest.split(b"</body.content>")[1]
    assert texts(load(data, "nitf")[0]) == ["It.", "All."]


def test_it_is_recognised_by_its_root_but_newsml_with_nitf_inside_is_not(load):
    assert load(NITF) == load(NITF, "nitf")
    assert b"<nitf" in sample("newsml")
    assert load(sample("newsml")) == load(sample("newsml"), "newsml")


def test_broken_xml_is_rejected_with_its_line(load_error):
    assert load_error(NITF.replace(b"</hl1>", b""), "nitf").startswith(
        "standard input:14: broken XML at column"
    )
