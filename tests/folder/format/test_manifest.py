"""One writer at a time, whatever the writer before did to the folder."""

from __future__ import annotations

import errno
import fcntl
from pathlib import Path
from typing import Any

import pytest

from esr.errors import IndexUnusable
from esr.folder.format.files import translate_disk_errors
from esr.folder.format.manifest import LOCK_NAME, hold_writer_lock


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
