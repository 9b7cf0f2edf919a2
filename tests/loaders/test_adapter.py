"""

Nothing that a source gives is lost: what is no field of documents becomes metadata.
"""

import json
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.loaders import ReadOptions, read_documents
from esr.loaders.adapter import collect_metadata, decode
from esr.text.validate import to_fields


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        (r"It cost \$5 or \"less\".", 'It cost $5 or "less".'),
        ("&lt;b&gt;Ferry&lt;/b&gt; sails", "Ferry sails"),
        ('&lt;A HREF="http://x.org/a?b"&gt;Ferry&lt;/A&gt; sails', "Ferry sails"),
        ("<p>One.</p><P class='x'>Two.<br/>Three.", "\n\nOne.\n\n\n\nTwo.\n\nThree."),
        ("Marks &amp; Spencer&#39;s&nbsp;sale &#x2014; &eacute;", "Marks & Spencer's sale — é"),
        ("In <b>HTML</b>, &lt;b&gt; is bold", "In HTML, <b> is bold"),
    ],
)
def test_what_a_writer_of_tables_left_is_decoded(text, decoded):
    assert decode(text) == decoded


@pytest.mark.parametrize(
    "text",
    ["5 < 6 and 7 > 6", "AT&T; R&D", "<name> said", r"C:\Users\a", "a &b c;", "<3", "&nosuch;", "<beta>"],
)
def test_a_text_without_html_is_unchanged(text):
    assert decode(text) == text


@given(st.text(alphabet="xz 5<>&'\"", max_size=40))
def test_what_was_escaped_comes_back(text):
    assert decode(escape(text)) == text


def read(tmp_path, *records, name="news.jsonl", **options):
    """The documents as JSON without their sentences, and what was remarked."""
    file = tmp_path / name
    lines = [json.dumps(record) for record in records]
    file.write_text("\n".join(lines) if name.endswith("l") else records[0])
    remarks = []
    documents = read_documents([str(file)], options=ReadOptions(on_remark=remarks.append, **options))
    fields = [to_fields(located.document) for located in documents]
    for document in fields:
        del document["sentences"]
    return fields, [remark.text for remark in remarks]


def test_unknown_keys_and_what_a_known_one_has_beside_its_value_are_kept(tmp_path):
    record = {
        "id": "1",
        "text": "A.",
        "desk": "Berlin",
        "n": 0,
        "source": {"id": "w", "name": "Wire"},
        "x": None,
        "y": " ",
    }
    fields, remarks = read(tmp_path, record)
    assert fields == [
        {"id": "1", "source": "Wire", "metadata": {"desk": "Berlin", "n": 0, "source": {"id": "w"}}}
    ]
    assert remarks == ["have their source in source.name (--mapping chooses others)"]


def test_authors_section_and_keywords_are_found_under_other_names(tmp_path):
    record = {"id": "1", "text": "A.", "byline": "By Jane Doe", "category": "SPORT", "tags": ["a", "b"]}
    fields, _ = read(tmp_path, record)
    assert fields == [{"id": "1", "authors": ["Jane Doe"], "section": "SPORT", "keywords": ["a", "b"]}]


def test_what_cannot_be_a_field_is_kept_as_it_is(tmp_path):
    record = {
        "id": "1",
        "text": "A.",
        "section": ["a", "b"],
        "keywords": 7,
        "authors": [{"name": "Jo", "url": "u"}],
    }
    fields, _ = read(tmp_path, record)
    metadata = {"section": ["a", "b"], "keywords": 7, "authors": [{"name": "Jo", "url": "u"}]}
    assert fields == [{"id": "1", "authors": ["Jo"], "metadata": metadata}]


def test_what_a_mapping_replaces_is_kept(tmp_path):
    record = {"id": "1", "title": "Old", "head": "New", "text": "A.", "body": "B."}
    fields, _ = read(tmp_path, record, mapping={"title": "head", "text": "body"})
    assert fields == [{"id": "1", "title": "New", "metadata": {"title": "Old", "text": "A."}}]


def test_metadata_of_an_export_takes_precedence_and_stays_the_same(tmp_path):
    record = {"id": "1", "text": "A.", "metadata": {"desk": "Bonn", "x": {"y": [1]}}}
    assert read(tmp_path, {**record, "desk": "Berlin"})[0][0]["metadata"] == record["metadata"]
    assert read(tmp_path, record)[0][0]["metadata"] == record["metadata"]
    assert read(tmp_path, {**record, "metadata": "text"})[0][0]["metadata"] == {"metadata": "text"}


def test_columns_of_a_table_are_kept(tmp_path):
    table = "id,text,Desk,authors,label\n1,A.,Berlin,\"['Jane Doe', 'John Roe']\",\n2,B.,,,x\n"
    fields, _ = read(tmp_path, table, name="news.csv")
    assert fields == [
        {"id": "1", "authors": ["Jane Doe", "John Roe"], "metadata": {"Desk": "Berlin"}},
        {"id": "2", "metadata": {"label": "x"}},
    ]


def test_what_sentences_have_and_cannot_keep_is_told(tmp_path):
    _, remarks = read(tmp_path, {"id": "1", "sentences": [{"text": "A.", "speaker": "x"}, "B."]})
    assert remarks == ["have sentences with speaker, which sentences cannot have: left out"]


def test_columns_that_are_used_are_not_kept():
    given = {"id": "1", "a": {"b": 1, "c": 2}, "d": {"e": 1}, "metadata": {"f": 1}, "g": []}
    assert collect_metadata(given, {"id", "a.b", "d.e"}) == {"a": {"c": 2}, "f": 1}
