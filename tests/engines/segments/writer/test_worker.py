"""The second process of a load: with it, without it, and when it dies, the index is the same."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from esr.documents import Located, ParseWord, Sentence
from esr.engines.segments.store import manifest
from esr.engines.segments.writer import prefetch as ahead
from esr.engines.segments.writer import segment_builder as build
from esr.engines.segments.writer import worker_client as helper
from esr.engines.segments.writer.worker_client import Helper
from esr.errors import InputError
from tests.support.folder_index import document, load

ROOT = Path(__file__).resolve().parents[4]


def news(n: int) -> Located:
    own = Sentence(f"own-{n}", f"Überflutung {n}", {"weight": n / 7}, (ParseWord("rain", -1),))
    return document(
        f"n{n}", f"A storm came, number {n}.", own, *["The rivers rose."] * (n % 5), title=f"T {n}"
    )


NEWS = [news(n) for n in range(200)]


def written(where: Path) -> list[tuple[str, bytes]]:
    """All files of the index in the order of its segments, whose names are of chance."""
    parts = [where / "segments" / name for name in manifest.read(where).segments]
    parts += [where / "layers" / run.name for run in manifest.read(where).layers]
    return [(each.name, each.read_bytes()) for part in parts for each in files(part)]


def files(part: Path) -> list[Path]:
    return sorted(part.iterdir()) if part.is_dir() else [part]


def contents(where: Path) -> list[tuple[str, bytes]]:
    """The same; a layer's own name is of chance too."""
    return [(re.sub(r"^[0-9a-f]{12}$", "layer", name), content) for name, content in written(where)]


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> list[Helper]:
    """The second processes of this test's loads. They come in with the first documents."""
    started: list[Helper] = []

    class Recorded(Helper):
        def __init__(self, analyzer: str, title: bool) -> None:
            super().__init__(analyzer, title)
            started.append(self)

    monkeypatch.setattr(ahead, "Helper", Recorded)
    monkeypatch.setattr(ahead, "possible", lambda: True)
    monkeypatch.setattr(ahead, "HELP_AFTER_BYTES", 0)
    monkeypatch.setattr(ahead, "BATCH_BYTES", 700)
    monkeypatch.setattr(build, "FULL_TERMS", 300)
    return started


def expected(where: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """What a load writes that has no second process."""
    with monkeypatch.context() as patch:
        patch.setattr(ahead, "possible", lambda: False)
        load(where, NEWS)
    return contents(where)


def meanwhile(do: Callable[[], object], at: int = 100) -> Iterator[Located]:
    """The documents; something is done when so many of them have been read."""
    for n, located in enumerate(NEWS):
        if n == at:
            do()
        yield located


@pytest.mark.parametrize("most", [1, 10_000], ids=["both prepare", "the second process prepares all"])
def test_files_are_the_same_with_and_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helpers: list[Helper], most: int
) -> None:
    monkeypatch.setattr(ahead, "MOST_ASKED", most)
    load(tmp_path / "with", NEWS)
    assert [each.alive for each in helpers] == [True]
    assert contents(tmp_path / "with") == expected(tmp_path / "without", monkeypatch)
    assert len(manifest.read(tmp_path / "with").segments) > 3


@pytest.mark.parametrize("at", [3, 100, 199])
def test_a_load_whose_second_process_is_killed_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helpers: list[Helper], at: int
) -> None:
    load(tmp_path / "killed", meanwhile(lambda: helpers[0]._process.kill() if helpers else None, at))
    assert len(helpers) == 1
    assert contents(tmp_path / "killed") == expected(tmp_path / "without", monkeypatch)


@pytest.mark.parametrize("program", ["sleep 60", "echo no answer of this kind", "exit 1", None])
def test_a_load_that_gets_no_answer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helpers: list[Helper], program: str | None
) -> None:
    python = tmp_path / "python"
    if program is not None:
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(helper, "_PATIENCE", 0.3)
    monkeypatch.setattr(helper, "_END", 0.1)
    began = time.monotonic()
    load(tmp_path / "alone", NEWS)
    assert time.monotonic() - began < 30
    assert contents(tmp_path / "alone") == expected(tmp_path / "without", monkeypatch)


def test_an_error_deep_in_the_documents_leaves_nothing(tmp_path: Path, helpers: list[Helper]) -> None:
    with pytest.raises(InputError, match=r"^news\.jsonl:n5: document id 'n5' stands twice"):
        load(tmp_path / "index", [*NEWS, NEWS[5]])
    assert not (tmp_path / "index").exists()
    assert [each._process.returncode is None for each in helpers] == [False]


def test_an_interrupt_from_the_keyboard_is_not_for_it(tmp_path: Path, helpers: list[Helper]) -> None:
    def interrupt() -> None:
        select.select([helpers[0]._from], [], [], 10)  # it answers, so it has begun
        helpers[0]._process.send_signal(signal.SIGINT)

    load(tmp_path / "index", meanwhile(interrupt))
    assert [(each.alive, each._process.returncode) for each in helpers] == [(True, 0)]


def test_a_small_load_starts_none(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*given: object) -> Helper:
        raise AssertionError("a process for a second of work")

    monkeypatch.setattr(ahead, "Helper", started)
    load(where, NEWS)


def test_one_processor_is_not_shared_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0}, raising=False)
    assert not helper.possible()
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    assert helper.possible() == (os.name == "posix")


LOADER = """
import sys, time
from pathlib import Path
from esr.engines.segments.writer import prefetch as ahead
from esr.engines.segments.writer import segment_builder as build
from tests.support.folder_index import load
from tests.engines.segments.writer.test_worker import NEWS

ahead.HELP_AFTER_BYTES, ahead.BATCH_BYTES, build.FULL_TERMS = 0, 700, 300
ahead.possible = lambda: True
made = []
start = ahead.Helper.__init__
ahead.Helper.__init__ = lambda self, *given: (start(self, *given), made.append(self))[0]

def slowly():
    for n, each in enumerate(NEWS):
        if n == 150:
            print(made[0]._process.pid, flush=True)
            time.sleep(60)
        yield each

load(Path(sys.argv[1]), slowly())
"""


def test_it_ends_when_the_load_is_killed_and_the_load_is_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helpers: list[Helper]
) -> None:
    where = tmp_path / "index"
    with subprocess.Popen(
        [sys.executable, "-c", LOADER, str(where)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as loader:
        assert loader.stdout
        second = int(loader.stdout.readline())
        os.kill(second, 0)  # it is there
        loader.kill()
    deadline = time.monotonic() + 10
    while running(second):
        assert time.monotonic() < deadline, "the second process goes on alone"
        time.sleep(0.05)
    assert load(where, NEWS, resume=True).documents == 200
    assert contents(where) == expected(tmp_path / "without", monkeypatch)


def running(process: int) -> bool:
    """Whether it goes on. What has ended may stay as a name until somebody asks for it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
