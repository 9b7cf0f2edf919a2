"""Dates of sources whose fields anyone has named."""

import json

import pytest

from esr.errors import InputError, UsageError
from esr.loaders import Malformed, ReadOptions, Record, read_documents
from esr.loaders.fields import (
    MissingColumn,
    apply_constants,
    apply_mapping,
    find_known_columns,
    find_replaced,
    is_lossless,
    parse_constants,
    parse_mapping,
    read_list,
)
from esr.text.validate import to_fields
from tests.loaders.conftest import texts
from tests.support.samples import sample


def test_pairs_are_the_fields_of_a_document():
    pairs = ["source=A=B", "authors=Jane", "authors=Jo", "meta.desk=x", "meta.desk=y", "meta.a.b=z"]
    assert parse_constants(pairs) == {
        "source": "A=B",
        "authors": ["Jane", "Jo"],
        "metadata": {"desk": ["x", "y"], "a.b": "z"},
    }
    assert parse_constants([]) == {}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["source"], "--set needs FIELD=VALUE, such as source=Wire or meta.desk=Berlin, not 'source'"),
        (["=x"], "--set needs"),
        (["source= "], "--set needs"),
        (["meta.=x"], "--set needs"),
        (["sorce=x"], "unknown field for --set 'sorce': did you mean 'source'"),
        (["id=x"], "unknown field for --set 'id'"),
        (["text=x"], "unknown field for --set 'text'"),
        (["source=a", "source=b"], "--set source is duplicated: choose 'a' or 'b'"),
        (["date=yesterday"], "--set: date "),
    ],
)
def test_an_invalid_pair_is_rejected(pairs, message):
    with pytest.raises(UsageError, match=message):
        parse_constants(pairs)


def test_constants_replace_what_documents_have_and_it_is_told():
    fields = {"id": "1", "source": "Own", "language": "en", "metadata": {"desk": "x", "n": 1}}
    constants = {"source": "Wire", "language": "en", "section": "Sport", "metadata": {"desk": "y", "m": "z"}}
    metadata = {"desk": "y", "n": 1, "m": "z"}
    assert apply_constants(fields, constants) == {**fields, **constants, "metadata": metadata}
    assert list(find_replaced(fields, constants)) == ["source", "meta.desk"]


def test_every_format_takes_constants(tmp_path):
    (tmp_path / "a.txt").write_text("Title\nText.")
    (tmp_path / "b.csv").write_text("id,text,source\nb,Text.,Own\n")
    remarks = []
    options = ReadOptions(
        constants=parse_constants(["source=Wire", "meta.desk=Berlin"]),
        base=str(tmp_path),
        on_remark=remarks.append,
    )
    documents = [to_fields(located.document) for located in read_documents([str(tmp_path)], options=options)]
    assert [(d["id"], d["source"], d["metadata"]) for d in documents] == [
        ("a", "Wire", {"desk": "Berlin"}),
        ("b", "Wire", {"desk": "Berlin"}),
    ]
    assert [remark.text for remark in remarks] == ["had a source of their own, which --set replaced"]


def taken(**fields):
    def is_date(text):
        return text[:1].isdigit()

    return {known.field: (known.column, known.value) for known in find_known_columns(fields, is_date)}


@pytest.mark.parametrize(
    ("field", "columns"),
    [
        ("title", "headline Title webTitle title_page"),
        ("text", "body content article_text maintext articleBody content_text"),
        ("url", "link canonical_link webUrl article_url"),
        ("source", "Publication source_domain meta_site_name site.name hostname"),
        ("language", "lang meta_lang inLanguage"),
        ("id", "_id GUID Article-ID uri _id.$oid"),
    ],
)
def test_columns_of_other_programs_are_known(field, columns):
    for column in columns.split():
        assert taken(**{column: "x"}) == {field: (column, "x")}


