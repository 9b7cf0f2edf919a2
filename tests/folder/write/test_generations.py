"""The generations of a folder in which files are missing."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from esr.errors import UsageError
from esr.folder.format import manifest
from esr.folder.format.manifest import SEGMENTS, Manifest
from esr.folder.write import generations
from esr.folder.write.generations import EmbeddedGenerations
from esr.text.document import Sentence
from tests.support.folder_index import document, indexed_ids, load


def test_a_layer_that_is_missing_is_named(where: Path) -> None:
    load(where, [document("A", Sentence("A.s0", "storm", {"x": 1.0}))])
    (layer,) = (where / "layers").iterdir()
    layer.unlink()
    (serving,) = EmbeddedGenerations(str(where)).all()
    assert (serving.state, serving.missing) == ("serving", (f"a file of layers/{layer.name}",))
    with pytest.raises(UsageError, match=f"{layer.name} is missing: load everything again"):
        EmbeddedGenerations(str(where)).rollback()


def test_a_rollback_goes_back_from_a_generation_that_lacks_a_segment(where: Path) -> None:
    load(where, [document("A", "storm")])
    load(where, [document("B", "flood")], if_exists="replace")
    generations = EmbeddedGenerations(str(where))
    last, first = generations.all()
    (segment,) = manifest.read_manifest(where).segments
    shutil.rmtree(where / SEGMENTS / segment)
    assert generations.rollback().name == first.name
    assert indexed_ids(where) == ["A.s0"]
    assert [(g.state, bool(g.missing)) for g in generations.all()] == [("broken", True), ("serving", False)]
    with pytest.raises(UsageError, match=f"is broken, as a file of segments/{segment} is missing"):
        generations.rollback(last.name)
    generations.delete([last.name])
    assert [g.state for g in generations.all()] == ["serving"]


def test_a_generation_is_deleted_on_a_disk_that_has_no_room_for_a_new_manifest(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full as long as the generation is there."""
    load(where, [document("A", "storm")])
    (doomed,) = manifest.read_manifest(where).segments
    load(where, [document("B", "flood")], if_exists="replace")
    commit = manifest.commit

    def commit_if_there_is_room(folder: Path, new: Manifest) -> None:
        if (where / SEGMENTS / doomed).exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        commit(folder, new)

    monkeypatch.setattr(manifest, "commit", commit_if_there_is_room)
    generations = EmbeddedGenerations(str(where))
    _, kept = generations.all()
    generations.delete([kept.name])
    assert [g.state for g in generations.all()] == ["serving"]
    assert indexed_ids(where) == ["B.s0"]
    doomed = manifest.read_manifest(where).segments[0]
    generations.delete_all()
    assert not where.exists()


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
