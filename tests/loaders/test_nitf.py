"""The sample is written from NITF 3.4 of the IPTC."""

import pytest

from tests.loaders.conftest import texts
from tests.loaders.samples import sample

NITF = sample("nitf")


def test_an_article_gives_its_fields_and_the_body_alone(loaded):
    (article,) = loaded(NITF, "nitf")
    assert (article.id, article.title) == ("nitf.1", "Ferry back in service")
    assert (article.date, article.source) == ("20240115T080000Z", "The Example")
    assert (article.url, article.language) == ("http://news.example/nitf/1", "en-GB")
    assert texts(article) == ["The ferry sails again.", "Two hundred people were aboard.", "Bergen", "10"]


@pytest.mark.parametrize(
    ("gone", "date"),
    [
        (b'<date.issue norm="20240115T080000Z"/>', "20240116T000000Z"),
        (b'<date.release norm="20240116T000000Z"/>', "20240115T080000Z"),
    ],
)
def test_the_day_of_issue_goes_before_that_of_release(loaded, gone, date):
    assert loaded(NITF.replace(gone, b""), "nitf")[0].date == date


def test_a_file_without_a_doc_id_is_named_by_its_path(loaded):
    assert loaded(NITF.replace(b"<doc-id", b"<x"), "nitf")[0].id == "stdin"


def test_two_articles_in_a_file_need_ids(loaded):
    two = b"<nitfs>" + NITF.split(b"?>", 1)[1] + b"<nitf><body/></nitf></nitfs>"
    bad = []
    assert [d.id for d in loaded(two.replace(b"<doc-id", b"<x"), "nitf", bad)] == ["stdin"]
    assert "no <doc-id id-string=>" in bad[0].problem


def test_of_the_blocks_of_a_paper_that_has_the_lead_twice_the_full_text_is_taken(loaded):
    content = (
        b'<block class="lead_paragraph"><p>It.</p></block><block class="full_text"><p>It. All.</p></block>'
    )
    start, rest = NITF.split(b"<body.content>")
    data = start + b"<body.content>" + content + b"</body.content>" + rest.split(b"</body.content>")[1]
    assert texts(loaded(data, "nitf")[0]) == ["It.", "All."]


def test_it_is_known_by_its_root_and_newsml_with_nitf_inside_is_not(loaded):
    assert loaded(NITF) == loaded(NITF, "nitf")
    assert b"<nitf" in sample("newsml")
    assert loaded(sample("newsml")) == loaded(sample("newsml"), "newsml")


def test_broken_xml_is_refused_with_its_line(refused):
    assert refused(NITF.replace(b"</hl1>", b""), "nitf").startswith("standard input:14: broken XML at column")
