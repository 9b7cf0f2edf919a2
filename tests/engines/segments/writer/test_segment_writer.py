"""A segment is committed only if its documents can be read back unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from esr.engines.segments.store.string_table import BlobTable
from esr.engines.segments.writer import segment_builder
from esr.errors import EsrError
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
    save = segment_builder.save_array

    def save_damaged(path: Path, column: Any) -> None:
        save(path, column + 1 if path.name == "paragraph.npy" else column)

    monkeypatch.setattr(segment_builder, "save_array", save_damaged)
    with pytest.raises(EsrError, match="other numbers of paragraphs when read back, nothing was committed"):
        load(where, NEWS)
    assert not where.exists()


def test_a_segment_with_fewer_documents_or_sentences_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_builder.SegmentBuilder, "sentence_count", 7)
    with pytest.raises(
        EsrError, match="5 documents and 5 sentences instead of 5 and 7, nothing was committed"
    ):
        load(where, NEWS)
    assert not where.exists()
