"""The sample is written from the README of Reuters-21578 (D. D. Lewis, 1997)."""

import io
import re
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.errors import InputError
from esr.loaders import Source, get
from esr.loaders.archives.sgml import iterate_elements
from esr.text.document import Document, Sentence
from tests.loaders.conftest import texts
from tests.support.processes import check_linear
from tests.support.samples import sample

PLAIN = """
<DOC>
<DOCNO> AP-1 </DOCNO>
<FILEID>AP-NR-1</FILEID>
<HEADLINE>
Quake  in
the north
</HEADLINE>
<DATE_TIME> 1999-01-01 00:10:27 </DATE_TIME>
<TEXT>
<P>
It was strong. AT&T lines
went down.
</P>
<P>
Relief teams set out
</P>
</TEXT>
</DOC>
"""
TAGGED = """<DOC>
<DOCNO>XIE19990101.0001</DOCNO>
<TEXT>
<s docid="XIE19990101.0001" num="1">It was strong.</s>
not tagged
<s docid="XIE19990101.0001" num="2"> Relief
teams set out. </s>
</TEXT>
</DOC>
"""


def load_error(load, data) -> str:
    with pytest.raises(InputError) as error:
        load(data, "trec")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_plain_document_gives_id_title_date_and_split_text(load):
    assert load(PLAIN, "trec") == [
        Document(
            "AP-1",
            (
                Sentence("AP-1.s0", "It was strong.", paragraph=0),
                Sentence("AP-1.s1", "AT&T lines went down.", paragraph=0),
                Sentence("AP-1.s2", "Relief teams set out", paragraph=1),
            ),
            title="Quake in the north",
            date="1999-01-01T00:10:27",
        )
    ]


def test_tagged_sentences_keep_their_numbers_as_ids(load):
    tagged = (
        Sentence("XIE19990101.0001:1", "It was strong."),
        Sentence("XIE19990101.0001:2", "Relief teams set out."),
    )
    assert load(TAGGED, "trec") == [Document("XIE19990101.0001", tagged, date="1999-01-01")]


def test_bare_tagged_sentences_are_grouped_by_docid_in_order(load):
    data = """<s docid="A" num="1">One</s>
<S DOCID='A' num=2></S> <s num="7" docid="B">Two &amp; a half</s>
<s docid="A" num="3">Three</s>"""
    assert load(data, "trec") == [
        Document("A", (Sentence("A:1", "One"), Sentence("A:2", ""))),
        Document("B", (Sentence("B:7", "Two & a half"),)),
        Document("A", (Sentence("A:3", "Three"),)),
    ]


def test_documents_and_bare_sentences_may_be_in_one_file(load):
    data = PLAIN + '<s docid="A" num="1">One</s>' + PLAIN.replace("AP-1", "AP-2") + TAGGED
    assert [d.id for d in load(data, "trec")] == ["AP-1", "A", "AP-2", "XIE19990101.0001"]


def test_tags_may_be_in_lower_case_and_on_one_line(load):
    data = "<?xml version='1.0'?><docs>" + PLAIN.lower().replace("\n", " ") * 2 + "</docs>"
    assert [(d.id, len(d.sentences)) for d in load(data, "trec")] == [("ap-1", 3), ("ap-1", 3)]


@pytest.mark.parametrize("tag", ["HEADLINE", "TITLE", "HL", "HEAD", "TI"])
def test_the_title_may_have_any_of_several_tags(load, tag):
    data = f"<DOC><DOCNO>1</DOCNO><{tag}>  </{tag}><{tag}>A <B>title</B></{tag}><TEXT>x</TEXT></DOC>"
    assert load(data, "trec")[0].title == "A title"


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("<DATE>January 7, 1989, Saturday, Home Edition</DATE>", "1989-01-07"),
        ("<DATE><P>July 3, 1990</P></DATE>", "1990-07-03"),
        ("<DATE>02/03/89</DATE>", None),
        ("<DATE>02/03/89</DATE><DD>1989-02-03</DD>", "1989-02-03"),
        ("<DATE></DATE>", None),
        ("<DATE>920527\n</DATE>", "1992-05-27"),
        ("<DD> = 870332 </DD>", None),
    ],
)
def test_a_date_is_used_if_it_is_unambiguous(load, written, date):
    assert load(f"<DOC><DOCNO>1</DOCNO>{written}</DOC>", "trec")[0].date == date


