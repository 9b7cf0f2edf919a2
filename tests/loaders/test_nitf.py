"""The sample is written from NITF 3.4 of the IPTC."""

import pytest

from tests.loaders.conftest import texts
from tests.support.samples import sample

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
