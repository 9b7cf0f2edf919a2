"""The sample is written from the README of Reuters-21578 (D. D. Lewis, 1997)."""

from tests.loaders.conftest import texts
from tests.loaders.samples import sample

SGML = sample("reuters")


def test_an_article_gives_its_fields_and_its_indented_paragraphs(loaded):
    first = loaded(SGML, "reuters")[0]
    assert (first.id, first.title) == ("reuters-1", "FERRY <FRY> BACK IN SERVICE")
    assert (first.date, first.source, first.language) == ("1987-01-15", "Reuters", "en")
    # The dateline is no text, nor is the " Reuter" at the end.
    assert texts(first) == [
        "The ferry sails again after repairs of two weeks.",
        "Two hundred people were aboard.",
    ]


def test_articles_without_a_body_and_letters_of_latin_1_are_read(loaded):
    _, unprocessed, brief = loaded(SGML, "reuters")
    assert (unprocessed.title, texts(unprocessed)) == (None, ["The café of the harbour stays closed."])
    assert (brief.title, texts(brief)) == ("HARBOUR SEES NO TRAFFIC", ["Blah blah blah."])


def test_an_end_that_stands_twice_is_no_text(loaded):
    data = SGML.replace(b"Reuter\n", b"REUTER\n Reuter\n")
    assert data != SGML and loaded(data, "reuters") == loaded(SGML, "reuters")


def test_a_paragraph_that_ends_without_a_stop_is_parted_from_the_next(loaded):
    data = SGML.replace(b"repairs of two weeks.", b"repairs of two weeks")
    assert texts(loaded(data, "reuters")[0])[0] == "The ferry sails again after repairs of two weeks"


def test_it_is_known_by_its_doctype_or_its_tag(loaded):
    assert loaded(SGML) == loaded(SGML.split(b"\n", 1)[1]) == loaded(SGML, "reuters")


def test_broken_articles_are_set_aside_and_those_after_them_are_read(loaded):
    bad = []
    assert [d.id for d in loaded(SGML.replace(b'NEWID="1"', b""), "reuters", bad)] == [
        "reuters-2",
        "reuters-3",
    ]
    assert bad[0].where == "standard input:2" and "no NEWID" in bad[0].problem
    bad = []
    assert [d.id for d in loaded(SGML.replace(b"</REUTERS>", b"", 1), "reuters", bad)] == ["reuters-3"]
    assert "has another one in it" in bad[0].problem


def test_an_article_without_an_end_is_refused(refused):
    assert "standard input:24: this <REUTERS> has no </REUTERS>" in refused(SGML[:-20], "reuters")


def test_places_are_right_in_files_longer_than_a_piece(loaded):
    article = SGML[SGML.index(b"<REUTERS") : SGML.index(b"</REUTERS>") + 11]
    count = 3 * 2**16 // len(article)
    many = b"".join(article.replace(b'NEWID="1"', b'NEWID="%d"' % n) for n in range(count))
    assert [d.id for d in loaded(many, "reuters")] == [f"reuters-{n}" for n in range(count)]
    bad = []
    last = many[: many.rindex(b"<REUTERS")] + article.replace(b'NEWID="1"', b"")
    loaded(last, "reuters", bad)
    lines = (count - 1) * article.count(b"\n")
    assert bad[0].where == f"standard input:{lines + 1}"
