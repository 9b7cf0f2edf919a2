import json
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.loaders import ReadOptions, Source, json_cursor, json_layout, read_documents, utf8
from tests.loaders.conftest import texts
from tests.support.samples import sample

JSON = sample("json")


@pytest.fixture
def read(tmp_path):
    """A function from a file's text to the ids of its documents and the remarks about them."""

    def read(text, name="x.json"):
        (tmp_path / name).write_text(text)
        remarks = []
        options = ReadOptions(on_remark=remarks.append)
        documents = [located.document for located in read_documents([str(tmp_path / name)], options=options)]
        return [document.id for document in documents], [remark.text for remark in remarks]

    return read


def test_arrays_objects_and_envelopes_follow_one_another(load):
    documents = load(JSON)
    assert [document.id for document in documents] == ["n1", "n2", "n3", "n4", "n5"]
    assert texts(documents[0])[1] == "Two hundred people were aboard 😀."
    assert documents[1].sentences[0].features == {"score": 0.5}
    assert texts(documents[3]) == ['Nobody 😀 said "why".']


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "a"}, {"id": "b"}]',
        '[\n  {\n    "id": "a"\n  },\n  {\n    "id": "b"\n  }\n]\n',
        '{\n  "id": "a"\n}\n{\n  "id": "b"\n}\n',
        '{"id":\n"a"}{"id": "b"}',
        '[{"id": "a"}]\n[]\n[{"id": "b"}]',
        '\ufeff\n[{"id": "a"},{"id": "b"}]',
        '{"id": "a"}\n{"id": "b"}\n',
    ],
)
@pytest.mark.parametrize("name", ["x.json", "x", "x.odd"])
def test_every_layout_is_recognised_by_its_content(read, text, name):
    assert read(text, name) == (["a", "b"], [])


@pytest.mark.parametrize(
    ("text", "ids", "path"),
    [
        ('{"data": {"id": "a", "title": "T"}}', ["a"], "data"),
        ('{"status": "ok", "articles": [{"id": "a"}, {"id": "b"}]}', ["a", "b"], "articles"),
        ('{"response": {"status": "ok", "results": [{"id": "a"}]}}', ["a"], "response.results"),
        ('{"meta": {"n": 1}, "response": {"docs": [{"id": "a"}]}}', ["a"], "response.docs"),
        ('{"tags": ["x"], "response": {"docs": [{"id": "a", "url": "u"}]}}', ["a"], "response.docs"),
        (
            '{"hits": {"total": 1, "hits": [{"_id": "a", "_source": {"title": "T"}}]}}',
            ["a"],
            "hits.hits._source",
        ),
        ('[{"_id": "a", "_source": {"title": "T"}}]', ["a"], "_source"),
        ('{"data": [{"id": "a", "attributes": {"title": "T"}}]}', ["a"], "data.attributes"),
        ('{"_id": "a", "_source": {"title": "T"}}', ["a"], "_source"),
    ],
)
def test_documents_in_other_objects_are_found_and_it_is_said(read, text, ids, path):
    found, remarks = read(text)
    assert found == ids
    remark = f"are in {path!r} of other JSON"
    assert [text for text in remarks if "JSON" in text] == [remark] * len(ids)


def test_envelopes_may_be_lines_of_json_lines(read):
    lines = '{"data": {"id": "a", "title": "T"}}\n{"articles": [{"id": "b", "title": "T"}, {"id": "c"}]}\n'
    assert read(lines, "x.jsonl")[0] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "a", "text": "x", "data": {"title": "T", "text": "y"}}',
        '{"id": "a", "body": "x", "items": [{"id": "b", "text": "y"}]}',
        '{"id": "a", "data": {"views": 3}, "title": "T"}',
        '{"id": "a", "sentences": [{"text": "x"}], "results": [{"id": "b", "text": "y"}]}',
        '{"id": "a", "documents": ["b", "c"], "hits": [], "news": {}, "value": 7}',
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_with_other_objects_in_it_stays_one(read, text, indent):
    text = json.dumps(json.loads(text), indent=indent)
    for ids, remarks in (read(text), read(f"[{text}]")):
        assert ids == ["a"] and not [remark for remark in remarks if "JSON" in remark]


def test_a_text_after_the_documents_in_an_object_is_an_error_and_not_lost(load_error):
    text = '{\n"data": [{"id": "a"}], "text": "x"}'
    assert load_error(text) == (
        "standard input:1:1: this object has a text and other documents in it: separate them"
    )


def test_envelopes_are_opened_four_deep(read):
    inner = '{"id": "a", "title": "T"}'
    for _ in range(4):
        inner = f'{{"data": {inner}}}'
    assert read(inner)[0] == read(f"[{inner}]")[0] == ["a"]


