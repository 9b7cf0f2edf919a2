"""The sample is written from the README of Reuters-21578 (D. D. Lewis, 1997)."""

from tests.loaders.conftest import texts
from tests.support.samples import sample

SGML = sample("reuters")


def test_an_article_gives_its_fields_and_its_indented_paragraphs(load):
    first = load(SGML, "reuters")[0]
    assert (first.id, first.title) == ("reuters-1", "FERRY <FRY> BACK IN SERVICE")
    assert (first.date, first.source, first.language) == ("1987-01-15", "Reuters", "en")
    # The dateline is no text, nor is the " Reuter" at the end.
    assert texts(first) == [
        "The ferry sails again after repairs of two weeks.",
        "Two hundred people were aboard.",
    ]


def test_articles_without_a_body_and_letters_of_latin_1_are_read(load):
    _, unprocessed, brief = load(SGML, "reuters")
    assert (unprocessed.title, texts(unprocessed)) == (None, ["The café of the harbour stays closed."])
    assert (brief.title, texts(brief)) == ("HARBOUR SEES NO TRAFFIC", ["Blah blah blah."])


def test_a_duplicated_end_mark_is_not_text(load):
    data = SGML.replace(b"Reuter\n", b"REUTER\n Reuter\n")
    assert data != SGML and load(data, "reuters") == load(SGML, "reuters")


def test_a_paragraph_without_a_full_stop_is_split_from_the_next(load):
    data = SGML.replace(b"repairs of two weeks.", b"repairs of two weeks")
    assert texts(load(data, "reuters")[0])[0] == "The ferry sails again after repairs of two weeks"


def test_it_is_recognised_by_its_doctype_or_its_tag(load):
    assert load(SGML) == load(SGML.split(b"\n", 1)[1]) == load(SGML, "reuters")


def test_broken_articles_are_malformed_and_later_ones_are_read(load):
    bad = []
    assert [d.id for d in load(SGML.replace(b'NEWID="1"', b""), "reuters", bad)] == [
        "reuters-2",
        "reuters-3",
    ]
    assert bad[0].where == "standard input:2" and "no NEWID" in bad[0].problem
    bad = []
    assert [d.id for d in load(SGML.replace(b"</REUTERS>", b"", 1), "reuters", bad)] == ["reuters-3"]
    assert "contains another one" in bad[0].problem


def test_an_article_without_an_end_is_rejected(load_error):
    assert "standard input:24: this <REUTERS> has no </REUTERS>" in load_error(SGML[:-20], "reuters")


def test_line_numbers_are_right_in_files_longer_than_a_chunk(load):
    article = SGML[SGML.index(b"<REUTERS") : SGML.index(b"</REUTERS>") + 11]
    count = 3 * 2**16 // len(article)
    many = b"".join(article.replace(b'NEWID="1"', b'NEWID="%d"' % n) for n in range(count))
    assert [d.id for d in load(many, "reuters")] == [f"reuters-{n}" for n in range(count)]
    bad = []
    last = many[: many.rindex(b"<REUTERS")] + article.replace(b'NEWID="1"', b"")
    load(last, "reuters", bad)
    lines = (count - 1) * article.count(b"\n")
    assert bad[0].where == f"standard input:{lines + 1}"