# The keys of news-please 1.6, newspaper4k 0.9, trafilatura 2 and of APIs; the news are made up.
OTHERS = {
    "news-please": {
        "authors": ["A. Writer"],
        "date_download": "2024-03-06 08:00:00",
        "date_modify": None,
        "date_publish": "2024-03-05 10:30:00",
        "description": "A ferry.",
        "filename": "http%3A%2F%2Fx%2Fa.json",
        "image_url": "http://x/a.png",
        "language": "en",
        "localpath": None,
        "maintext": "The ferry sails.",
        "source_domain": "x",
        "title": "Ferry",
        "title_page": None,
        "title_rss": None,
        "url": "http://x/a",
    },
    "newspaper": {
        "url": "http://x/a",
        "source_url": "http://x",
        "title": "Ferry",
        "top_image": "",
        "images": [],
        "movies": [],
        "text": "The ferry sails.",
        "keywords": ["ferry"],
        "meta_data": {"og": {"title": "Ferry"}},
        "authors": ["A. Writer"],
        "publish_date": "2024-03-05T10:30:00",
        "summary": "A ferry.",
        "meta_lang": "en",
        "meta_site_name": "x",
        "canonical_link": "http://x/a",
    },
    "trafilatura": {
        "title": "Ferry",
        "author": "A. Writer",
        "hostname": "x",
        "date": "2024-03-05T10:30:00",
        "raw_text": "The ferry",
        "text": "The ferry sails.",
        "language": "en",
        "url": "http://x/a",
    },
    "NewsAPI": {
        "source": {"id": None, "name": "x"},
        "author": "A. Writer",
        "title": "Ferry",
        "description": "A ferry.",
        "url": "http://x/a",
        "publishedAt": "2024-03-05T10:30:00",
        "content": "The ferry sails.",
        "language": "en",
    },
    "schema.org": {
        "@type": "NewsArticle",
        "headline": "Ferry",
        "datePublished": "2024-03-05T10:30:00",
        "publisher": {"@type": "Organization", "name": "x"},
        "inLanguage": "en",
        "articleBody": "The ferry sails.",
        "url": "http://x/a",
    },
    "WordPress": {
        "date": "2024-03-05T10:30:00",
        "link": "http://x/a",
        "title": {"rendered": "Ferry"},
        "content": {"rendered": "The ferry sails.", "protected": False},
        "site": "x",
        "lang": "en",
    },
}


@pytest.mark.parametrize("program", OTHERS)
def test_documents_of_other_programs_have_all_their_fields(tmp_path, program):
    (tmp_path / "x.json").write_text(json.dumps([OTHERS[program]]))
    (located,) = read_documents([str(tmp_path)], options=ReadOptions(make_id="url"))
    document = located.document
    assert (document.id, document.url, document.title) == ("http://x/a", "http://x/a", "Ferry")
    assert texts(document) == ["The ferry sails."]
    assert (document.date, document.source, document.language) == ("2024-03-05T10:30:00", "x", "en")


def test_objects_are_looked_into_and_it_is_said(read):
    fields = {
        "_id": {"$oid": "a"},
        "date": {"$date": "2024-03-05"},
        "source": {"name": "x"},
        "text": "A ferry.",
    }
    document, remarks = read("x.jsonl", json.dumps(fields))
    assert (document.id, document.date, document.source) == ("a", "2024-03-05", "x")
    assert remarks == [REMARK.format("id in _id.$oid, date in date.$date, source in source.name")]
    assert taken(source={"name": {"x": 1}, "title": " "}) == taken(**{"x" * 99: {"name": "x"}}) == {}


def test_what_is_short_is_the_text_where_nothing_else_is(read):
    document, remarks = read("x.jsonl", json.dumps({"id": "a", "summary": "S.", "description": "D."}))
    assert texts(document) == ["D."] and document.metadata == {"summary": "S."}
    assert remarks == [REMARK.format("text in description")]
    assert taken(content="C.", description="D.") == {"text": ("content", "C.")}


def test_a_date_that_can_be_read_takes_precedence():
    assert taken(published="yes") == {"date": ("published", None)}
    assert taken(published="yes", pubDate="2024-03-05") == {"date": ("pubDate", "2024-03-05")}
    assert taken(timestamp=1709596800) == {"date": ("timestamp", "1709596800")}
    assert taken(timestamp=1709596800.5) == {"date": ("timestamp", "1709596800.5")}
    assert taken(published=True) == {}


def test_a_field_under_its_own_name_takes_precedence():
    assert taken(title=None, headline="x") == taken(text="", body="x") == taken(sentences=[], body="x") == {}


