"""The generations of a folder in which files are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.documents import Sentence
from esr.engines.embedded.maintenance import generations
from esr.engines.embedded.maintenance.generations import EmbeddedGenerations
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.errors import IndexUnusable
from tests.support.folder_index import document, load


def test_a_layer_that_is_missing_is_named(where: Path) -> None:
    load(where, [document("A", Sentence("A.s0", "storm", {"x": 1.0}))])
    (layer,) = (where / "layers").iterdir()
    layer.unlink()
    with pytest.raises(IndexUnusable, match=f"{layer.name} is damaged"):
        EmbeddedGenerations(str(where)).all()


def test_what_a_load_deletes_while_generations_are_listed_is_left_out(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, [document("A", "storm")])
    (where / SEGMENTS / "unfinished").mkdir()
    find = generations.list_unreferenced

    def find_and_delete(folder: Path, commit: Manifest) -> list[Path]:
        paths = find(folder, commit)
        for path in paths:
            path.rmdir()
        return paths

    monkeypatch.setattr(generations, "list_unreferenced", find_and_delete)
    assert [each.state for each in EmbeddedGenerations(str(where)).all()] == ["serving"]
