"""A full disk or an exhausted quota gives one message, and leaves the last commit."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.folder.write.generations import EmbeddedGenerations
from tests.support.folder_index import document, file_contents, indexed_ids, load

pytestmark = pytest.mark.endurance


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield disk
    # Lazily: what the test has opened stays mapped until Python collects it.
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture
def much_news(tmp_path: Path) -> Path:
    """More than fits on the small disk or into one file; it hardly compresses."""
    news = tmp_path / "news.jsonl"
    with news.open("w") as file:
        for n in range(60):
            text = os.urandom(8_000).hex()
            words = " ".join(text[i : i + 8] for i in range(0, len(text), 8))
            file.write(f'{{"id": "n{n}", "language": "en", "sentences": [{{"text": "{words}"}}]}}\n')
    return news


def esr(*args: str, max_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if max_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))

    command = [sys.executable, "-c", "from esr.cli import main; main()", *args]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, timeout=60)


def _assert_one_message(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("Error: the disk is full") and "free some space and load again" in line


def _assert_nothing_changes(where: Path, news: Path, max_bytes: int | None = None) -> None:
    load(where, [document("A", "storm")])
    before = file_contents(where)
    for if_exists in ("append", "replace"):
        analyzer = [] if if_exists == "append" else ["--analyzer", "english"]
        options = ["--index", str(where), "--if-exists", if_exists, *analyzer]
        _assert_one_message(esr("load", str(news), *options, max_bytes=max_bytes))
        assert file_contents(where) == before
    assert indexed_ids(where) == ["A.s0"]


def test_a_full_disk_leaves_the_last_commit(small_disk: Path, much_news: Path) -> None:
    _assert_nothing_changes(small_disk / "index", much_news)


def test_a_first_load_on_a_full_disk_leaves_no_index(small_disk: Path, much_news: Path) -> None:
    _assert_one_message(esr("load", str(much_news), "--index", str(small_disk / "index")))
    assert list(small_disk.iterdir()) == []


def test_a_disk_without_any_space_is_reported(small_disk: Path, much_news: Path) -> None:
    with pytest.raises(OSError):
        (small_disk / "ballast").write_bytes(b"x" * 3_000_000)
    _assert_one_message(esr("load", str(much_news), "--index", str(small_disk / "index")))


def test_a_generation_is_deleted_on_a_full_disk(small_disk: Path) -> None:
    where, ballast = small_disk / "index", small_disk / "ballast"
    load(where, [document("A", "storm")])
    load(where, [document("B", "flood")], if_exists="replace")
    for size in (100_000, 1_000, 1):  # to the last byte
        with pytest.raises(OSError), ballast.open("ab", 0) as file:
            while True:
                file.write(b"x" * size)
    _, kept = EmbeddedGenerations(str(where)).all()
    result = esr("delete", str(where), kept.name, "--yes")
    assert (result.returncode, result.stderr) == (0, "")
    assert [generation.state for generation in EmbeddedGenerations(str(where)).all()] == ["serving"]
    assert indexed_ids(where) == ["B.s0"]


def test_a_limit_on_file_sizes_leaves_the_last_commit(tmp_path: Path, much_news: Path) -> None:
    _assert_nothing_changes(tmp_path / "index", much_news, max_bytes=300_000)


def test_a_run_on_a_full_disk_leaves_no_partial_file(small_disk: Path, tmp_path: Path) -> None:
    load(tmp_path / "index", [document("A", *["storm"] * 30_000)])
    topics = tmp_path / "topics.tsv"
    topics.write_text("".join(f"q{n}\tstorm\n" for n in range(4)))
    index = ["--index", str(tmp_path / "index"), "-k", "30000"]
    result = esr("run", str(topics), *index, "-o", str(small_disk / "esr.run"))
    assert result.returncode == 1
    assert result.stderr.strip().splitlines()[-1].startswith(f"Error: cannot write {small_disk}/esr.run")
    assert list(small_disk.iterdir()) == []
