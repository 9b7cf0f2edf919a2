"""One writer at a time, whatever the writer before did to the folder."""

from __future__ import annotations

import ast
import errno
import fcntl
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.errors import IndexUnusable
from esr.folder.format import files
from esr.folder.format.files import (
    NewFile,
    create_folder,
    map_array,
    map_bundle,
    save_array,
    sync_together,
    translate_disk_errors,
)
from esr.folder.format.segment import (
    COUNT_BITS,
    POSTINGS,
    ShownDocument,
    StoredDocument,
    compress,
    decode_texts,
    encode_document,
    pack,
    read_shown,
    unpack,
)
from esr.folder.format.writer_lock import LOCK_NAME, hold_writer_lock
from esr.text.document import Document, ParseWord, Sentence, default_id_prefix


@pytest.mark.parametrize("dtype", ["u1", "<u2", "<i4", "<u8", "<f4", "<f8", "?"])
@pytest.mark.parametrize("shape", [(1,), (14,), (3, 5), (2, 3, 4)])
def test_an_array_is_read_as_it_was_written(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = (np.arange(np.prod(shape)) % 2).reshape(shape).astype(dtype)
    save_array(tmp_path / "a.npy", array)
    mapped = map_array(tmp_path / "a.npy")
    assert mapped.dtype == array.dtype
    assert np.array_equal(mapped, array)
    assert np.array_equal(np.load(tmp_path / "a.npy"), array)


def test_an_array_that_is_not_in_the_order_of_its_rows_is_read_as_it_was_written(tmp_path: Path) -> None:
    array = np.arange(15).reshape(3, 5).T
    save_array(tmp_path / "a.npy", array)
    assert np.array_equal(map_array(tmp_path / "a.npy"), array)


def test_an_empty_array_is_read_as_it_was_written(tmp_path: Path) -> None:
    save_array(tmp_path / "a.npy", np.empty((0, 3), np.int32))
    assert map_array(tmp_path / "a.npy").shape == (0, 3)


def test_the_parser_of_python_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python 3.11 it fails when several threads use it, as those of a server do."""
    save_array(tmp_path / "a.npy", np.arange(3))

    def fail(*args: object, **options: object) -> None:
        raise SystemError("AST constructor recursion depth mismatch")

    monkeypatch.setattr(ast, "parse", fail)
    assert map_array(tmp_path / "a.npy").tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "content", [b"", b"no array", b"\x93NUMPY\x01\x00\x10\x00{'descr': '|u1'}", b"\x93NUMPY\x01\x00"]
)
def test_a_damaged_file_is_an_error_of_its_value(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ValueError):
        map_array(tmp_path / "a.npy")


def test_an_unknown_type_in_a_damaged_header_is_an_error_of_its_value(tmp_path: Path) -> None:
    save_array(tmp_path / "a.npy", np.arange(100))
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content.replace(b"'<i8'", b"'<q8'"))
    with pytest.raises(ValueError, match="numpy has no type"):
        map_array(tmp_path / "a.npy")


@pytest.mark.parametrize(
    "table",
    [
        b'[["x", "<f1", 1, 0]]',  # found by fuzzing
        b'[["x", 7, 1, 0]]',
        b'[["x", "<i8", null, 0]]',
        b'[["x", "<i8", 1%s, 0]]' % (b"0" * 30),
        b"[" * 5_000,
        b"{}7",
        b"3",
    ],
)
def test_a_damaged_table_of_contents_is_an_error_of_its_value(tmp_path: Path, table: bytes) -> None:
    size = 16 + len(table) + 128
    head = len(table).to_bytes(8, "little") + size.to_bytes(8, "little")
    (tmp_path / "bundle").write_bytes((head + table).ljust(size, b"\0"))
    with pytest.raises(ValueError):
        map_bundle(tmp_path / "bundle")


def test_a_file_that_was_cut_off_is_an_error_of_its_value(tmp_path: Path) -> None:
    save_array(tmp_path / "a.npy", np.arange(100))
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content[:-8])
    with pytest.raises(ValueError):
        map_array(tmp_path / "a.npy")


def test_a_new_folder_is_made_durable_with_each_parent_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    create_folder(tmp_path / "a/b/c")
    assert (tmp_path / "a/b/c").is_dir() and {*synced} == {tmp_path / "a/b", tmp_path / "a", tmp_path}
    synced.clear()
    create_folder(tmp_path / "a")
    assert synced == [tmp_path]


def test_a_lock_file_that_the_writer_before_removed_is_not_the_one_that_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def lock_after_removal(*arguments: Any) -> None:
        monkeypatch.undo()
        (tmp_path / LOCK_NAME).unlink()
        lock(*arguments)

    monkeypatch.setattr(fcntl, "flock", lock_after_removal)
    with (
        hold_writer_lock(tmp_path),
        pytest.raises(IndexUnusable, match="is running"),
        hold_writer_lock(tmp_path),
    ):
        pass
    with hold_writer_lock(tmp_path):
        pass


def test_a_disk_without_locks_is_not_taken_for_another_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    with (
        pytest.raises(IndexUnusable, match=r"cannot write to .*: No locks available"),
        translate_disk_errors(tmp_path),
        hold_writer_lock(tmp_path),
    ):
        pass


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not list open files")
@pytest.mark.parametrize("failing", ["sync", "write"])
def test_files_that_fail_together_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    def open_files() -> list[str]:
        paths = map(os.path.realpath, Path("/proc/self/fd").iterdir())
        return [path for path in paths if path.startswith(str(tmp_path))]

    with pytest.raises(OSError, match="Input/output"), sync_together():
        for name in "abc":
            save_array(tmp_path / name, np.arange(3))
        assert len(open_files()) == 3
        monkeypatch.setattr(*((os, "fsync", fail) if failing == "sync" else (NewFile, "write", fail)))
        save_array(tmp_path / "d", np.arange(3))
    assert open_files() == []
    monkeypatch.undo()
    save_array(tmp_path / "e", np.arange(3))
    assert open_files() == [], "later files are synced one by one"


@given(st.dictionaries(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1)))
def test_what_is_packed_is_unpacked_the_same(counts: dict[int, int]) -> None:
    sentences = np.array(sorted(counts), np.int32)
    packed = pack(sentences, np.array([counts[s] for s in sentences.tolist()], np.int32))
    numbers, values = unpack(packed[POSTINGS], int(packed[COUNT_BITS][0]))
    assert dict(zip(numbers.tolist(), values.tolist(), strict=True)) == counts
    assert (np.diff(packed[POSTINGS]) > 0).all()


@pytest.mark.parametrize(
    ("sentence", "count", "size"),
    [
        (2**29 - 1, 3, 4),
        (2**29, 3, 8),
        (2**20 - 1, 2**11 - 1, 4),
        (2**20, 2**11 - 1, 8),
    ],
)
def test_a_posting_has_four_bytes_where_that_is_enough(sentence: int, count: int, size: int) -> None:
    packed = pack(np.array([sentence], np.int32), np.array([count], np.int32))
    assert packed[POSTINGS].itemsize == size


def test_a_segment_without_terms_has_no_postings() -> None:
    packed = pack(np.zeros(0, np.int32), np.zeros(0, np.int32))
    assert len(packed[POSTINGS]) == 0


# What hits read of a stored document is what the whole document has.


SENTENCES = (Sentence("d.s0", 'She said "no", [so].'), Sentence("given", "Ünïcode\u2028\U0001f600"))


def store(**fields: Any) -> StoredDocument:
    return StoredDocument(compress(encode_document(Document("d", SENTENCES, **fields), [1])))


def test_a_stored_document_is_the_one_that_was_encoded() -> None:
    metadata = {
        "big": 2**80,
        "small": -(2**70),
        "float": 0.1,
        "tiny": 5e-324,
        "deep": [[{"a": [None, True]}]],
    }
    document = Document("d", SENTENCES, title="Ä\x00\n", authors=("A", "B"), metadata=metadata)
    stored = StoredDocument(memoryview(compress(encode_document(document, [1]))))
    assert stored.document(np.zeros(2, np.uint8)) == document
    decoded = stored.document(np.zeros(2, np.uint8)).metadata
    assert [type(value) for value in decoded.values()] == [int, int, float, float, list]
    assert decode_texts(encode_document(document, [1])) == ([s.text for s in SENTENCES], "Ä\x00\n", None)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_lacks_are_read_as_python_wrote_them(number: str) -> None:
    encoded = f'{{"id":"d","metadata":{{"n":{number}}},"sentences":[["a"]]}}'.encode()
    stored = StoredDocument(zlib.compress(encoded))
    decoded = stored.document(np.zeros(1, np.uint8)).metadata
    assert repr(decoded) == repr(json.loads(encoded)["metadata"])


FIELDS = ("title", "date", "source", "url", "language", "authors", "section", "keywords")
SHOWN_DOCUMENT_SENTENCES = (
    Sentence("d.s0", 'She said "no", [so].'),
    Sentence("given", "\u00dcn\u00efcode\u2028\U0001f600", {"x": 0.5}),
    Sentence("d.s2", "Rain.", parse=(ParseWord("rain", -1),)),
)


def store_shown_document(document: Document) -> ShownDocument:
    (shown,) = read_shown([memoryview(compress(encode_document(document, [1])))])
    return shown


@pytest.mark.parametrize(
    "document",
    [
        Document("d", SHOWN_DOCUMENT_SENTENCES),
        Document("d", ()),
        Document(
            "d",
            SHOWN_DOCUMENT_SENTENCES,
            title="\u00c4\x00\n",
            authors=("A", "B"),
            keywords=("k",),
            metadata={"id": [1]},
        ),
        Document("d", SHOWN_DOCUMENT_SENTENCES, date="2025", source="s", url="u", language="en", section="x"),
    ],
)
def test_it_has_what_was_stored(document: Document) -> None:
    shown = store_shown_document(document)
    assert shown.id == document.id
    assert [getattr(shown, name) for name in FIELDS] == [getattr(document, name) for name in FIELDS]
    ids = [s.id or f"{default_id_prefix(shown.id)}{n}" for n, s in enumerate(shown.sentences)]
    assert ids == [sentence.id for sentence in document.sentences]
    assert [s.text for s in shown.sentences] == [s.text for s in document.sentences]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_lacks_do_not_matter(number: str) -> None:
    encoded = (
        f'{{"id":"d","title":"t","metadata":{{"n":{number}}},"sentences":[["a",null,{{"x":{number}}}]]}}'
    )
    other = compress(encode_document(Document("e", SHOWN_DOCUMENT_SENTENCES), [1]))
    shown, after = read_shown([zlib.compress(encoded.encode()), other])
    assert (after.id, after.sentences[0].text) == ("e", SHOWN_DOCUMENT_SENTENCES[0].text)
    assert (shown.id, shown.title, shown.sentences[0].text, shown.sentences[0].id) == ("d", "t", "a", None)
