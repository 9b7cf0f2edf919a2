"""The worker processes of an enrichment: the order of results, errors, and the end of the processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread, get_ident
from typing import Any, cast

import pytest

from esr.enrichment.enricher import Enricher
from esr.errors import EngineUnreachable, EsrError, UsageError
from esr.index.contract import Index
from esr.index.runs import enrichment_run
from esr.index.runs.enrichment_run import enrich_documents, run_enrichment
from esr.processes import defer_interrupt
from esr.text.document import Document, Sentence
from esr.text.sentence_enrichment import SentenceEnrichment
from tests.support.fake_enricher import FakeEnricher
from tests.support.fake_enricher import document as tagged
from tests.support.processes import wait_until

ROOT = Path(__file__).resolve().parents[3]
_HANG = 60.0


class SleepingEnricher(FakeEnricher):
    """Takes an hour for the second document, and says that it has begun."""

    began: str = ""

    def enrich(self, document: Document) -> list[SentenceEnrichment]:
        if document.id == "second":
            Path(self.began).touch()
            time.sleep(60 * _HANG)
        return super().enrich(document)


def build(began: Path) -> tuple[Sequence[Document], Enricher]:
    enricher = SleepingEnricher()
    enricher.began = str(began)
    first, second = tagged("A storm."), tagged("A river.")
    return [first, Document("second", second.sentences)], cast(Enricher, enricher)


@pytest.mark.slow
def test_workers_end_in_the_middle_of_a_chunk_when_the_iterator_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrichment_run, "CHUNK_DOCUMENTS", 1)
    documents, enricher = build(tmp_path / "began")
    results = enrich_documents(documents, enricher, 2)
    assert next(iter(results))[0] == documents[0]
    wait_until((tmp_path / "began").exists)
    closing = Thread(target=results.close, daemon=True)  # type: ignore[attr-defined]
    closing.start()
    closing.join(_HANG)
    assert not closing.is_alive()


def test_a_request_to_end_waits_for_the_call_of_a_pool() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        with defer_interrupt():
            signal.pthread_kill(get_ident(), signal.SIGTERM)  # another thread would take it
            assert not received
        assert received == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def documents(count: int) -> list[Document]:
    """Of 0 to 3 sentences."""
    return [
        Document(
            f"d{n}", tuple(Sentence(f"d{n}.s{m}", f"Storm {n} hit Paris {m} times.") for m in range(n % 4))
        )
        for n in range(count)
    ]


class Fragile(Enricher):
    """Does what the id of a document says."""

    def load(self) -> None:
        if once := os.environ.get("ESR_TEST_FAIL_ONCE"):
            with suppress(FileExistsError):
                os.mkdir(once)
                raise UsageError("the model is broken")

    def enrich_batch(self, documents):  # type: ignore[no-untyped-def]
        for document in documents:
            if document.id == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if document.id == "fail":
                raise EsrError("this one is bad")
        return [[None] for _ in documents]

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return Fragile, (self._parts,)


def children() -> set[str]:
    """The processes that this one has spawned for work."""
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True)
    return {line.split()[0] for line in listed.stdout.splitlines() if "spawn_main" in line}


@pytest.mark.slow
def test_documents_come_back_in_order_with_one_worker_as_with_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    enricher = Enricher()
    enricher.load()
    monkeypatch.setattr(enrichment_run, "CHUNK_SENTENCES", 7)
    corpus = documents(30)
    expected = [(document, enricher.enrich(document)) for document in corpus]
    assert list(enrich_documents(iter(corpus), enricher, 1)) == expected
    before = children(), dict(os.environ)
    results = enrich_documents(iter(corpus), enricher, 2)
    first = next(results)
    assert len(children()) == len(before[0]) + 2
    assert [first, *results] == expected
    assert (children(), dict(os.environ)) == before


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrichment_run, "CHUNK_DOCUMENTS", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_no_more_documents_are_read_than_can_be_worked_on() -> None:
    read = 0

    def source() -> Iterator[Document]:
        nonlocal read
        for document in documents(100):
            read += 1
            yield document

    results = enrich_documents(source(), Fragile(["parse"]), 2)
    for done in range(1, 20):
        next(results)
        assert read <= done + 2 * enrichment_run.CHUNKS_PER_WORKER
    results.close()


class FailingStore:
    """An index and its enrichment, whose first batch fails with `error`. `batches` has the ids of each."""

    def __init__(self, error: BaseException) -> None:
        self._error = error
        self.batches: list[list[str]] = []

    @contextmanager
    def enrichment(self) -> Iterator[FailingStore]:
        yield self

    def progress(self, *_: object) -> tuple[int, int]:
        return 0, 3

    def pending(self, *_: object) -> Iterator[Document]:
        return (Document(f"d{n}", (Sentence(f"d{n}.s0", "A storm."),)) for n in range(3))

    def store(self, recipe: object, batch: Sequence[tuple[str, Any]]) -> None:
        self.batches.append([id for id, _ in batch])
        if len(self.batches) == 1:
            raise self._error


@pytest.mark.parametrize(
    ("error", "batches"),
    [(EngineUnreachable("no answer"), [["d0"]]), (KeyboardInterrupt(), [["d0"], ["d0"]])],
)
def test_a_batch_that_the_engine_refuses_is_sent_once_and_an_interrupted_one_again(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, batches: list[list[str]]
) -> None:
    monkeypatch.setattr(enrichment_run, "BATCH_SENTENCES", 1)
    index = FailingStore(error)
    with pytest.raises(type(error)):
        run_enrichment(cast(Index, index), cast(Enricher, FakeEnricher()))
    assert index.batches == batches


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_source_or_a_worker_raises_comes_through(workers: int) -> None:
    def source() -> Iterator[Document]:
        yield Document("d", ())
        raise EsrError("the file is cut off")

    with pytest.raises(EsrError, match="the file is cut off"):
        list(enrich_documents(source(), Fragile(["parse"]), workers))
    with pytest.raises(EsrError, match="this one is bad"):
        list(enrich_documents([Document("d", ()), Document("fail", ())], Fragile(["parse"]), workers))


@pytest.mark.slow
def test_the_error_of_a_worker_that_cannot_load_comes_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ESR_TEST_FAIL_ONCE", str(tmp_path / "failed"))
    with pytest.raises(UsageError, match="the model is broken"):
        list(enrich_documents(documents(3), Fragile(["parse"]), 2))


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_the_death_of_a_worker_is_one_clear_error() -> None:
    corpus = [*documents(3), Document("kill", ()), *documents(50)]
    with pytest.raises(EsrError, match=r"an enrichment worker process died.*fewer workers"):
        list(enrich_documents(corpus, Fragile(["parse"]), 2))


PROGRAM = """
import itertools, signal
from esr.text.document import Document
from esr.index.runs.enrichment_run import enrich_documents
from tests.index.runs.test_enrichment_run import Fragile

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts it in the background ignores it
    source = (Document(str(n), ()) for n in itertools.count())
    try:
        for n, _ in enumerate(enrich_documents(source, Fragile(["parse"]), 2)):
            if n == 0:
                print("working", flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@pytest.fixture
def working(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program with two workers, in a group of processes of its own, at work."""
    (tmp_path / "program.py").write_text(PROGRAM)
    program = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert program.stdout and program.stdout.readline() == "working\n"
        yield program
    finally:
        program.kill()
        program.communicate()


def left(group: int) -> bool:
    """Whether a process of the group is there within a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        listed = subprocess.run(["ps", "-e", "-o", "pgid=,stat="], capture_output=True, text=True).stdout
        rows = [line.split() for line in listed.splitlines()]
        if not [1 for number, state in rows if int(number) == group and not state.startswith("Z")]:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.slow
def test_an_interrupt_ends_all_processes_without_a_trace(working: subprocess.Popen[str]) -> None:
    os.killpg(working.pid, signal.SIGINT)
    out, err = working.communicate(timeout=60)
    assert (out, err, working.returncode) == ("stopped\n", "", 0)
    assert not left(working.pid)


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(working: subprocess.Popen[str]) -> None:
    os.kill(working.pid, signal.SIGKILL)
    working.wait()
    assert not left(working.pid)
