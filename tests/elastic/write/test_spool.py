"""A load that has no room for its spool says so, before it begins or before it is killed."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from esr.elastic.write import spool
from esr.elastic.write.spool import RESERVE, Room, check_room, find_room, watch_room
from esr.errors import EsrError
from tests.support.elasticsearch import document, located

MB = 10**6
DOCUMENTS = [document(f"d{n}", "A flood.") for n in range(1200)]


def test_a_text_that_cannot_fit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "find_room", lambda folder: Room(300 * MB, False))
    check_room(tmp_path, 599 * MB)
    with pytest.raises(EsrError, match=r"has 300 MB left, and this load needs at least 301 MB.*Set TMPDIR"):
        check_room(tmp_path, 602 * MB)


def test_memory_that_runs_out_ends_the_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = iter([Room(RESERVE * 2, True), Room(RESERVE, True), Room(RESERVE - 1, True)])
    monkeypatch.setattr(spool, "find_room", lambda folder: next(rooms))
    with pytest.raises(EsrError, match=r"is in memory and has 67 MB left, and after 1,000 documents"):
        list(watch_room(tmp_path, located(DOCUMENTS)))


def test_a_disk_is_not_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says itself when it is full, and nobody is killed for it."""
    monkeypatch.setattr(spool, "find_room", lambda folder: Room(1, False))
    assert len(list(watch_room(tmp_path, located(DOCUMENTS)))) == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"memory.max": "1000", "memory.stat": "anon 300\nfile 600\nshmem 200"}, 500),
        ({"memory.max": "max", "memory.stat": "anon 300\nshmem 200"}, 4096),
        (
            {"memory/memory.limit_in_bytes": "1000", "memory/memory.stat": "total_rss 100\ntotal_shmem 150"},
            750,
        ),
        ({}, 4096),
    ],
)
def test_files_in_memory_count_towards_the_limit_of_a_container(
    files: dict[str, str], free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "mounts").write_text(f"disk / ext4 rw 0 0\ntmpfs {tmp_path} tmpfs rw 0 0\n")
    monkeypatch.setattr(spool, "_CGROUPS", tmp_path)
    monkeypatch.setattr(spool, "_MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(os, "statvfs", lambda folder: SimpleNamespace(f_bavail=1, f_frsize=4096))
    assert find_room(tmp_path) == Room(free, True)
    assert find_room(tmp_path.parent) == Room(4096, False)