def test_the_first_known_column_with_a_string_is_taken():
    assert taken(body={"x": 1}, content=" ", article="x") == {"text": ("article", "x")}
    assert taken(guid=7) == {"id": ("guid", "7")} and taken(guid=True) == taken(body=7) == {}


@pytest.fixture
def read(tmp_path):
    """A function from a file's name and text to its one document and the remarks about it."""

    def read(name, content, **mapping):
        (tmp_path / name).write_text(content)
        remarks = []
        options = ReadOptions(mapping=mapping, on_remark=lambda remark: remarks.append(remark.text))
        (located,) = read_documents([str(tmp_path / name)], options=options)
        return located.document, remarks

    return read


REMARK = "have their {} (--mapping chooses others)"


def test_json_lines_and_tables_with_other_names_are_read_and_it_is_said(read):
    fields = {"guid": "a", "headline": "Ferry", "published": "2024-03-05", "link": "http://x"}
    fields["body"] = "A ferry."
    table = "\n".join([",".join(fields), ",".join(fields.values())])
    remark = REMARK.format("id in guid, title in headline, date in published, url in link, text in body")
    for name, text in (("x.jsonl", json.dumps(fields)), ("x.csv", table)):
        document, remarks = read(name, text)
        assert (document.id, document.title, document.date) == ("a", "Ferry", "2024-03-05")
        assert (document.url, texts(document), remarks) == ("http://x", ["A ferry."], [remark])


def test_an_unreadable_date_of_another_name_is_told(read):
    document, remarks = read("x.jsonl", '{"id": "a", "text": "x", "published": "yes"}')
    assert (document.date, remarks) == (None, ["have a published that cannot be read, and no date"])


def test_a_mapping_takes_precedence(read):
    line = '{"id": "a", "headline": "Ferry", "kicker": "At sea", "body": "A ferry."}\n'
    document, remarks = read("x.jsonl", line, title="kicker", text="body")
    assert (document.title, texts(document), remarks) == ("At sea", ["A ferry."], [])


def test_a_number_is_an_id(read):
    assert read("x.jsonl", '{"id": 7, "text": "A ferry."}\n')[0].id == "7"


def test_a_list_of_paragraphs_is_a_text(read):
    paragraphs = ["The ferry sails", "", "It rains."]
    for fields in (
        {"id": "a", "text": paragraphs},
        {"id": "a", "paragraphs": paragraphs},
        {"id": "a", "article": paragraphs},
        {"id": "a", "body": [{"text": "The ferry sails"}, {"content": "It rains."}]},
    ):
        for name, content in (("x.jsonl", json.dumps(fields)), ("x.json", json.dumps([fields], indent=1))):
            document, _ = read(name, content)
            assert texts(document) == ["The ferry sails", "It rains."] and not document.metadata
        assert texts(read("x.json", json.dumps(fields, indent=1))[0]) == ["The ferry sails", "It rains."]
    mapped, _ = read("x.jsonl", json.dumps({"id": "a", "parts": paragraphs}), text="parts")
    assert texts(mapped) == ["The ferry sails", "It rains."]
    assert taken(body=["x", 7]) == taken(body=[]) == {}


def test_short_values_beside_documents_in_other_json_are_no_text(read):
    content = json.dumps({"articles": [{"id": "a", "text": "A ferry."}], "news": ["x"]}, indent=1)
    assert texts(read("x.json", content)[0]) == ["A ferry."]


def test_fields_in_an_object_of_fields_are_found_after_those_beside_it(read):
    fields = {
        "headline": "Ferry",
        "byline": "A. Writer",
        "body": "<p>Tags.</p>",
        "bodyText": "The ferry sails.",
    }
    item = {"id": "a", "fields": fields, "headline": "Ferry sails"}
    document, _ = read("x.json", json.dumps({"response": {"results": [item]}}))
    assert (document.title, document.authors) == ("Ferry sails", ("A. Writer",))
    assert texts(document) == ["Tags."]
    del fields["body"]
    assert texts(read("x.jsonl", json.dumps(item))[0]) == ["The ferry sails."]


