"""Locks on files, and systems that have none."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from esr.locks import is_locked, take_lock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def test_a_lock_is_seen_while_it_is_held(path: Path) -> None:
    assert not is_locked(path)
    with path.open("w") as file:
        assert not is_locked(path)
        take_lock(file)
        assert is_locked(path)
    assert not is_locked(path)


def test_a_second_holder_is_refused(path: Path) -> None:
    with path.open("w") as first, path.open("w") as second:
        take_lock(first)
        with pytest.raises(BlockingIOError):
            take_lock(second)


def test_a_shared_lock_excludes_only_those_that_are_not(path: Path) -> None:
    with path.open("w+") as first, path.open("w+") as second, path.open("w+") as third:
        take_lock(first, shared=True)
        take_lock(second, shared=True)
        with pytest.raises(BlockingIOError):
            take_lock(third)
        if hasattr(fcntl, "F_OFD_GETLK"):
            assert is_locked(path)
    with path.open("w+") as first, path.open("w+") as second:
        take_lock(first)
        with pytest.raises(BlockingIOError):
            take_lock(second, shared=True)


@pytest.mark.skipif(not hasattr(fcntl, "F_OFD_GETLK"), reason="this system looks at a lock by sharing it")
def test_to_look_at_a_lock_takes_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a lock is taken")

    with path.open("w") as file:
        take_lock(file)
        monkeypatch.setattr(fcntl, "flock", refuse)
        assert is_locked(path)
    assert not is_locked(path)


def test_a_system_without_such_queries_sees_a_lock_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("F_OFD_GETLK", "F_OFD_SETLK"):
        monkeypatch.delattr(fcntl, name, raising=False)
    with path.open("w") as file:
        take_lock(file)
        assert is_locked(path)
    assert not is_locked(path)


def look_as_reader(path: str) -> None:
    """Exit with status 0 if the lock at the path is seen by a user who may not write to it."""
    if os.geteuid() == 0:
        os.setuid(65534)
    sys.exit(0 if is_locked(Path(path)) and not os.access(path, os.W_OK) else 1)


def test_who_may_only_read_a_file_sees_its_lock() -> None:
    from tests.support.processes import ForkedProcess

    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # pytest's own is closed to other users
        os.chmod(folder, 0o755)
        path = Path(folder, "lock")
        with path.open("w") as file:
            path.chmod(0o444)
            take_lock(file)
            assert ForkedProcess(look_as_reader, str(path)).wait() == 0


WITHOUT_FCNTL = """
import sys
sys.modules["fcntl"] = None
from esr.cli import main
main({arguments!r}, prog_name="esr")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "search storm --index {index}",
        "load {news} --index {index}2",
        "append {news} --index {index}",
        "backup {index}3 --index {index}",
        "serve --index {index}",
        "keys add desk --file {index}4 --kind key",
    ],
)
def test_a_system_without_file_locks_is_named(command: str, tmp_path: Path) -> None:
    from tests.support.folder_index import document, load

    index, news = tmp_path / "index", tmp_path / "news.jsonl"
    load(index, [document("A", "storm")])
    news.write_text('{"id": "B", "text": "A storm."}\n')
    arguments = command.format(index=index, news=news).split()
    program = WITHOUT_FCNTL.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ") and len(done.stderr.splitlines()) == 1
    assert "WSL 2" in done.stderr and "docs/installing.md" in done.stderr


@pytest.mark.slow
def test_what_needs_no_folder_works_without_file_locks() -> None:
    program = 'import sys; sys.modules["fcntl"] = None; import esr.cli.main, esr.elastic.index'
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
