"""A segment gets the terms of its own documents alone, not of all in their batch."""

from __future__ import annotations

from pathlib import Path

from esr.engines.segments.store import manifest
from tests.support.folder_index import document, load

NEWS = [document(f"n{n}", f"storm number {n}", "a river", title=f"title {n}") for n in range(6)]


def columns(where: Path) -> list[dict[str, bytes]]:
    names = manifest.read(where).segments
    return [
        {file.name: file.read_bytes() for file in (where / "segments" / name).iterdir()} for name in names
    ]


def test_a_document_that_is_set_aside_leaves_no_term(tmp_path: Path) -> None:
    duplicate = document("n1", "an earthquake", title="elsewhere")
    aside: list[str] = []
    load(
        tmp_path / "aside",
        [*NEWS[:3], duplicate, *NEWS[3:]],
        set_aside=lambda document, reason: aside.append(document.id),
    )
    load(tmp_path / "without", NEWS)
    assert aside == ["n1"]
    assert columns(tmp_path / "aside") == columns(tmp_path / "without")


def test_two_segments_share_a_batch(tmp_path: Path, small_segments: None) -> None:
    load(tmp_path / "index", NEWS)
    assert len(columns(tmp_path / "index")) == 6
    for segment, located in zip(columns(tmp_path / "index"), NEWS, strict=True):
        load(tmp_path / located.document.id, [located])
        assert [segment] == columns(tmp_path / located.document.id)
