"""Batches of a load: the second process that prepares them, and the terms of many texts at once.

With the process, without it, and if it dies, the index is the same.
"""

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
from unittest import mock

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.errors import InputError
from esr.folder.format import manifest
from esr.folder.write import batches, segment_writer
from esr.folder.write.batches import Batch, BatchBuilder, EncodedTexts, TermEncoder, WorkerClient, prepare
from esr.index.writer import Description
from esr.text.analyzer import get_analyzer
from esr.text.document import Document, Located, ParseWord, Sentence
from tests.support.folder_index import document, load
from tests.text.test_analyzer import texts

ROOT = Path(__file__).resolve().parents[3]


def news(n: int) -> Located:
    own = Sentence(f"own-{n}", f"Überflutung {n}", {"weight": n / 7}, (ParseWord("rain", -1),))
    return document(
        f"n{n}", f"A storm came, number {n}.", own, *["The rivers rose."] * (n % 5), title=f"T {n}"
    )


NEWS = [news(n) for n in range(200)]


def written(where: Path) -> list[tuple[str, bytes]]:
    """All files of the index, in the order of its segments, whose names are random."""
    parts = [where / "segments" / name for name in manifest.read_manifest(where).segments]
    parts += [where / "layers" / layer.name for layer in manifest.read_manifest(where).layers]
    return [(file.name, file.read_bytes()) for part in parts for file in files(part)]


def files(part: Path) -> list[Path]:
    """All but the table of checksums, which has times."""
    return (
        sorted(path for path in part.iterdir() if path.name != manifest.CHECKSUMS)
        if part.is_dir()
        else [part]
    )


def contents(where: Path) -> list[tuple[str, bytes]]:
    """The same without the names of layers, which are random too."""
    return [(re.sub(r"^[0-9a-f]{12}$", "layer", name), content) for name, content in written(where)]


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[WorkerClient]:
    """The second processes of this test's loads, which start with the first documents."""
    started: list[WorkerClient] = []

    class Recorded(WorkerClient):
        def __init__(self, analyzer: str, title: bool) -> None:
            super().__init__(analyzer, title)
            started.append(self)

    monkeypatch.setattr(batches, "WorkerClient", Recorded)
    monkeypatch.setattr(batches, "can_start_worker", lambda: True)
    monkeypatch.setattr(batches, "WORKER_AFTER_BYTES", 0)
    monkeypatch.setattr(batches, "BATCH_BYTES", 700)
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 300)
    # A busy machine makes a worker slow, but not dead.
    monkeypatch.setattr(batches, "RESPONSE_TIMEOUT", 60.0)
    monkeypatch.setattr(batches, "EXIT_TIMEOUT", 60.0)
    return started


def expected(where: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """What a load without a second process writes."""
    with monkeypatch.context() as patch:
        patch.setattr(batches, "can_start_worker", lambda: False)
        load(where, NEWS)
    return contents(where)


def meanwhile(action: Callable[[], object], at: int = 100) -> Iterator[Located]:
    """The documents; `action` is called after `at` of them have been read."""
    for n, located in enumerate(NEWS):
        if n == at:
            action()
        yield located


@pytest.mark.slow
@pytest.mark.parametrize("in_flight", [1, 10_000], ids=["both processes", "the second process only"])
def test_files_are_the_same_with_and_without_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: list[WorkerClient], in_flight: int
) -> None:
    monkeypatch.setattr(batches, "MAX_IN_FLIGHT", in_flight)
    load(tmp_path / "with", NEWS)
    assert [worker.is_alive for worker in workers] == [True]
    assert contents(tmp_path / "with") == expected(tmp_path / "without", monkeypatch)
    assert len(manifest.read_manifest(tmp_path / "with").segments) > 3


@pytest.mark.slow
@pytest.mark.parametrize("at", [3, 100, 199])
def test_a_load_survives_the_death_of_its_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: list[WorkerClient], at: int
) -> None:
    load(tmp_path / "killed", meanwhile(lambda: workers[0].process.kill() if workers else None, at))
    assert len(workers) == 1
    assert contents(tmp_path / "killed") == expected(tmp_path / "without", monkeypatch)


