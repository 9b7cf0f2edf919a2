import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_LE
from io import BytesIO
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from esr.errors import InputError
from esr.loaders import ReadOptions, read_documents, text
from esr.loaders.encoding import decode_source
from esr.loaders.format import Source
from esr.loaders.ids import make_id
from esr.text.document import Document, Sentence


def test_the_first_line_is_the_title_and_the_rest_the_text(load):
    assert load("Quake in the north\nIt was strong. Nobody\nwas hurt.\n\nMore soon\n", "text") == [
        Document(
            "stdin",
            (
                Sentence("stdin.s0", "It was strong.", paragraph=0),
                Sentence("stdin.s1", "Nobody was hurt.", paragraph=0),
                Sentence("stdin.s2", "More soon", paragraph=1),
            ),
            title="Quake in the north",
        )
    ]


@pytest.mark.parametrize("start", ["", "\ufeff", "\n \n", "\ufeff\r\n"])
def test_blank_lines_and_a_byte_order_mark_are_not_the_title(load, start):
    (document,) = load(start + "Title \r\nText.", "text")
    assert (document.title, [s.text for s in document.sentences]) == ("Title", ["Text."])


@pytest.mark.parametrize("end", ["", "\n", "\r\n \n\n"])
def test_the_only_line_of_a_file_is_its_text(load, end):
    sentences = (
        Sentence("stdin.s0", "The ferry sails.", paragraph=0),
        Sentence("stdin.s1", "It rains.", paragraph=0),
    )
    assert load("The ferry sails. It rains." + end, "text") == [Document("stdin", sentences)]


def test_a_first_line_that_is_too_long_for_a_title_is_text(load):
    paragraph = "The ferry sails again. " * 20
    (document,) = load(f"{paragraph}\nIt rains.", "text")
    assert document.title is None and len(document.sentences) == 21


def test_the_id_is_the_path_without_its_suffix(tmp_path):
    for name in ("2017/02/a story.txt", "2017/b.c.TXT", "z.txt"):
        path = tmp_path / "given folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("T\nOne.")
    folder = str(tmp_path / "given folder")
    names = ["2017/02/a_story", "2017/b.c", "z"]
    below = [document.id for _, document in read_documents([folder], options=ReadOptions(base=folder))]
    assert below == names
    full = [document.id for _, document in read_documents([folder])]
    assert full == [make_id(f"{os.path.realpath(folder)}/{name}")[1:] for name in names]


def test_a_line_that_is_not_utf8_is_named(load):
    data = b"Title\n" + b"x" * 70_000 + "é\n".encode() + b"caf\xe9\n"
    with pytest.raises(InputError, match=r"^standard input:3: this line is not UTF-8 \(byte 0xe9\)"):
        load(data, "text")


def test_a_truncated_character_at_the_end_is_an_error(load):
    with pytest.raises(InputError, match="standard input:2: this line is not UTF-8"):
        load("Title\né".encode()[:-1], "text")


def test_a_file_that_is_too_long_for_a_document_is_rejected(load, monkeypatch):
    monkeypatch.setattr(text, "MAX_DOCUMENT_BYTES", 1000)
    assert load("x" * 1000, "text")
    with pytest.raises(InputError, match="longer than 64 MiB"):
        load("x" * 1001, "text")


def encoding_of(data):
    """That of a mark, or else the one that the loader finds; UTF-8 without either."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # UTF-32 begins alike
        return "utf-32" if data.startswith(BOM_UTF32_LE) else "utf-16"
    found = []
    decode_source(Source("x", "x", BytesIO(data)), None, found.append).stream.read()
    return found[0] if found else "utf-8-sig"


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass")))
@example(b",\x92")
def test_any_bytes_are_a_document_or_an_input_error(load, data):
    try:
        (document,) = load(data, "text")
    except InputError as error:
        assert str(error).startswith("standard input")
    else:
        words = [document.title or "", *(s.text for s in document.sentences)]
        given_words = data.decode(encoding_of(data)).split()
        assert normalize("NFC", "".join("".join(words).split())) == normalize("NFC", "".join(given_words))
