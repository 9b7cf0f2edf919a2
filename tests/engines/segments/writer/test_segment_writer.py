"""What a segment was given is what can be read from it, or nothing is switched."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.engines.segments.store.string_table import Blobs
from esr.engines.segments.writer import segment_builder as build
from esr.errors import EsrError
from tests.support.folder_index import document, files, load

NEWS = [document(f"n{n}", f"storm number {n}") for n in range(5)]


def test_a_document_that_comes_back_otherwise_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, NEWS[:1])
    before = files(where)
    save = Blobs.save

    def harmed(folder: Path, name: str, blobs: list[bytes]) -> None:
        changed = [*blobs[:-1], blobs[-1][:-1] + b"?"] if name == "texts" else blobs
        save(folder, name, changed)

    monkeypatch.setattr(Blobs, "save", harmed)
    with pytest.raises(
        EsrError, match=r"document 'n4' came back .* with another checksum, nothing was switched"
    ):
        load(where, NEWS, if_exists="replace")
    assert files(where) == before


def test_a_segment_with_fewer_documents_or_sentences_stops_the_load(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.SegmentBuilder, "sentence_count", 7)
    with pytest.raises(EsrError, match="5 documents and 5 sentences of 5 and 7, nothing was switched"):
        load(where, NEWS)
    assert not where.exists()
