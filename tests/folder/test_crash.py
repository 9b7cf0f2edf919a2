"""`kill -9` at any moment, a full disk and an exhausted quota leave the last commit."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from esr.errors import EsrError, IndexMissing, IndexUnusable
from esr.folder.index import EmbeddedIndex
from esr.folder.write import segment_writer
from esr.folder.write.maintenance import EmbeddedGenerations, verify
from esr.index.questions import Summary
from tests.support.fake_enricher import build_slow_enricher
from tests.support.folder_index import document, file_contents, indexed_ids, load
from tests.support.index_contents import index_contents
from tests.support.processes import ForkedProcess, run_esr, run_esr_until
from tests.support.runs import IS_LONG, rounds

pytestmark = pytest.mark.endurance

FULL_TERMS = "esr.folder.write.segment_writer:FULL_TERMS"
SMALL_SEGMENTS = {FULL_TERMS: 2500}
DOCUMENTS, SENTENCES = 600, 8
KILLS = rounds(20)


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(3)
    file = tmp_path_factory.mktemp("news") / "news.jsonl"
    with file.open("w") as lines:
        for n in range(DOCUMENTS):
            texts = [" ".join(f"w{rng.randrange(4000)}" for _ in range(12)) for _ in range(SENTENCES)]
            lines.write(json.dumps({"id": f"n{n}", "sentences": [{"text": text} for text in texts]}) + "\n")
    return file


NEWS_IDS = [f"n{n}.s{m}" for n in range(DOCUMENTS) for m in range(SENTENCES)]


def start(news: Path, where: Path, if_exists: str) -> ForkedProcess:
    options = ["--index", where, "--if-exists", if_exists, "--keep", "0"]
    return ForkedProcess(run_esr, ["load", news, *options], SMALL_SEGMENTS)


@pytest.mark.parametrize("if_exists", ["append", "replace"])
def test_a_killed_load_leaves_the_last_commit_and_can_be_repeated(
    tmp_path: Path, news: Path, if_exists: str
) -> None:
    before = ["old.s0", "old.s1"]
    after = [*before, *NEWS_IDS] if if_exists == "append" else NEWS_IDS
    analyzer = None  # the default, as the command line takes it
    load(tmp_path / "timed", [document("old", "storm", "flood")], analyzer=analyzer)
    started = time.perf_counter()
    start(news, tmp_path / "timed", if_exists).finish()
    duration = time.perf_counter() - started
    assert EmbeddedIndex(str(tmp_path / "timed")).status(Summary())["segments"] > 10

    rng = random.Random()
    unfinished = 0
    for attempt in range(KILLS):
        where = tmp_path / f"index{attempt}"
        load(where, [document("old", "storm", "flood")], analyzer=analyzer)
        loader = start(news, where, if_exists)
        if attempt % 2:
            time.sleep(rng.uniform(0.1, 1.1) * duration)
        else:  # in the middle of a segment, however fast the machine is
            segments = rng.randrange(1, 20)
            while loader.is_running and len(list((where / "segments").iterdir())) <= segments:
                time.sleep(0.001)
        loader.kill()
        ids = indexed_ids(where)
        assert ids in (before, after)
        unfinished += ids == before and len(list((where / "segments").iterdir())) > 1
        start(news, where, if_exists).finish()
        assert indexed_ids(where) == after
        segments = EmbeddedIndex(str(where)).status(Summary())["segments"]
        assert len(list((where / "segments").iterdir())) == segments, "what the killed load left is deleted"
    assert unfinished, "no load was killed in the middle: the test shows nothing"


def test_a_killed_first_load_can_be_repeated(tmp_path: Path, news: Path) -> None:
    for segments in (0, 1, 7):
        where = tmp_path / f"index{segments}"
        loader = start(news, where, "fail")
        while loader.is_running and len(list(where.glob("segments/*"))) < segments:
            time.sleep(0.001)
        while not segments and loader.is_running and not where.exists():
            pass  # the very first moment
        loader.kill()
        if not (where / "esr-index.json").exists() or indexed_ids(where) == []:
            start(news, where, "fail").finish()
        assert indexed_ids(where) == NEWS_IDS


# A kill before any change of a file.

STEPS = rounds(60)
INDEX = ["--index", "index"]
COMMANDS = {
    "first load": ["load", "old.jsonl", "--index", "new"],
    "first load by month": ["load", "old.jsonl", "--by", "month", "--index", "new"],
    "append to months": ["append", "changed.jsonl", "--index", "months"],
    "append by load": ["load", "more.jsonl", "--if-exists", "append", *INDEX],
    "load anew": ["load", "changed.jsonl", "--if-exists", "replace", *INDEX],
    "append": ["append", "changed.jsonl", *INDEX],
    "remove": ["remove", "n1", "n3", *INDEX],
    "enrich": ["enrich", *INDEX],
    "rollback": ["rollback", *INDEX],
    "delete": ["delete", "--yes", *INDEX],
    "backup": ["backup", "index", "new"],
    "restore": ["restore", "index", "new", "--yes"],
    "first sync": ["sync", "news.toml", "--index", "new"],
}
ENDED = {
    "first load": "there is an index",
    "first load by month": "there is an index",
    "rollback": "no generation",
    "delete": "there is no index",
}
"""What a command says that was killed when it had already ended."""


def write_desk(folder: Path) -> None:
    """An index of two generations, one that is divided by month, and what the commands read."""
    for name, first, stop, word in [
        ("old", 0, 12, "river"),
        ("changed", 4, 16, "bank"),
        ("more", 20, 26, "relief"),
    ]:
        with (folder / f"{name}.jsonl").open("w") as lines:
            for n in range(first, stop):
                texts = [f"storm {word} {n} flood", f"Obama saw the {word} of {n % 5}"]
                fields = {"id": f"n{n}", "date": f"2024-{n % 4 + 1:02}"}
                lines.write(json.dumps({**fields, "sentences": [{"text": text} for text in texts]}) + "\n")
    (folder / "news.toml").write_text(f'[[source]]\nname = "news"\npaths = "{folder}/changed.jsonl"\n')
    for number in (2, 12):
        documents = [document(f"n{n}", "storm flood", f"river {n}") for n in range(number)]
        load(folder / "index", documents, if_exists="replace", keep=1, analyzer=None)
    dated = [document(f"n{n}", "storm flood", f"river {n}", date=f"2024-{n % 3 + 1:02}") for n in range(9)]
    load(folder / "months", dated, by="month", analyzer=None)


def read_index(where: Path) -> dict[str, Any] | None:
    """The contents of an index, None without one, if it has no documents, or if a backup is unfinished."""
    try:
        contents = index_contents(str(where))
    except (IndexMissing, IndexUnusable):
        return None
    assert not verify(where, fast=False).damaged
    return contents if contents["documents"] else None


def test_a_slice_of_a_backup_killed_before_any_change_of_a_file_leaves_the_backup_as_it_was(
    tmp_path: Path,
) -> None:
    write_desk(tmp_path)
    months, backup = tmp_path / "months", tmp_path / "backup"
    ForkedProcess(run_esr, ["backup", months, backup]).finish()
    before = read_index(backup)
    ForkedProcess(run_esr, ["append", tmp_path / "changed.jsonl", "--index", months]).finish()
    after = read_index(months)
    assert before != after

    def prepare(number: int, command: str) -> tuple[Path, list[str]]:
        """A copy of the backup, and the command that brings it up to date."""
        target = shutil.copytree(backup, tmp_path.parent / f"{tmp_path.name}-{command}-{number}")
        return target, ["backup", str(months), str(target), "--copy"]

    steps_of: dict[str, int] = {}
    for slice in ("1/2", "2/2"):  # the names of segments are random, and so are the slices
        target, command = prepare(0, f"slice{slice[0]}")
        process = ForkedProcess(run_esr_until, 0, str(target), [*command, "--slice", slice], {})
        steps_of[slice] = int(process.finish().split()[-1])
    (steps, slice), (_, other_slice) = sorted(((n, name) for name, n in steps_of.items()), reverse=True)
    assert steps > 20, "the slice has nothing to copy: the test shows nothing"
    for step in sorted(random.sample(range(1, steps + 1), steps if IS_LONG else min(STEPS, steps))):
        target, command = prepare(step, "slice")
        other = ForkedProcess(run_esr, [*command, "--slice", other_slice])
        killed = ForkedProcess(run_esr_until, step, str(target), [*command, "--slice", slice], {})
        assert killed.wait() == -9 or step > steps - 3, f"step {step} of {steps}"
        other.finish()
        assert read_index(target) == before, f"step {step} of {steps}"
        if step % 2:
            ForkedProcess(run_esr, [*command, "--slice", slice]).finish()
        ForkedProcess(run_esr, command).finish()
        assert read_index(target) == after, f"step {step} of {steps}"
        left = [path.name for path in target.rglob("*") if path.suffix in (".new", ".old")]
        assert not left, f"step {step} of {steps}"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_killed_before_any_change_of_a_file_can_be_repeated(tmp_path: Path, name: str) -> None:
    write_desk(tmp_path)
    changes = {FULL_TERMS: 40, "esr.cli.enrich:Enricher": build_slow_enricher}

    def prepare(number: int) -> tuple[Path, list[str]]:
        desk = shutil.copytree(tmp_path, tmp_path.parent / f"{tmp_path.name}-{number}")
        words = [
            str(desk / word) if (desk / word).exists() or word == "new" else word for word in COMMANDS[name]
        ]
        return desk, words

    desk, command = prepare(0)
    target = next(target for target in ("new", "months", "index") if target in COMMANDS[name])
    before = read_index(desk / target)
    steps = int(ForkedProcess(run_esr_until, 0, str(desk), command, changes).finish().split()[-1])
    after = read_index(desk / target)
    assert steps and before != after
    tried = sorted({*range(1, 5), *random.sample(range(1, steps + 1), min(STEPS, steps))})
    for step in range(1, steps + 1) if IS_LONG else tried:
        desk, command = prepare(step)
        status = ForkedProcess(run_esr_until, step, str(desk), command, changes).wait()
        assert status == -9 or step > steps - 3, f"step {step} of {steps}"
        state = read_index(desk / target)
        assert state in (before, after), f"step {step} of {steps}"
        process = ForkedProcess(run_esr, command, changes)
        if state != after or name not in ENDED:
            process.finish()
        else:
            assert process.wait() in (0, 1, 2)
        assert read_index(desk / target) == after, f"step {step} of {steps}"
        left = [path.name for path in (desk / target).rglob("*") if path.suffix in (".new", ".old", ".part")]
        assert not left, f"step {step} of {steps}"


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
            fields = {"id": f"n{n}", "date": f"2024-{n % 9 + 1:02}", "language": "en"}
            file.write(json.dumps({**fields, "sentences": [{"text": words}]}) + "\n")
    return news


def esr(*args: str, max_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if max_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))

    command = [sys.executable, "-c", "from esr.cli import main; main()", *args]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, timeout=60)


def _assert_one_message(
    result: subprocess.CompletedProcess[str], *parts: str, start: str = "Error: the disk is full"
) -> None:
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith(start) and all(
        part in line for part in parts or ("free some space and load again",)
    )


def _assert_nothing_changes(
    where: Path, news: Path, max_bytes: int | None = None, by: str | None = None
) -> None:
    load(where, [document("A", "storm")], by=by)
    before = file_contents(where)
    for if_exists in ("append", "replace"):
        analyzer = [] if if_exists == "append" else ["--analyzer", "english"]
        options = ["--index", str(where), "--if-exists", if_exists, *analyzer, *(["--by", by] if by else [])]
        result = esr("load", str(news), *options, max_bytes=max_bytes)
        if max_bytes is None:
            _assert_one_message(result)
        else:  # the message names the file
            _assert_one_message(result, "/segments/", "ulimit -f", start=f"Error: cannot write {where}/")
        assert file_contents(where) == before
    assert indexed_ids(where) == ["A.s0"]


@pytest.mark.parametrize("by", [None, "month"])
def test_a_full_disk_leaves_the_last_commit(small_disk: Path, much_news: Path, by: str | None) -> None:
    _assert_nothing_changes(small_disk / "index", much_news, by=by)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_load_that_fills_the_disk_in_the_middle_goes_on_once_there_is_room(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 1)
    texts = (os.urandom(6_000).hex(" ", 4) for _ in range(8))
    news = [document(f"n{n}", text, date=f"2024-{n + 1:02}", language="en") for n, text in enumerate(texts)]
    where, whole = small_disk / "index", tmp_path / "whole"
    load(whole, news, by="month")
    if not is_first:
        load(where, [document("A", "storm")], by="month")
    room = sum(path.stat().st_blocks for path in whole.rglob("*")) * 512 * 6 // 10
    (small_disk / "ballast").write_bytes(b"x" * (2 * 1024 * 1024 - room))
    for _ in range(2):
        with pytest.raises(EsrError, match="free some space and load with --resume again") as error:
            load(where, news, if_exists="replace", by="month", resume=True)
        kept = int(re.findall(r"keeps (\d+) documents of this load", str(error.value))[0])
        assert 3 <= kept <= 6
    if not is_first:
        assert indexed_ids(where) == ["A.s0"]
    (small_disk / "ballast").unlink()
    load(where, news, if_exists="replace", by="month", resume=True)
    assert indexed_ids(where) == indexed_ids(whole)


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


def test_a_limit_on_file_sizes_is_told_of_the_model_that_detects_languages(tmp_path: Path) -> None:
    news = tmp_path / "news.txt"
    news.write_text("The council of the town met on Monday, and spoke of the new bridge and of its cost.")
    result = esr("load", str(news), "--index", str(tmp_path / "index"), max_bytes=300_000)
    model = f"in {tempfile.gettempdir()} with the model that detects languages"
    _assert_one_message(result, model, "ulimit -f", start="Error: cannot write a temporary file")
    assert not (tmp_path / "index").exists()


def test_a_limit_on_file_sizes_is_told_of_copies_of_documents(tmp_path: Path, much_news: Path) -> None:
    options = ["--index", str(tmp_path / "index"), "--same-id", "last"]
    result = esr("load", str(much_news), *options, max_bytes=300_000)
    _assert_one_message(result, "--same-id", "ulimit -f", start="Error: cannot write a temporary file")


def test_a_limit_on_file_sizes_is_told_of_copies_of_a_delivery(tmp_path: Path, much_news: Path) -> None:
    delivery = tmp_path / "delivery.zip"
    for name, outer in ((tmp_path / "inner.zip", delivery), (much_news, tmp_path / "inner.zip"))[::-1]:
        with zipfile.ZipFile(outer, "w") as archive:
            archive.write(name, name.name)
    result = esr("load", str(delivery), "--index", str(tmp_path / "index"), max_bytes=300_000)
    _assert_one_message(result, "inner.zip", "ulimit -f", start="Error: cannot write a temporary file")


def test_a_backup_above_the_limit_of_file_sizes_keeps_no_half_of_a_part(tmp_path: Path) -> None:
    load(tmp_path / "index", [document("A", *["storm"] * 3_000)])
    backup = tmp_path / "backup"
    command = ["backup", str(backup), "--index", str(tmp_path / "index"), "--copy"]
    result = esr(*command, max_bytes=5_000)
    words = (".npy", "backup is not complete", "ulimit -f")
    _assert_one_message(result, *words, start=f"Error: cannot write {backup}/segments/")
    assert not list((backup / "segments").iterdir())
    assert esr(*command).returncode == 0
    assert indexed_ids(backup) == indexed_ids(tmp_path / "index")


def test_a_run_on_a_full_disk_leaves_no_partial_file(small_disk: Path, tmp_path: Path) -> None:
    load(tmp_path / "index", [document("A", *["storm"] * 30_000)])
    topics = tmp_path / "topics.tsv"
    topics.write_text("".join(f"q{n}\tstorm\n" for n in range(4)))
    index = ["--index", str(tmp_path / "index"), "-k", "30000"]
    result = esr("run", str(topics), *index, "-o", str(small_disk / "esr.run"))
    assert result.returncode == 1
    assert result.stderr.strip().splitlines()[-1].startswith(f"Error: cannot write {small_disk}/esr.run")
    assert list(small_disk.iterdir()) == []