def test_a_short_description_is_the_text_where_nothing_else_is(read):
    line = {"id": "a", "headline": "Ferry", "short_description": "The ferry sails.", "category": "SEA"}
    document, _ = read("x.jsonl", json.dumps(line))
    assert texts(document) == ["The ferry sails."] and document.section == "SEA"


HTML = "<p>Ferry &amp; bus &#8217;sail&#8217;.</p>\n<script>x()</script><p>It<br/>rains.</p>"


@pytest.mark.parametrize(
    "fields",
    [
        {"content": {"rendered": HTML, "protected": False}, "title": {"rendered": "A &amp; B"}},
        {"content_html": HTML, "title": "A & B"},
        {"text": HTML, "title": "A & B"},
        {"title": {"rendered": "A &amp; B"}, "excerpt": {"rendered": HTML}},
    ],
)
def test_html_is_read_where_a_field_has_it(read, fields):
    document, remarks = read("x.jsonl", json.dumps({"id": "a", **fields}))
    assert document.title == "A & B"
    assert texts(document) == ["Ferry & bus ’sail’.", "It rains."]
    assert any("HTML in their " in remark for remark in remarks)


def test_a_text_with_tags_in_it_is_no_html(read):
    text = "The tag <p> begins a paragraph, and 5 < 6."
    document, remarks = read("x.jsonl", json.dumps({"id": "a", "text": text}))
    assert texts(document) == [text] and remarks == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Jane Doe", ["Jane Doe"]),
        ("By Jane Doe and John Roe", ["Jane Doe", "John Roe"]),
        ("Jane Doe, John Roe and Ann Poe", ["Jane Doe", "John Roe", "Ann Poe"]),
        ("Jane Doe; John Roe", ["Jane Doe", "John Roe"]),
        ("Doe, Jane", ["Doe, Jane"]),
        ("Reuters, Associated Press", ["Reuters, Associated Press"]),
        ("['Jane Doe', 'John Roe']", ["Jane Doe", "John Roe"]),
        ('["Jane Doe"]', ["Jane Doe"]),
        ("[Jane Doe]", ["[Jane Doe]"]),
        ("  ", []),
    ],
)
def test_authors_in_one_text_are_separated(text, names):
    assert read_list("authors", text) == names


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("brexit, climate change", ["brexit", "climate change"]),
        ("Trade; Brexit, soft; ", ["Trade", "Brexit, soft"]),
        ("black and white", ["black and white"]),
        ("[]", []),
        (r"['a\d', 'b']", [r"a\d", "b"]),
    ],
)
def test_keywords_in_one_text_are_separated(text, keywords):
    assert read_list("keywords", text) == keywords


def test_lists_may_have_objects():
    assert read_list("authors", [{"@type": "Person", "name": "Jane Doe"}, "John Roe "]) == [
        "Jane Doe",
        "John Roe",
    ]
    assert read_list("keywords", [{"name": "subject", "value": "Brexit"}]) == ["Brexit"]
    assert read_list("authors", {"name": "Jane Doe"}) == ["Jane Doe"]
    assert not is_lossless([{"@type": "Person", "name": "Jane Doe"}])
    assert is_lossless([{"name": "Jane Doe"}, "John Roe"])


@pytest.mark.parametrize("value", [5, None, [5], [["x"]], [{"first": "Jane"}], {"id": 5}])
def test_what_is_no_list_of_texts_is_not_read(value):
    assert read_list("authors", value) is None


def test_pairs_are_parsed_and_columns_may_contain_an_equals_sign():
    assert parse_mapping(["text=body", "id=a=b"]) == {"text": "body", "id": "a=b"}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["text"], "--mapping needs FIELD=COLUMN, not 'text'"),
        (["=x"], "--mapping needs"),
        (["text="], "--mapping needs"),
        (["txt=x"], "unknown field 'txt': did you mean 'text'"),
        (["id=a", "id=b"], "--mapping id is duplicated"),
        (["text=a", "sentences=b"], "has both text and sentences"),
    ],
)
def test_an_invalid_pair_is_rejected_of_mapping(pairs, message):
    with pytest.raises(UsageError, match=message):
        parse_mapping(pairs)


