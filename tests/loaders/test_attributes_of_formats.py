"""Authors, sections, keywords and metadata of each format that has them, in its own words."""

import pytest

from tests.support.samples import sample

CASES = {
    "reuters": (
        (b"<TEXT>&#2;\n<TITLE>", b"<TEXT>&#2;\n<AUTHOR>    By Jane Doe, Reuters</AUTHOR><TITLE>"),
        (["Jane Doe"], None, ["ship"], {"places": ["norway"]}),
    ),
    "nitf": (
        (
            b"</docdata>",
            b'<key-list><keyword key="ferry"/></key-list></docdata><meta name="desk" content="Sea"/>'
            b'<meta name="section" content="World"/>',
        ),
        (["A. Writer"], "World", ["ferry"], {"desk": ["Sea"]}),
    ),
    "newsml": (
        (
            b"<headline>Ferry",
            b'<by>By Jane Doe and John Roe</by><keyword>ferry</keyword><subject qcode="medtop:1"><name>'
            b"transport</name></subject><headline>Ferry",
        ),
        (["Jane Doe", "John Roe"], None, ["ferry", "transport"], {}),
    ),
    "newsml1": (
        (
            b"<SlugLine>Ferry</SlugLine>",
            b"<ByLine>By Jane Doe</ByLine><KeywordLine>ferry, sea</KeywordLine>",
        ),
        (["Jane Doe"], None, ["ferry", "sea"], {}),
    ),
    "feed": (
        (b"<description>Short.", b"<author>Jane Doe</author><category>Sea</category><description>Short."),
        (["Jane Doe"], None, ["Sea"], {}),
    ),
    "html": (
        (
            b"<meta charset",
            b'<meta name="author" content="Jane Doe"><meta name="keywords" content="ferry, sea">'
            b'<meta property="article:section" content="World"><meta charset',
        ),
        (["Jane Doe"], "World", ["ferry", "sea"], {}),
    ),
    "mbox": (
        (b"Subject: =?", b"Keywords: ferry, sea\nSubject: =?"),
        (["A Writer"], None, ["ferry", "sea"], {}),
    ),
    "trec": (
        (b"", b""),
        (["JANE DOE"], "World; Part A", ["FERRIES", "SEA"], {}),
    ),
}
TREC = (
    b"<DOC><DOCNO>a</DOCNO><BYLINE>By JANE DOE</BYLINE><SECTION><P>World; Part A</P></SECTION>"
    b"<SUBJECT>FERRIES; SEA</SUBJECT><TEXT>It sails.</TEXT></DOC>"
)


@pytest.mark.parametrize("format", CASES)
def test_what_a_format_knows_of_a_document_is_read(load, format):
    (old, new), expected = CASES[format]
    data = TREC if format == "trec" else sample(format)
    assert old in data
    document = load(data.replace(old, new, 1), format)[0]
    known = [*document.authors], document.section, [*document.keywords], dict(document.metadata)
    assert known == expected


def test_the_title_of_an_author_is_no_name(load):
    data = sample("nitf").replace(b"By A. Writer", b"By Jane Doe <byttl>Staff Writer</byttl>")
    assert load(data, "nitf")[0].authors == ("Jane Doe",)


def test_an_element_that_is_not_closed_is_no_section(load):
    data = b"<DOC><DOCNO>a</DOCNO><SECTION>World<TEXT>" + b"It sails. " * 200 + b"</TEXT></DOC>"
    assert load(data, "trec")[0].section is None