@pytest.fixture
def replace_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets a shell program run in place of the worker."""

    def replace(program: str) -> None:
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(python))

    return replace


@pytest.mark.slow
@pytest.mark.parametrize("program", ["echo no answer of this kind", "exit 1"])
def test_a_load_survives_a_worker_that_does_not_answer(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    workers: list[WorkerClient],
    replace_python: Callable[[str], None],
    program: str,
) -> None:
    replace_python(program)
    load(tmp_path / "alone", NEWS)
    assert [worker.is_alive for worker in workers] == [False]
    assert contents(tmp_path / "alone") == expected(tmp_path / "without", monkeypatch)


@pytest.mark.slow
def test_a_load_kills_a_worker_that_hangs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    workers: list[WorkerClient],
    replace_python: Callable[[str], None],
) -> None:
    replace_python("exec sleep 600")
    monkeypatch.setattr(batches, "RESPONSE_TIMEOUT", 0.3)
    monkeypatch.setattr(batches, "EXIT_TIMEOUT", 0.1)
    load(tmp_path / "alone", NEWS)
    assert [worker.process.returncode for worker in workers] == [-signal.SIGKILL]
    assert contents(tmp_path / "alone") == expected(tmp_path / "without", monkeypatch)


@pytest.mark.slow
def test_a_load_survives_a_worker_that_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: list[WorkerClient]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))
    load(tmp_path / "alone", NEWS)
    assert workers == []
    assert contents(tmp_path / "alone") == expected(tmp_path / "without", monkeypatch)


@pytest.mark.slow
def test_an_error_late_in_a_load_leaves_neither_index_nor_worker(
    tmp_path: Path, workers: list[WorkerClient]
) -> None:
    with pytest.raises(InputError, match=r"^news\.jsonl:n5: document id 'n5' is duplicated"):
        load(tmp_path / "index", [*NEWS, NEWS[5]])
    assert not (tmp_path / "index").exists()
    assert [worker.process.returncode is None for worker in workers] == [False]


@pytest.mark.slow
def test_a_worker_ignores_keyboard_interrupts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: list[WorkerClient]
) -> None:
    receive, answers = WorkerClient.receive, list[Batch]()

    def receive_noted(worker: WorkerClient) -> list[Batch]:
        found = receive(worker)
        answers.extend(found)
        return found

    monkeypatch.setattr(WorkerClient, "receive", receive_noted)

    def interrupt() -> None:
        if not answers:  # once it answers, it has started
            select.select([workers[0].output], [], [], 60)
        workers[0].process.send_signal(signal.SIGINT)

    load(tmp_path / "index", meanwhile(interrupt))
    assert [(worker.is_alive, worker.process.returncode) for worker in workers] == [(True, 0)]


@pytest.mark.slow
def test_a_small_load_starts_no_worker(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> WorkerClient:
        raise AssertionError("a second process for a small load")

    monkeypatch.setattr(batches, "WorkerClient", fail)
    load(where, NEWS)


@pytest.mark.slow
def test_a_worker_needs_a_second_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0}, raising=False)
    assert not batches.can_start_worker()
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    assert batches.can_start_worker() == (os.name == "posix")


LOADER = """
import sys, time
from pathlib import Path
from esr.folder.write import batches, segment_writer
from tests.support.folder_index import load
from tests.folder.write.test_batches import NEWS

batches.WORKER_AFTER_BYTES, batches.BATCH_BYTES, segment_writer.FULL_TERMS = 0, 700, 300
batches.can_start_worker = lambda: True
clients = []
start = batches.WorkerClient.__init__
batches.WorkerClient.__init__ = lambda self, *args: (start(self, *args), clients.append(self))[0]

def slowly():
    for n, located in enumerate(NEWS):
        if n == 150:
            print(clients[0].process.pid, flush=True)
            time.sleep(60)
        yield located