def test_a_column_loses_its_own_name_and_makes_room_for_it():
    fields = {"id": "1", "title": "x", "body": "Text.", "sentences": "7"}
    assert apply_mapping(Record("x", fields), {"text": "body", "title": "id", "id": "title"}, True) == {
        "id": "x",
        "title": "1",
        "text": "Text.",
    }


def test_a_missing_column_is_an_error_unless_it_is_optional():
    record = Record("x", {"id": "1", "text": "x"})
    with pytest.raises(
        MissingColumn, match="no column 'body' for --mapping text=body; the columns are id, text"
    ):
        apply_mapping(record, {"text": "body"}, False)
    with pytest.raises(MissingColumn, match="no column 'day'"):
        apply_mapping(record, {"date": "day"}, True)
    assert apply_mapping(record, {"date": "day"}, False)["date"] is None


def test_a_record_without_the_column_of_an_optional_field_keeps_its_own():
    record = Record("x", {"id": "1", "source": "x.org", "text": "x"})
    assert apply_mapping(record, {"source": "author"}, False)["source"] == "x.org"
    with_null = Record("x", {**record.fields, "author": None})
    assert apply_mapping(with_null, {"source": "author"}, False)["source"] is None


def test_without_a_mapping_fields_are_unchanged():
    fields = {"id": "1"}
    assert apply_mapping(Record("x", fields), {}, True) is fields


@pytest.fixture
def read_dates(tmp_path):
    """A function from a date in JSON to the date of the document and the remarks about it."""

    def read(date, name="date", **options):
        (tmp_path / "x.jsonl").write_text(json.dumps({"id": "d1", "text": "x", name: date}))
        remarks = []
        options = ReadOptions(on_remark=lambda remark: remarks.append(remark.text), **options)
        (located,) = read_documents([str(tmp_path)], options=options)
        return located.document.date, remarks

    return read


def test_usual_forms_become_iso_8601(read_dates):
    assert read_dates("Tue, 05 Mar 2024 10:30:00 +0100") == ("2024-03-05T10:30:00+01:00", [])


@pytest.mark.parametrize(
    "date", ["2024", "2024-03", "20240305", "2024-03-05T10:30:00", "2024-W10", "20240305T1030Z"]
)
def test_iso_8601_stays_as_json_has_it(read_dates, date):
    assert read_dates(date) == (date, [])


@pytest.mark.parametrize("date", [1709596800, 1709596800.0, "1709596800"])
def test_numbers_are_seconds_since_1970_and_it_is_said(read_dates, date):
    remark = "have a date that was read as seconds since 1970"
    assert read_dates(date) == ("2024-03-05T00:00:00Z", [remark])
    assert read_dates(date, "timestamp")[0] == "2024-03-05T00:00:00Z"


@pytest.mark.parametrize("name", ["date", "published"])
def test_an_ambiguous_date_is_an_error_until_its_order_is_declared(read_dates, name):
    with pytest.raises(
        InputError, match=r":1: document 'd1': date '05/03/2024' is ambiguous: choose --day-first"
    ):
        read_dates("05/03/2024", name)
    date, remarks = read_dates("05/03/2024", name, day_first=True)
    assert (date, remarks[-1]) == ("2024-03-05", "have a date that was read with the day first")
    assert read_dates("05/03/2024", name, day_first=False)[0] == "2024-05-03"


def test_a_mapped_date_is_read_too(read_dates):
    assert read_dates("March 5, 2024", "day", mapping={"date": "day"}) == ("2024-03-05", [])


@pytest.mark.parametrize("date", ["Monday", 7, True, [1], "05/03/24"])
def test_what_is_no_date_is_an_error(read_dates, date):
    with pytest.raises(InputError, match="date "):
        read_dates(date)


def test_an_ambiguous_date_is_malformed_and_those_after_it_are_read(load):
    bad = []
    text = "id,date,text\na,05/03/2024,x\nb,25/03/2024,x\n"
    assert [document.date for document in load(text, "csv", bad)] == ["2024-03-25"]
    problem = "date '05/03/2024' is ambiguous: choose --day-first or --month-first"
    assert bad == [Malformed("standard input:2", problem, "a")]


# Authors, sections, keywords and metadata of each format that has them, in its own words.


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
