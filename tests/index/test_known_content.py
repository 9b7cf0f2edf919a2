"""Content that an index has under another id is told, on both engines."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from esr.folder.format import manifest, snapshot
from esr.folder.format.manifest import SEGMENTS
from esr.folder.format.segment import Segment
from esr.folder.write import segment_writer
from esr.index.factory import open_delivery, open_writer
from esr.index.writer import LoadOptions
from esr.text.document import Document, Sentence
from tests.index.test_parity import random_documents
from tests.index.test_same_ids import run
from tests.support.elasticsearch import document, load, located

pytestmark = pytest.mark.slow

FIRST = list(random_documents(0, 30, seed=1))
WITH_TEXT = [document for document in FIRST if document.sentences]


def renamed(document: Document) -> Document:
    """The same content under another id."""
    id = f"again/{document.id}"
    sentences = tuple(Sentence(f"{id}.s{n}", s.text) for n, s in enumerate(document.sentences))
    return replace(document, id=id, sentences=sentences)


def append(where: str, documents: list[Document]) -> list[str]:
    """What is told about the contents of a delivery."""
    notes = open_delivery(where, LoadOptions()).append(located(documents)).notes
    return [note for note in notes if "under another id" in note]


def test_content_under_another_id_is_told(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 700)
    load(anywhere, FIRST)
    new = list(random_documents(40, 5, seed=7))
    (note,) = append(anywhere, [*map(renamed, WITH_TEXT[3:8]), *new])
    first = WITH_TEXT[3].id
    assert note.startswith("warning: the index has the content of 5 documents (10) under another id: ")
    assert f"again/{first} (as {first}), " in note and note.endswith(", …")
    assert append(anywhere, new) == []


def test_a_changed_document_is_not_compared_with_itself(anywhere: str) -> None:
    load(anywhere, FIRST)
    assert append(anywhere, [replace(WITH_TEXT[3], source="Other.")]) == []


def test_other_content_of_the_same_shape_is_not_told(anywhere: str) -> None:
    load(anywhere, [document("a", "Storm river bank.", "Flood water."), document("e")])
    same_shape = [document("b", "Flood river bank.", "Storm water."), document("f")]
    titled = replace(document("c", "Storm river bank.", "Flood water."), title="The")
    assert append(anywhere, [*same_shape, titled]) == []


def test_a_load_that_appends_tells_it_too(anywhere: str) -> None:
    load(anywhere, FIRST)
    writer = open_writer(anywhere, LoadOptions(if_exists="append"))
    notes = writer.load(located([renamed(WITH_TEXT[2])])).notes
    assert sum("the content of 1 documents (1) under another id" in note for note in notes) == 1


def test_a_large_delivery_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "SAMPLE", 4)
    where = str(tmp_path / "index")
    load(where, FIRST)
    (note,) = append(where, [renamed(document) for document in WITH_TEXT[:20]])
    assert "the content of 4 documents (4 compared of 20) under another id" in note


def test_a_sample_is_evenly_spaced_over_all_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "SAMPLE", 5)
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 100)
    load(str(tmp_path), WITH_TEXT[:17])
    segments = [Segment(tmp_path / SEGMENTS / name) for name in manifest.read_manifest(tmp_path).segments]
    assert len(segments) > 1
    assert snapshot.sample_documents(segments) == WITH_TEXT[:17:4]


def test_a_folder_loaded_with_another_base_is_told(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    for name in ("business/001", "sport/001"):
        path = tmp_path / "t" / f"{name}.txt"
        path.parent.mkdir(parents=True)
        path.write_text(f"T\nText of {name}.")
    run("load", tmp_path / "t" / "business", "--base", tmp_path / "t", "--index", where)
    again = run("append", where, tmp_path / "t", "--base", tmp_path / "t")
    assert "1 added, 1 unchanged" in again and "another id" not in again
    told = run("append", where, tmp_path / "t" / "sport", "--base", tmp_path / "t" / "sport")
    assert "the content of 1 documents (1) under another id: 001 (as sport/001)" in told
