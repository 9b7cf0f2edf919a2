import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.documents import Document, Sentence
from esr.errors import InputError
from esr.loaders import documents, text


def test_the_first_line_is_the_title_and_the_rest_the_text(loaded):
    assert loaded("Quake in the north\nIt was strong. Nobody\nwas hurt.\n\nMore soon\n", "text") == [
        Document(
            "stdin",
            (
                Sentence("stdin.s0", "It was strong."),
                Sentence("stdin.s1", "Nobody was hurt."),
                Sentence("stdin.s2", "More soon"),
            ),
            title="Quake in the north",
        )
    ]


@pytest.mark.parametrize("start", ["", "\ufeff", "\n \n", "\ufeff\r\n"])
def test_blank_lines_and_a_byte_order_mark_are_not_the_title(loaded, start):
    (document,) = loaded(start + "Title \r\nText.", "text")
    assert (document.title, [s.text for s in document.sentences]) == ("Title", ["Text."])


def test_a_title_alone_is_a_document_without_sentences(loaded):
    assert loaded("Only a title", "text") == [Document("stdin", (), title="Only a title")]


def test_the_id_is_the_path_below_the_folder_without_its_ending(tmp_path):
    for name in ("2017/02/a story.txt", "2017/b.c.TXT", "z.txt"):
        path = tmp_path / "given folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("T\nOne.")
    found = [located.document.id for located in documents([str(tmp_path / "given folder")])]
    assert found == ["2017/02/a_story", "2017/b.c", "z"]


def test_the_id_of_a_single_file_is_its_name_without_ending(tmp_path):
    path = tmp_path / "my story.txt"
    path.write_text("T\nOne.")
    (located,) = documents([str(path)])
    assert (located.where, located.document.id) == (str(path), "my_story")


def test_a_line_that_is_not_utf8_is_named(loaded):
    data = b"Title\n" + b"x" * 70_000 + "é\n".encode() + b"caf\xe9\n"
    with pytest.raises(InputError, match=r"^standard input:3: this line is not UTF-8 \(byte 0xe9\)"):
        loaded(data, "text")


def test_a_character_cut_off_at_the_end_is_an_error(loaded):
    with pytest.raises(InputError, match="standard input:2: this line is not UTF-8"):
        loaded("Title\né".encode()[:-1], "text")


def test_a_file_that_is_too_long_for_a_document_is_refused(loaded, monkeypatch):
    monkeypatch.setattr(text, "MAX_DOCUMENT_BYTES", 1000)
    assert loaded("x" * 1000, "text")
    with pytest.raises(InputError, match="longer than 64 MiB"):
        loaded("x" * 1001, "text")


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_document_or_an_input_error(loaded, data):
    try:
        (document,) = loaded(data, "text")
    except InputError as error:
        assert str(error).startswith("standard input")
    else:
        words = [document.title, *(s.text for s in document.sentences)]
        assert "".join("".join(words).split()) == "".join(data.decode("utf-8-sig").split())