def test_the_date_in_an_aquaint_id_is_the_last_resort(load):
    data = '<s docid="APW20000229.0123" num="1">x</s><s docid="APW20000230.0123" num="1">x</s>'
    assert [d.date for d in load(data, "trec")] == ["2000-02-29", None]


def test_a_lead_paragraph_and_all_texts_are_read_in_order(load):
    data = "<DOC><DOCNO>1</DOCNO><LP>One lead</LP><TEXT>Two</TEXT><TEXT>Three</TEXT></DOC>"
    assert [s.text for s in load(data, "trec")[0].sentences] == ["One lead", "Two", "Three"]


def test_comments_are_not_text_and_trec_entities_and_sources_are_read(load):
    data = (
        "<DOC><DOCNO>1</DOCNO><PUB>The Example\n</PUB><TEXT><!-- PJG\n ITAG l=90 -->The 1994&hyph;95&blank;"
        "season<!-- PJG 0012 frnewline -->\nbegan.</TEXT></DOC>"
    )
    (document,) = load(data, "trec")
    assert (document.source, [s.text for s in document.sentences]) == (
        "The Example",
        ["The 1994-95 season began."],
    )


def test_the_preamble_of_the_fbis_is_not_text(load):
    """As its README (NIST, TREC disk 5) shows it."""
    data = (
        "<DOC><DOCNO> FBIS3-1 </DOCNO><H3><TI> Ferry Back </TI></H3><F P=102> radio 15 Jan </F><TEXT>\n"
        "Language: <F P=105> Norwegian </F>\nArticle Type:BFN\n\n  [Text] The ferry sails.\n</TEXT></DOC>"
    )
    (document,) = load(data, "trec")
    assert (document.title, [s.text for s in document.sentences]) == ("Ferry Back", ["The ferry sails."])


def test_a_paragraph_tag_ends_a_sentence_and_other_tags_do_not():
    data = b"<DOC><DOCNO>1</DOCNO><TEXT><P>A heading</P><p>The <B>text</B> of<BR>it</TEXT></DOC>"
    (record,) = get("trec").read(Source("f", "f", io.BytesIO(data)))
    assert [" ".join(p.split()) for p in record.fields["text"].split("\n\n") if p.strip()] == [
        "A heading",
        "The text of it",
    ]


def test_ampersands_outside_of_entities_stay(load):
    data = "<DOC><DOCNO>1</DOCNO><TEXT>AT&T &amp; R&D &lt;x&gt; &#233; &copy &UR; 3 < 4 > 2</TEXT></DOC>"
    assert load(data, "trec")[0].sentences[0].text == "AT&T & R&D <x> é &copy &UR; 3 < 4 > 2"


def test_a_document_without_text_has_no_sentence(load):
    assert load("<DOC><DOCNO>1</DOCNO></DOC>", "trec") == [Document("1", ())]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("\n<DOC>\n<DOCNO>1</DOCNO>", "standard input:2: this <DOC> has no </DOC>"),
        (PLAIN + "<DOC>\n", "standard input:20: this <DOC> has no </DOC>"),
        ('\n\n<s docid="a" num="1">x', "standard input:3: this <s> has no </s>"),
        (PLAIN + "\n<DOC><TEXT>x</TEXT></DOC>", "standard input:21: this <DOC> has no <DOCNO>"),
        ("\n<DOC>\n<DOC><DOCNO>1</DOCNO></DOC>", "standard input:2: this <DOC> contains another one"),
        ('<s docid="a">x</s>', "standard input:1: a sentence needs a docid and a num"),
        ('<s num="1">x</s>', "standard input:1: a sentence needs a docid and a num"),
        ('<s docid="" num="1">x</s>', "needs a docid and a num"),
        (
            TAGGED.replace('num="2"', 'num="1"'),
            "sentence id 'XIE19990101.0001:1' is duplicated in the document",
        ),
        (
            TAGGED.replace(">XIE", ">APW"),
            "standard input:1: a sentence of document 'APW19990101.0001' has the docid",
        ),
        (TAGGED.replace("strong.</s>", "strong."), "has no </s>: close it"),
        (TAGGED.replace("strong.</s>", "strong.").replace(' num="', '\0 num="'), "has no </s>: close it"),
        ("<DOC><DOCNO>a b</DOCNO></DOC>", "standard input:1: id 'a b' contains ' '"),
        ("no tags at all", "contains no document in the format trec"),
        (PLAIN.encode() + b"caf\xe9", "standard input:20: this line is not UTF-8 (byte 0xe9)"),
    ],
)
def test_an_error_is_reported_with_its_line(load, data, problem):
    message = load_error(load, data)
    assert problem in message and message.isprintable()