load(Path(sys.argv[1]), slowly())
"""


@pytest.mark.slow
def test_a_worker_ends_with_a_killed_load_which_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: list[WorkerClient]
) -> None:
    where = tmp_path / "index"
    with subprocess.Popen(
        [sys.executable, "-c", LOADER, str(where)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as loader:
        assert loader.stdout
        second = int(loader.stdout.readline())
        os.kill(second, 0)  # it is there
        loader.kill()
    deadline = time.monotonic() + 60
    while running(second):
        assert time.monotonic() < deadline, "the worker has outlived the load"
        time.sleep(0.05)
    assert load(where, NEWS, resume=True).documents == 200
    assert contents(where) == expected(tmp_path / "without", monkeypatch)


def running(process: int) -> bool:
    """Whether a process is running. One that has ended may remain as a zombie."""
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# Documents that are read ahead arrive as if each were read when the load asks for it.


READ_AHEAD = [document(f"n{n}", *[f"storm number {n}"] * (n % 4), title=f"title {n}") for n in range(20)]
PLAIN = Description("plain", title=True)


@pytest.mark.parametrize("size", [1, 300, 2**19], ids=["one by one", "a few", "all at once"])
def test_documents_arrive_in_order_with_the_payloads_that_are_needed(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(batches, "BATCH_BYTES", size)
    stream = list(prepare(READ_AHEAD, PLAIN, lambda document: document.id != "n7"))
    assert [(prepared.where, prepared.document) for prepared in stream] == READ_AHEAD
    assert [prepared.document.id for prepared in stream if not prepared.payload] == ["n7"]
    for prepared in stream:
        if payload := prepared.payload:
            news = prepared.document
            texts = " ".join([*(s.text for s in news.sentences), news.title or ""])
            for encoded, numbers in (
                (payload.batch.terms, payload.terms),
                (payload.batch.words, payload.words),
            ):
                assert " ".join(encoded.terms[n] for n in encoded.term_ids[numbers].tolist()) == texts
            assert payload.term_count == 3 * len(news.sentences)


def broken_after(documents: list[Located]) -> Iterator[Located]:
    yield from documents
    raise InputError("news.jsonl:21", "broken")


def test_an_error_of_the_source_follows_the_documents_before_it() -> None:
    stream = prepare(broken_after(READ_AHEAD), PLAIN)
    assert [next(stream).document.id for _ in READ_AHEAD] == [located.document.id for located in READ_AHEAD]
    with pytest.raises(InputError, match=r"^news\.jsonl:21: broken"):
        next(stream)


def test_of_two_problems_the_first_stops_the_load(where: Path) -> None:
    with pytest.raises(InputError, match=r"^news\.jsonl:n3: document id 'n3' is duplicated"):
        load(where, broken_after([*READ_AHEAD, READ_AHEAD[3]]))
    assert not where.exists()


def test_an_error_while_building_a_batch_is_raised_unchanged(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = BatchBuilder.build
    calls: list[int] = []

    def fail_once(self: BatchBuilder, documents: list[Document], encoded: list[bytes]) -> Batch:
        calls.append(len(encoded))
        if len(calls) == 2:
            raise MemoryError("no more")
        return build(self, documents, encoded)

    monkeypatch.setattr(batches, "BATCH_BYTES", 300)
    monkeypatch.setattr(BatchBuilder, "build", fail_once)
    with pytest.raises(MemoryError, match="no more"):
        load(where, READ_AHEAD)
    assert not where.exists()


# Terms of many texts at once are those of each text alone.


words = st.lists(
    st.sampled_from(
        [
            "the",
            "flood",
            "Floods",
            "WHO",
            "WHO's",
            "IS.",
            "éIT",
            "IT_",
            "THIS,",
            "a" * 9,
            "a" * 12,
            "a" * 16,
            "a" * 17,
            "ab" * 8,
            "é" * 8,
            "é" * 9,
        ]
    )
)


def decode(encoded: EncodedTexts) -> list[list[str]]:
    """The terms of each text."""
    terms = [encoded.terms[term_id] for term_id in encoded.term_ids.tolist()]
    ends = encoded.lengths.cumsum().tolist()
    return [terms[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("name", ["plain", "english-stem", "multilingual", "turkish", "hindi"])
@pytest.mark.parametrize("bits", [1, 18], ids=["words collide in the table", "they do not"])
@given(many=st.lists(st.lists(texts | words.map(" ".join), max_size=6), max_size=3))
def test_terms_are_those_of_the_analyzer(name: str, bits: int, many: list[list[str]]) -> None:
    analyzer = get_analyzer(name)
    with mock.patch.object(batches, "SLOT_BITS", bits):
        encoder = TermEncoder(analyzer)
        for some in many:
            batch = [text.encode("utf-8", "ignore").decode() for text in some]
            assert decode(encoder.encode(batch)) == [analyzer.terms(text) for text in batch]


def test_an_answer_has_each_term_once_and_none_of_other_texts() -> None:
    encoder = TermEncoder(get_analyzer("plain"))
    encoder.encode(["storm over the sea"])
    encoded = encoder.encode(["a flood", "", "no flood a storm"])
    assert sorted(encoded.terms) == ["a", "flood", "no", "storm"]
    assert encoded.lengths.tolist() == [2, 0, 4]


def test_words_are_forgotten_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MAX_WORDS", 3)
    encoder = TermEncoder(get_analyzer("plain"))
    for n in range(10):
        text = f"storm {n} flood"
        assert decode(encoder.encode([text])) == [text.split()]
        assert len(encoder.vocabulary) <= 5
