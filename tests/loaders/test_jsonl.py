"""A JSON array of 2 GB through a pipe: the peak of the process' memory is that for a small one."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tracemalloc
from io import BytesIO
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from esr.errors import InputError
from esr.loaders import ReadOptions, Source, encoding, jsonl, read_documents
from esr.loaders.format import Record
from esr.loaders.jsonl import is_json
from esr.text.document import Document, ParseWord, Sentence
from esr.text.languages import standardise_language
from esr.text.validate import MAX_PARAGRAPH
from tests.loaders.conftest import texts
from tests.support.runs import only_long
from tests.support.samples import sample

GOOD = '{"id": "a", "text": "One."}'


def load_error(load, data) -> str:
    with pytest.raises(InputError) as error:
        load(data, "jsonl")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_line_is_a_document(load):
    data = '{"id": "a", "title": "T", "text": "One. Two."}\n{"id": "b", "sentences": [{"text": "x"}]}'
    assert load(data, "jsonl") == [
        Document(
            "a", (Sentence("a.s0", "One.", paragraph=0), Sentence("a.s1", "Two.", paragraph=0)), title="T"
        ),
        Document("b", (Sentence("b.s0", "x"),)),
    ]


def test_blank_lines_a_byte_order_mark_and_any_line_end_are_ignored(load):
    data = "\ufeff\n \t\r\n" + GOOD + "\r\n\n" + '{"id": "b"}'
    assert [d.id for d in load(data, "jsonl")] == ["a", "b"]


def test_a_byte_order_mark_may_precede_the_first_document(load):
    assert load("\ufeff" + GOOD, "jsonl")[0].id == "a"


def test_line_separators_within_a_string_do_not_end_a_line(load):
    assert load('{"id": "a", "title": "x\u2028y\x85z"}', "jsonl")[0].title == "x\u2028y\x85z"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "b", "text": "x"', "broken JSON at column 24"),
        ("{'id': 'b'}", "broken JSON at column 2"),
        ('{"id": "b"} {"id": "c"}', "broken JSON at column 13: Extra data"),
        ('{"id": "b", "text": "tab\there"}', "broken JSON"),
        ("nonsense", "broken JSON at column 1"),
        ("[]", "not a JSON object"),
        ('"b"', "not a JSON object"),
        ("null", "not a JSON object"),
        ('{"source": "x"}', "has no id"),
        ('{"id": [7]}', "id must be a string"),
        ('{"id": "b", "text": ["x", 7]}', "text must be a string, not a list"),
        ('{"id": "b", "x": NaN}', "NaN is not a JSON number"),
        (
            '{"id": "b", "sentences": [{"text": "x", "features": {"f": -Infinity}}]}',
            "-Infinity is not a JSON number",
        ),
        ('{"id": "b", "sentences": [{"text": "x", "features": {"f": 1e999}}]}', "must be a finite number"),
        ('{"id": "b", "x": ' + "1" * 5000 + "}", "a number has too many digits"),
        ('{"id": "b", "text": "\\ud800"}', "lone surrogate"),
        ("[" * 200_000, "nested too deeply"),
        (b'{"id": "b", "text": "caf\xe9"}', "this line is not UTF-8 (byte 0xe9)"),
        ('{"id": "b"}'.encode("utf-16"), "this line is not UTF-8 (byte 0xff)"),
    ],
)
def test_a_broken_line_is_named_with_its_number(load, line, problem):
    line = line if isinstance(line, bytes) else line.encode()
    message = load_error(load, GOOD.encode() + b"\n\n" + line + b"\n" + GOOD.encode())
    assert message.startswith("standard input:3: ")
    assert problem in message


def test_a_file_is_named_with_its_path(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text(GOOD + "\n{")
    with pytest.raises(InputError) as error:
        list(read_documents([str(path)]))
    assert str(error.value).startswith(f"{path}:2: broken JSON")


def test_documents_before_a_broken_line_come_first(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text(GOOD + "\n{")
    documents = read_documents([str(path)])
    first = next(documents)
    assert (first.where, first.document.id) == (f"{path}:1", "a")


def test_a_line_without_end_is_rejected_before_it_fills_the_memory(load, monkeypatch):
    monkeypatch.setattr(encoding, "MAX_DOCUMENT_BYTES", 100)
    assert load(GOOD.ljust(99) + "\n", "jsonl")[0].id == "a"
    assert "standard input:2: the document that begins here is longer" in load_error(
        load, GOOD + "\n" + "x" * 101
    )


def test_an_endless_line_is_rejected_without_reading_all_of_it():
    class Endless(io.RawIOBase):
        def readline(self, size: int = -1) -> bytes:
            assert 0 < size < 100e6
            return b"x" * size

    with pytest.raises(InputError, match=r"^f:1: the document that begins here is longer than 64 MiB"):
        next(jsonl.read(Source("f", "f", Endless())))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "news.jsonl"
    line = json.dumps({"id": "a", "sentences": [{"text": "word " * 200}]}) + "\n"
    path.write_text(line * 20_000)  # 20 MB
    tracemalloc.start()
    assert sum(1 for _ in read_documents([str(path)])) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


TEXT = st.text(max_size=20).map(lambda text: normalize("NFC", text))
NAME = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
PARSES = st.lists(TEXT, max_size=4).map(
    lambda words: tuple(ParseWord(word, position - 1) for position, word in enumerate(words))
)
ID = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


@st.composite
def random_documents(draw):
    ids = draw(st.lists(ID, unique=True, max_size=4))
    sentences = tuple(
        Sentence(
            id,
            draw(TEXT),
            draw(st.dictionaries(NAME, NUMBER, max_size=3)),
            draw(st.none() | PARSES),
            draw(st.none() | st.integers(0, MAX_PARAGRAPH)),
        )
        for id in ids
    )
    known, bare = st.none() | TEXT.filter(str.strip), st.none() | TEXT.map(str.strip).filter(bool)
    dates, tags = st.none() | st.dates().map(str), bare.map(lambda tag: tag and standardise_language(tag))
    return Document(draw(ID), sentences, draw(known), draw(dates), draw(known), draw(bare), draw(tags))


def as_json(document: Document, ascii: bool) -> str:
    def sentence(s: Sentence) -> dict:
        parse = None if s.parse is None else [word._asdict() for word in s.parse]
        return {**asdict(s), "parse": parse}

    names = ("id", "title", "date", "source", "url", "language")
    fields = {name: getattr(document, name) for name in names}
    return json.dumps({**fields, "sentences": list(map(sentence, document.sentences))}, ensure_ascii=ascii)


@given(st.lists(random_documents(), min_size=1, max_size=3), st.booleans())
def test_documents_written_as_json_are_read_back_unchanged(load, documents, ascii):
    assert load("\n".join(as_json(d, ascii) for d in documents), "jsonl") == documents


PIECES = st.sampled_from(
    [
        b'{"id": "a"',
        b'"id":',
        b'"text": "',
        b'"sentences": [{"text": ""',
        b"}]",
        b"}",
        b"{",
        b"\n",
        b"\\ud8",
        b",",
    ]
)


@given(st.binary() | st.lists(PIECES | st.binary(max_size=3), max_size=12).map(b"".join))
def test_any_bytes_are_documents_or_an_input_error(load, data):
    try:
        assert load(data, "jsonl")
    except InputError as error:
        assert "\n" not in str(error)


@given(st.data())
def test_a_line_with_any_byte_changed_is_a_document_or_an_input_error(load, data):
    line = bytearray(
        b'{"id": "a", "sentences": [{"text": "", "features": {"f": 1}, "parse": [{"word": "", "head": 0}]}]}'
    )
    line[data.draw(st.integers(0, len(line) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert load(bytes(line), "jsonl")
    except InputError as error:
        assert str(error).startswith("standard input")


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
        '{"id": "a", "data": {"title": "T", "url": "u"}, "items": [{"id": "b", "text": "y"}], "text": "x"}',
        '{"id": "a", "sentences": [{"text": "x"}], "results": [{"id": "b", "text": "y"}]}',
        '{"id": "a", "documents": ["b", "c"], "hits": [], "news": {}, "value": 7}',
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_with_other_objects_in_it_stays_one(read, text, indent):
    text = json.dumps(json.loads(text), indent=indent)
    for ids, remarks in (read(text), read(f"[{text}]")):
        assert ids == ["a"] and not [remark for remark in remarks if "JSON" in remark]


def test_a_text_after_many_documents_in_an_object_is_an_error_and_not_lost(load_error, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_HELD", 30)
    text = '{\n"data": [{"id": "a"}], "text": "x"}'
    assert load_error(text).startswith("standard input:1:1: this object has a text and other documents")


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_the_items_of_a_json_feed_are_documents_also_if_the_feed_is_described(read, indent, is_sorted):
    items = [{"id": "a", "content_text": "x"}, {"id": "b", "content_html": "<p>y</p>"}]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "T", "description": "D", "items": items}
    ids, remarks = read(json.dumps(feed, indent=indent, sort_keys=is_sorted))
    assert ids == ["a", "b"] and "are in 'items' of other JSON" in remarks


@pytest.mark.parametrize("indent", [None, 1])
def test_the_items_of_a_json_feed_have_its_title_as_source_and_its_language(load, indent):
    items = [{"id": "a", "content_text": "x"}, {"id": "b", "language": "fr", "content_text": "y"}]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "T", "language": "en", "items": items}
    documents = load(json.dumps(feed, indent=indent), "json")
    assert [(d.id, d.source, d.language) for d in documents] == [("a", "T", "en"), ("b", "T", "fr")]


FEED = {
    "items": [{"id": "a", "content_text": "x"}, {"id": "b", "language": "fr", "content_text": "y"}],
    "language": "en",
    "title": "T",
    "version": "https://jsonfeed.org/version/1.1",
}


@pytest.mark.parametrize("indent", [None, 1])
def test_the_title_of_a_json_feed_may_stand_behind_its_items(load, indent):
    documents = load(json.dumps(FEED, indent=indent), "json")
    assert [(d.id, d.source, d.language) for d in documents] == [("a", "T", "en"), ("b", "T", "fr")]


def test_items_that_may_be_those_of_a_long_feed_are_not_held_in_memory(load, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_HELD", 30)
    documents = load(json.dumps(FEED, indent=1), "json")
    assert [(d.id, d.source) for d in documents] == [("a", None), ("b", None)]


@pytest.mark.parametrize("behind", ['"title": ', '"title": "T" "', '"title": "T", "text": "t"}'])
def test_items_are_read_although_what_stands_behind_them_is_broken(behind, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_HELD", 50)
    data = f'{{"items": [{GOOD}], {behind}'.encode()
    found = []
    with pytest.raises(InputError):
        for result in jsonl.read_json_stream(Source("x", "x", BytesIO(data))):
            found.append(result)
    assert [result.fields["id"] for result in found if isinstance(result, Record)] == ["a"]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_a_json_feed_without_items_has_no_document(tmp_path, indent, is_sorted):
    feed = tmp_path / "feed.json"
    feed.write_text(json.dumps(FEED | {"items": []}, indent=indent, sort_keys=is_sorted))
    with pytest.raises(InputError, match="contains no document"):
        list(read_documents([str(feed)]))
    (tmp_path / "a.json").write_text(GOOD)
    assert [located.document.id for located in read_documents([str(tmp_path)])] == ["a"]


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
    monkeypatch.setattr(encoding, "CHUNK_BYTES", size)
    assert load(JSON, "json") == documents
    bad = []
    load(JSON[:-3], "json", bad)
    assert bad[0].where == "standard input:22:21"


@pytest.mark.parametrize("number", ["12345.5e3", "-0.25", "true", "null", "12345"])
def test_a_number_may_be_cut_by_the_end_of_a_chunk(load, monkeypatch, number):
    monkeypatch.setattr(encoding, "CHUNK_BYTES", 1)
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
        ('{"source": "x"}', "the document has no id, title or address, and it has no text"),
        ('{"source": "x", "text": ""}', "the document has no id, title or address, and its text is empty"),
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
    monkeypatch.setattr(jsonl, "MAX_HELD", 500)
    monkeypatch.setattr(jsonl, "MAX_DOCUMENT_BYTES", 2000)
    monkeypatch.setattr("esr.loaders.jsonl.MAX_DOCUMENT_BYTES", 2000)
    monkeypatch.setattr(encoding, "CHUNK_BYTES", 100)
    assert "standard input:2: the document that begins here is longer" in load_error(
        '[\n{"id": "a", "text": "' + "x" * 10_000, "json"
    )
    members = ", ".join(f'"k{n}": 1' for n in range(1000))
    assert "standard input:1:1: this object is longer than" in load_error(f'{{"id": "a", {members}}}', "json")


@pytest.mark.parametrize("head", [b"[{", b"[1, 2]", b"[x](y)", b"{x", b"[[{", b'"x"'])
def test_other_text_is_not_taken_for_json(head):
    assert not is_json(head)


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
        patch.setattr(encoding, "CHUNK_BYTES", size)
        cursor = jsonl.JsonCursor(Source("x", "x", BytesIO(text.encode())))
        decoded = []
        while cursor.peek():
            decoded.append(cursor.decode())
    assert decoded == objects


ROOT = Path(__file__).resolve().parents[2]
READ = """
import resource
from esr.loaders import read_documents
count = sum(1 for _ in read_documents(["-"]))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
BODY = "The ferry sails again. " * 900
REST = json.dumps({"title": "Ferry", "html": BODY, "sentences": [{"text": "x"}]})[1:-1].encode()
"""Of each document, beside its id."""
ALLOWED_GROWTH = 16 * 2**20


def read_in_a_process(start: str, end: str, count: int) -> tuple[int, int, int]:
    """How many documents were read, the peak of memory in bytes, and the size of what was read."""
    child = subprocess.Popen(
        [sys.executable, "-c", READ], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin
    size = child.stdin.write(start.encode())
    separator = b""
    for number in range(count):
        size += child.stdin.write(b'%b{"id": "i%d", %b}' % (separator, number, REST))
        separator = b",\n" if number % 2 else b", "
    child.stdin.write(end.encode())
    documents, kilobytes = child.communicate()[0].split()
    assert child.returncode == 0
    return int(documents), int(kilobytes) * 1024, size


@only_long
@pytest.mark.endurance
@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"status": "ok", "articles": [', "]}")])
def test_an_array_of_two_gigabytes_takes_no_more_memory_than_a_small_one(start: str, end: str) -> None:
    _, small, _ = read_in_a_process(start, end, 1000)
    count = 2**31 // len(BODY) + 1
    documents, large, size = read_in_a_process(start, end, count)
    assert documents == count and size > 2**31
    assert large < small + ALLOWED_GROWTH, f"{small / 2**20:.0f} MiB grew to {large / 2**20:.0f} MiB"
