"""Verification and backups of what an older version wrote, beside writers, and after what was killed."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from esr.errors import IndexUnusable, UsageError
from esr.folder.format import checkpoint, damage, manifest
from esr.folder.format.damage import SegmentDamaged
from esr.folder.format.files import FileCheck, check_file, copy_file
from esr.folder.index import EmbeddedIndex
from esr.folder.write import maintenance
from esr.folder.write.maintenance import EmbeddedGenerations, back_up, restore, verify
from esr.locks import take_lock
from tests.support.folder_index import document, file_contents, forget_checksums, indexed_ids, load
from tests.support.index_contents import enrich

pytestmark = pytest.mark.slow


def load_generation(where: Path, id: str, keep: int = 0) -> Path:
    """Load one document as a new generation. Returns the folder of its segment."""
    load(where, [document(id, "A storm came.", "A flood followed.")], if_exists="replace", keep=keep)
    (segment,) = manifest.read_manifest(where).segments
    return where / manifest.SEGMENTS / segment


def run_before_first(function: Callable[..., Any], act: Callable[[], object]) -> Callable[..., Any]:
    """The function, but before its first call `act` runs, as another process may at that moment."""
    waiting = [act]

    def run(*arguments: Any, **options: Any) -> Any:
        if waiting:
            waiting.pop()()
        return function(*arguments, **options)

    return run


# Parts of an older version, without checksums


def test_a_missing_segment_without_checksums_is_called_missing(where: Path) -> None:
    segment = load_generation(where, "a")
    forget_checksums(where)
    shutil.rmtree(segment)
    (damaged,) = verify(where, fast=True).damaged
    assert (damaged.path, damaged.problem) == (f"segments/{segment.name}", "it is missing")


def test_any_error_of_a_reader_is_damage_of_a_part_without_checksums(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = load_generation(where, "a")
    enrich(EmbeddedIndex(str(where)))
    forget_checksums(where)
    (layer,) = (where / "layers").iterdir()
    monkeypatch.setattr(maintenance, "Layer", mock.Mock(side_effect=ZeroDivisionError))
    (damaged,) = verify(where, fast=False).damaged
    assert damaged.path == f"layers/{layer.name}"
    assert damaged.problem == "it cannot be read (ZeroDivisionError)"
    assert damaged.generations == (manifest.read_manifest(where).generation_name,)
    assert segment.exists()


def test_a_part_without_checksums_that_may_not_be_opened_is_noted_and_not_called_damaged(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = load_generation(where, "a")
    forget_checksums(where)
    open_ = os.open

    def refuse(path: Any, *arguments: Any, **options: Any) -> int:
        if os.fspath(path) == str(segment / "texts.bytes"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return open_(path, *arguments, **options)

    monkeypatch.setattr("os.open", refuse)
    report = verify(where, fast=False)
    assert not report.damaged
    (reason,) = report.unopened
    assert reason.startswith(f"cannot open {segment / 'texts.bytes'}: this user may not read it")


# Damage that a verification and a deletion meet


def test_a_checkpoint_that_cannot_be_read_is_damage_that_a_load_mends(where: Path) -> None:
    load_generation(where, "a")
    (where / checkpoint.CHECKPOINT_NAME).write_text("{")
    (damaged,) = verify(where, fast=True).damaged
    assert damaged.path == checkpoint.CHECKPOINT_NAME
    assert damaged.problem == "it cannot be read: the interrupted load cannot be resumed, load again"
    load_generation(where, "b")
    assert not verify(where, fast=True).damaged


def test_what_a_writer_deletes_during_a_verification_is_no_damage(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = load_generation(where, "a")
    replaced = run_before_first(check_file, lambda: load_generation(where, "b"))
    monkeypatch.setattr(damage, "check_file", replaced)
    assert not verify(where, fast=False).damaged
    assert not segment.exists() and indexed_ids(where) == ["b.s0", "b.s1"]


def test_damage_is_reported_though_the_manifest_is_damaged_during_the_verification(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = load_generation(where, "a")
    (segment / "texts.bytes").unlink()

    def spoil_manifest() -> None:
        (where / manifest.MANIFEST_NAME).unlink()
        (where / manifest.MANIFEST_NAME).write_text("{")

    monkeypatch.setattr(damage, "check_file", run_before_first(check_file, spoil_manifest))
    (damaged,) = verify(where, fast=False).damaged
    assert (damaged.path, damaged.problem) == (f"segments/{segment.name}/texts.bytes", "it is missing")


def test_a_deletion_whose_commit_fails_other_than_by_a_full_disk_deletes_nothing(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_generation(where, "a", keep=1)
    oldest = manifest.read_manifest(where).generation_name
    load_generation(where, "b", keep=1)
    before = file_contents(where)
    failing_once = mock.Mock(side_effect=[OSError(errno.EIO, "Input/output error"), None])
    with monkeypatch.context() as patched:
        patched.setattr(manifest, "commit", failing_once)
        with pytest.raises(IndexUnusable, match=r"cannot write to .*: Input/output error"):
            EmbeddedGenerations(str(where)).delete([oldest])
    assert file_contents(where) == before
    EmbeddedGenerations(str(where)).delete([oldest])
    assert len(EmbeddedGenerations(str(where)).all()) == 1


# Backups


def test_a_restore_refuses_the_backup_itself_and_a_folder_of_other_files(where: Path, tmp_path: Path) -> None:
    load_generation(where, "a")
    with pytest.raises(UsageError, match="is the backup itself"):
        restore(where, where, copy=True)
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("Dear")
    with pytest.raises(IndexUnusable, match="other is not an index: choose a new folder"):
        restore(where, other, copy=True)
    assert file_contents(other) == {"letter.txt": b"Dear"}


def test_a_backup_that_fails_deletes_what_a_killed_one_left(where: Path, tmp_path: Path) -> None:
    """Its space may be needed: so it is freed before anything is copied."""
    backup = tmp_path / "backup"
    load_generation(where, "a")
    back_up(where, backup, copy=True)
    left = [backup / "segments" / name for name in ("aa.01234567.new", "bb.01234567.old")]
    for folder in left:
        folder.mkdir()
        (folder / "texts.bytes").write_text("A storm")
    left.append(backup / "layers" / "cc.01234567.new")
    left[-1].write_text("1")
    (load_generation(where, "b") / "texts.bytes").write_text("damaged")
    with pytest.raises(SegmentDamaged):
        back_up(where, backup, copy=True)
    assert not any(path.exists() for path in left)
    assert indexed_ids(backup) == ["a.s0", "a.s1"] and not verify(backup, fast=False).damaged


@pytest.mark.parametrize("copy", [True, False])
def test_a_backup_of_an_index_that_lacks_a_file_says_which(where: Path, tmp_path: Path, copy: bool) -> None:
    path = load_generation(where, "a") / "texts.bytes"
    path.unlink()
    with pytest.raises(SegmentDamaged, match="files are missing or truncated") as raised:
        back_up(where, tmp_path / "backup", copy=copy)
    assert raised.value.path == path


def test_a_backup_starts_again_from_a_commit_that_is_made_meanwhile(
    where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_generation(where, "a")
    copies = list[Path]()

    def copy(source: Path, target: Path) -> FileCheck:
        copies.append(source)
        return copy_file(source, target)

    replaced = run_before_first(copy, lambda: load_generation(where, "b"))
    monkeypatch.setattr(maintenance, "copy_file", replaced)
    report = back_up(where, tmp_path / "backup", copy=True)
    assert not copies[0].exists(), "the load deleted what was to be copied"
    assert report.documents == 1 and indexed_ids(tmp_path / "backup") == ["b.s0", "b.s1"]
    assert not verify(tmp_path / "backup", fast=False).damaged


def test_of_two_first_backups_at_once_into_a_folder_the_later_one_is_refused(
    where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup, other = tmp_path / "backup", tmp_path / "other"
    load_generation(where, "a")
    load_generation(other, "b")
    with_other = run_before_first(take_lock, lambda: back_up(other, backup, copy=True, slice=(1, 1)))
    monkeypatch.setattr(maintenance, "take_lock", with_other)
    with pytest.raises(UsageError, match=r"is the backup of .*other"):
        back_up(where, backup, copy=True)
    assert not back_up(other, backup, copy=True).copied_bytes
    assert indexed_ids(backup) == ["b.s0", "b.s1"]
    assert not [path for path in backup.iterdir() if path.suffix == ".new"]


def test_a_slice_of_a_restore_that_is_finished_meanwhile_leaves_no_mark(
    where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "restored"
    load_generation(where, "a")
    with_other = run_before_first(take_lock, lambda: restore(where, target, copy=True))
    monkeypatch.setattr(maintenance, "take_lock", with_other)
    assert restore(where, target, copy=True, slice=(1, 2)).slice == "1/2"
    assert indexed_ids(target) == ["a.s0", "a.s1"]
    assert not [path for path in target.iterdir() if path.name.startswith(manifest.RESTORE_NAME)]