@pytest.mark.parametrize("indent", [None, 2])
def test_the_place_of_a_document_is_its_line_and_column(tmp_path, indent):
    text = json.dumps([{"id": "a"}, {"id": "b"}], indent=indent)
    (tmp_path / "x.json").write_text(text)
    places = [located.where.partition(".json")[2] for located in read_documents([str(tmp_path)])]
    assert places == ([":1:2", ":1:15"] if indent is None else [":2:3", ":5:3"])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_chunks_may_end_anywhere(load, monkeypatch, size):
    documents = load(JSON, "json")
    monkeypatch.setattr(utf8, "_CHUNK_BYTES", size)
    assert load(JSON, "json") == documents
    bad = []
    load(JSON[:-3], "json", bad)
    assert bad[0].where == "standard input:22:21"


@pytest.mark.parametrize("number", ["12345.5e3", "-0.25", "true", "null", "12345"])
def test_a_number_may_be_cut_by_the_end_of_a_chunk(load, monkeypatch, number):
    monkeypatch.setattr(utf8, "_CHUNK_BYTES", 1)
    text = f'{{"n": {number}, "id": "a", "sentences": [{{"text": "", "features": {{"f": 1.25}}}}]}}'
    assert load(text, "json")[0].sentences[0].features == {"f": 1.25}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[{"id": "a"},\n{"id": "b"]', "2:11: broken JSON: Expecting ',' delimiter"),
        ('[{"id": "a"}\n{"id": "b"}]', "2:1: broken JSON: a comma separates the elements of an array"),
        ('[{"id": "a"},\n', "2:1: broken JSON: Expecting value"),
        ('[{"id": "a"}\n', "2:1: the JSON ends too early: a comma separates"),
        ('{"id": "a"}\nx', "2:1: not JSON: documents are objects"),
        ('{"id":\n"a",}', "2:5: broken JSON: the names of an object are in double quotes"),
        ('{"id"\n"a"}', "2:1: broken JSON: a colon separates a name from its value"),
        ('[{"id": "a", "text": "one\ntwo"}]', "1:26: broken JSON: Invalid control character"),
        ('[\n{"id": "a', "2:8: broken JSON: Unterminated string"),
        ("[\n" + "[" * 100_000, "2:1: the JSON is nested too deeply for a document: flatten it"),
        (b'[{"id": "a"},\n{"id": "caf\xe9"}]', "2: this line is not UTF-8 (byte 0xe9)"),
    ],
)
def test_broken_json_is_named_with_its_line_and_column(load_error, text, problem):
    assert load_error(text, "json").startswith(f"standard input:{problem}")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("7", "not a JSON object"),
        ("null", "not a JSON object"),
        ('"x"', "not a JSON object"),
        ("[]", "not a JSON object"),
        ('{"id": "x", "n": NaN}', "NaN is not a JSON number, leave it out"),
        ('{"id": "x", "n": ' + "1" * 5000 + "}", "a number has too many digits"),
        ('{"id": "x", "text": 7}', "text must be a string"),
        ('{"source": "x"}', "the document has no id"),
    ],
)
def test_a_bad_element_of_an_array_is_malformed_and_those_after_it_are_read(load, value, problem):
    bad = []
    documents = load(f'[{{"id": "a"}},\n{value},\n{{"id": "b"}}]', "json", bad)
    assert [document.id for document in documents] == ["a", "b"]
    assert [(b.where, problem in b.problem) for b in bad] == [("standard input:2:1", True)]


def test_a_bad_value_in_an_object_over_lines_is_malformed_and_those_after_it_are_read(load):
    bad = []
    assert [d.id for d in load('{\n"n": NaN,\n"id": "a"}\n{\n"id": "b"}', "json", bad)] == ["b"]
    assert (bad[0].where, bad[0].problem[:11]) == ("standard input:1:1", "broken JSON")


def test_a_document_without_end_does_not_fill_the_memory(load_error, monkeypatch):
    monkeypatch.setattr(json_cursor, "MAX_DOCUMENT_BYTES", 2000)
    monkeypatch.setattr("esr.loaders.json_stream.MAX_DOCUMENT_BYTES", 2000)
    monkeypatch.setattr(utf8, "_CHUNK_BYTES", 100)
    assert "standard input:2: the document that begins here is longer" in load_error(
        '[\n{"id": "a", "text": "' + "x" * 10_000, "json"
    )
    members = ", ".join(f'"k{n}": 1' for n in range(1000))
    assert "standard input:1:1: this object is longer than" in load_error(f'{{"id": "a", {members}}}', "json")


@pytest.mark.parametrize("head", [b"[{", b"[1, 2]", b"[x](y)", b"{x", b"[[{", b'"x"'])
def test_other_text_is_not_taken_for_json(head):
    assert not json_layout.is_json(head)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "items", "id", "x"]), inner)
    ),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=4), min_size=1, max_size=4),
    st.integers(1, 9),
)
def test_a_stream_of_objects_is_decoded_as_json_does(objects, size):
    text = "".join(json.dumps(fields, indent=size % 3 or None) for fields in objects)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utf8, "_CHUNK_BYTES", size)
        cursor = json_cursor.JsonCursor(Source("x", "x", BytesIO(text.encode())))
        decoded = []
        while cursor.peek():
            decoded.append(cursor.decode())
    assert decoded == objects
