import io
import json
import tracemalloc
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from esr.documents import Document, ParseWord, Sentence
from esr.documents.validate import MAX_PARAGRAPH
from esr.errors import InputError
from esr.loaders import Source, jsonl, read_documents, utf8

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
    monkeypatch.setattr(utf8, "MAX_DOCUMENT_BYTES", 100)
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
    known = st.none() | TEXT.filter(str.strip)
    dates = st.none() | st.dates().map(str)
    return Document(draw(ID), sentences, draw(known), draw(dates), draw(known), draw(known), draw(known))


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