def test_the_place_of_a_document_is_the_line_it_begins_on():
    data = (
        PLAIN * 200 + '<s docid="A" num="1">One</s>\n<s docid="A" num="2">Two</s>\n<s docid="B" num="1">x</s>'
    )
    places = [record.where for record in get("trec").read(Source("f", "f", io.BytesIO(data.encode())))]
    lines = PLAIN.count("\n")
    assert places == [f"f:{2 + lines * n}" for n in range(200)] + [f"f:{200 * lines + n}" for n in (1, 3)]


@given(
    st.integers(1, 60), st.sampled_from([PLAIN * 3, TAGGED * 2, PLAIN + '<s docid="é" num="1">é</s>\n' * 3])
)
def test_the_result_does_not_depend_on_where_the_stream_is_split(size, data):
    class Slow(io.BytesIO):
        def read(self, _=-1):
            return super().read(size)

    def read(stream):
        return list(get("trec").read(Source("f", "f", stream)))

    assert read(Slow(data.encode())) == read(io.BytesIO(data.encode()))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file():
    class Endless(io.RawIOBase):
        left = 60

        def read(self, _=-1):
            self.left -= 1
            return (PLAIN * 100).encode() if self.left else b""

    tracemalloc.start()
    assert sum(1 for _ in get("trec").read(Source("f", "f", Endless()))) == 5_900
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e6


def test_a_document_without_end_is_rejected_before_it_fills_the_memory(load, monkeypatch):
    monkeypatch.setattr("esr.loaders.archives.sgml.MAX_DOCUMENT_BYTES", 100_000)
    assert "standard input:1: the document that begins here is longer" in load_error(
        load, "<DOC>" + "x" * 300_000
    )


@pytest.mark.parametrize(
    "run",
    [
        "<DOC",
        "<TEXT>",
        "<s ",
        '<s docid="a" ',
        "&#",
        "<P ",
        "</TEXT ",
        "<DOC><DOCNO>",
        "<DATE>Jan. ",
        "January 1 ",
    ],
)
def test_no_repeated_tag_takes_long(run):
    def read(length):
        data = ("<DOC><DOCNO>1</DOCNO><DATE>" + run * (length // len(run)) + "</DATE></DOC>").encode()
        with suppress(InputError):
            list(get("trec").read(Source("f", "f", io.BytesIO(data))))

    check_linear(read, 60_000)  # within a chunk
    check_linear(read, 400_000)  # over several


def test_a_document_of_many_chunks_takes_no_longer_than_its_length():
    def read(length):
        chunks = ["<DOC>", *["It was strong.\n"] * length]
        opening = re.compile("<(DOC)>")
        with pytest.raises(InputError, match="has no </DOC>"):
            list(
                iterate_elements(
                    Source("f", "f", io.BytesIO()), chunks, opening, {"doc": re.compile("</DOC>")}
                )
            )

    check_linear(read, 40_000)


TAGS = ["<DOC>", "</DOC>", "<DOCNO>a</DOCNO>", "<TEXT>", "</TEXT>", "</s>", "<P>", "<s ", ">", "&amp;", "é"]
PIECES = st.sampled_from(
    [*TAGS, "&#xd800;", "&#0;", '<s docid="a" num="1">', "<DATE>1 May 1999", "x. Y", "\n"]
)


@given(st.binary() | st.lists(PIECES, max_size=15).map(lambda pieces: "".join(pieces).encode()))
def test_any_bytes_are_documents_or_an_input_error(load, data):
    try:
        assert load(data, "trec")
    except InputError as error:
        assert "\n" not in str(error)


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
