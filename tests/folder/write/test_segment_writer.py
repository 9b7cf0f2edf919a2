"""A segment has the terms of its own documents only, and is committed only if it can be read unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from esr.errors import EsrError
from esr.folder.format import manifest
from esr.folder.format.strings import BlobTable
from esr.folder.write import segment_writer
from tests.support.folder_index import document, file_contents, load

NEWS = [document(f"n{n}", f"storm number {n}") for n in range(5)]


def test_a_document_that_is_read_back_differently_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, NEWS[:1])
    before = file_contents(where)
    save = BlobTable.save

    def save_damaged(folder: Path, name: str, blobs: list[bytes]) -> None:
        damaged = [*blobs[:-1], blobs[-1][:-1] + b"?"] if name == "texts" else blobs
        save(folder, name, damaged)

    monkeypatch.setattr(BlobTable, "save", save_damaged)
    with pytest.raises(
        EsrError, match=r"document 'n4' has another checksum when read back .*, nothing was committed"
    ):
        load(where, NEWS, if_exists="replace")
    assert file_contents(where) == before


def test_paragraphs_that_are_read_back_differently_stop_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = segment_writer.save_array

    def save_damaged(path: Path, column: Any) -> None:
        save(path, column + 1 if path.name == "paragraph.npy" else column)

    monkeypatch.setattr(segment_writer, "save_array", save_damaged)
    with pytest.raises(EsrError, match="other numbers of paragraphs when read back, nothing was committed"):
        load(where, NEWS)
    assert not where.exists()


def test_a_segment_with_fewer_documents_or_sentences_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_writer.SegmentBuilder, "sentence_count", 7)
    with pytest.raises(
        EsrError, match="5 documents and 5 sentences instead of 5 and 7, nothing was committed"
    ):
        load(where, NEWS)
    assert not where.exists()


TOKEN_BUFFER_NEWS = [document(f"n{n}", f"storm number {n}", "a river", title=f"title {n}") for n in range(6)]


def columns(where: Path) -> list[dict[str, bytes]]:
    names = manifest.read_manifest(where).segments
    return [
        {file.name: file.read_bytes() for file in (where / "segments" / name).iterdir()} for name in names
    ]


def test_a_document_that_is_set_aside_leaves_no_term(tmp_path: Path) -> None:
    duplicate = document("n1", "an earthquake", title="elsewhere")
    aside: list[str] = []
    load(
        tmp_path / "aside",
        [*TOKEN_BUFFER_NEWS[:3], duplicate, *TOKEN_BUFFER_NEWS[3:]],
        set_aside=lambda document, reason: aside.append(document.id),
    )
    load(tmp_path / "without", TOKEN_BUFFER_NEWS)
    assert aside == ["n1"]
    assert columns(tmp_path / "aside") == columns(tmp_path / "without")


def test_two_segments_share_a_batch(tmp_path: Path, small_segments: None) -> None:
    load(tmp_path / "index", TOKEN_BUFFER_NEWS)
    assert len(columns(tmp_path / "index")) == 6
    for segment, located in zip(columns(tmp_path / "index"), TOKEN_BUFFER_NEWS, strict=True):
        load(tmp_path / located.document.id, [located])
        assert [segment] == columns(tmp_path / located.document.id)
