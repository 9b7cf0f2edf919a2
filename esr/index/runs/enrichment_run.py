"""Enrichment of an index's documents, stored in batches so that an interrupted run loses little work.

Worker processes enrich the documents in order, with a bounded number of them in memory.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError
from typing import Any, Protocol

from msgspec import Struct

from esr.enrichment.recipe import Recipe
from esr.errors import EsrError
from esr.index.contract import Enrichment, Index
from esr.index.names import Aliases
from esr.processes import defer_interrupt, end_with_parent, exit_without_parent, set_environment
from esr.text.document import Document
from esr.text.sentence_enrichment import SentenceEnrichment

BATCH_SECONDS = 20.0
"""Seconds after which a batch is stored, which bounds the work lost if the process is killed."""
BATCH_SENTENCES = 50_000
"""Number of sentences at which a batch is stored, which bounds its memory."""


@dataclass(slots=True)
class EnrichmentReport:
    """The outcome of a run. `already` counts the documents that the same recipe had already enriched.

    `regrouped` counts the sentences with names from an older version of esr whose keys were updated.
    """

    documents: int = 0
    sentences: int = 0
    already: int = 0
    regrouped: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


class RunEnd(Struct, frozen=True):
    """What a run does at its end: it stores `aliases` of names if given, and may build a vector index.

    Unless it `finishes`, names stay as they are, and nothing is cleaned up.
    """

    aliases: Aliases | None = None
    vector_index: bool = False
    finishes: bool = True


def run_enrichment(
    index: Index,
    enricher: DocumentEnricher,
    *,
    slice: tuple[int, int] = (1, 1),
    ids: Collection[str] | None = None,
    workers: int = 1,
    end: RunEnd = RunEnd(),  # noqa: B008 # frozen
    on_start: Callable[[int, int], None] = lambda done, documents: None,
    on_progress: Callable[[int], object] = lambda documents: None,
) -> EnrichmentReport:
    """Enrich all documents of a slice that the enricher's recipe has not enriched yet.

    With `ids`, only the documents with these ids are enriched.

    `on_start` is called with the number of documents already enriched and the number in the slice;
    `on_progress` with the number of documents enriched since its last call. An interruption stores the
    unfinished batch before it propagates. The first slice also updates the keys of stored names.
    """
    started = time.perf_counter()
    with index.enrichment() as enrichment:
        already, documents = (0, len(ids)) if ids is not None else enrichment.progress(enricher.recipe, slice)
        on_start(already, documents)
        report = EnrichmentReport(already=already)
        batch = _Batch(enrichment, enricher)
        languages: Counter[str | None] = Counter()
        try:
            pending = enrichment.pending(enricher.recipe, slice, ids)
            for document, sentences in enrich_documents(pending, enricher, workers):
                batch.add(document.id, sentences)
                languages[document.language] += 1
                report.documents += 1
                report.sentences += len(sentences)
                on_progress(1)
        finally:
            batch.store()
        # The names of short forms depend on all documents.
        if end.finishes and (slice[0] == 1 or report.documents):
            report.regrouped = enrichment.update_names(end.aliases)
        report.notes = enricher.describe_missing_models(languages)
        if end.finishes and (report.documents or report.regrouped):
            report.notes += enrichment.finish(enricher.recipe)
        if end.vector_index:
            report.notes += enrichment.index_vectors()
    report.seconds = time.perf_counter() - started
    return report


class DocumentEnricher(Protocol):
    """What computes the parts of a recipe: an `Enricher`, or one of vectors by a table."""

    @property
    def recipe(self) -> Recipe:
        """The parts, and what they are made with."""

    def enrich_batch(self, documents: Sequence[Document]) -> list[list[SentenceEnrichment]]:
        """The enrichment of each document's sentences, in order."""

    def load(self) -> None:
        """Load what most documents need."""

    def describe_missing_models(self, languages: Mapping[str | None, int]) -> list[str]:
        """Notes on documents that no model could read, given the number of documents by language."""


class _Batch:
    """Collects enriched documents, and stores them when they are many or old enough."""

    def __init__(self, enrichment: Enrichment, enricher: DocumentEnricher) -> None:
        self._enrichment = enrichment
        self._recipe = enricher.recipe
        self._clear()

    def _clear(self) -> None:
        self._documents: list[tuple[str, Sequence[SentenceEnrichment]]] = []
        self._sentences = 0
        self._started = time.monotonic()

    def add(self, document_id: str, sentences: Sequence[SentenceEnrichment]) -> None:
        self._documents.append((document_id, sentences))
        self._sentences += len(sentences)
        if self._sentences >= BATCH_SENTENCES or time.monotonic() - self._started >= BATCH_SECONDS:
            self.store()

    def store(self) -> None:
        """Store the batch. If the engine refuses it, it is dropped: the engine has repeated its requests.

        An interrupted batch stays, so that the next call completes it.
        """
        if self._documents:
            try:
                self._enrichment.store(self._recipe, self._documents)
            except Exception:
                self._clear()
                raise
        self._clear()


# Worker processes


# Several batches of the model, so that the last, partly filled batch costs little.
CHUNK_SENTENCES = 512
CHUNK_DOCUMENTS = 512
CHUNKS_PER_WORKER = 3  # one running and two waiting, so that a slow chunk leaves no worker idle

# One thread per worker: more would compete for the processors.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_WORKER_DIED = (
    "an enrichment worker process died, perhaps for lack of memory (each needs about 0.4 GB): "
    "run again with fewer workers"
)

_WAIT_SECONDS = 0.2  # an interrupt is delayed by at most this

Result = list[list[SentenceEnrichment]]
Running = deque[tuple[list[Document], Future[Result]]]


def enrich_documents(
    documents: Iterable[Document], enricher: DocumentEnricher, workers: int
) -> Iterator[tuple[Document, list[SentenceEnrichment]]]:
    """Yield each document with the enrichment of its sentences, in order.

    With one worker, this process does the work. The workers stop in the middle of a chunk if the iterator is
    closed or this process dies. Raises EsrError if a worker dies, and the errors of `documents`.
    """
    chunks = split_into_chunks(documents)
    if workers <= 1:
        for chunk in chunks:
            yield from zip(chunk, enricher.enrich_batch(chunk), strict=True)
        return
    # Spawned, since a forked copy of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    is_ending = context.RawValue("b", False)
    arguments = enricher, context.Barrier(workers), is_ending
    pool = ProcessPoolExecutor(workers, context, init_worker, arguments)
    try:
        start_workers(pool, workers)
        for chunk, result in results_in_order(pool, chunks, workers):
            yield from zip(chunk, result, strict=True)
    except BrokenProcessPool:
        raise EsrError(_WORKER_DIED) from None
    finally:
        is_ending.value = True
        pool.shutdown(cancel_futures=True)


def start_workers(pool: ProcessPoolExecutor, workers: int) -> None:
    """Wait until all workers have loaded the model. Raises the error of a worker that failed to load."""
    with worker_environment():
        # All processes start here: each call waits at the barrier until every worker has loaded.
        loading = [pool.submit(_load) for _ in range(workers)]
    errors = [future.exception() for future in loading]
    for error in sorted(filter(None, errors), key=lambda e: isinstance(e, BrokenBarrierError)):
        raise error


def results_in_order(
    pool: ProcessPoolExecutor, chunks: Iterator[list[Document]], workers: int
) -> Iterator[tuple[list[Document], Result]]:
    running: Running = deque()
    for chunk in chunks:
        if len(running) == workers * CHUNKS_PER_WORKER:
            yield _wait_for_first(running)
        with defer_interrupt():
            running.append((chunk, pool.submit(_enrich, chunk)))
    while running:
        yield _wait_for_first(running)


def _wait_for_first(running: Running) -> tuple[list[Document], Result]:
    chunk, future = running.popleft()
    done: set[Future[Result]] = set()
    while not done:
        with defer_interrupt():
            done, _ = wait([future], timeout=_WAIT_SECONDS)
    return chunk, future.result()


def split_into_chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield lists of documents with about CHUNK_SENTENCES sentences each."""
    chunk: list[Document] = []
    sentences = 0
    for document in documents:
        chunk.append(document)
        sentences += len(document.sentences)
        if sentences >= CHUNK_SENTENCES or len(chunk) == CHUNK_DOCUMENTS:
            yield chunk
            chunk, sentences = [], 0
    if chunk:
        yield chunk


@contextmanager
def worker_environment() -> Iterator[None]:
    """Processes that start in this block have one thread and ignore interrupts from the keyboard.

    Ctrl-C goes to the whole process group. This process receives it and ends the workers.
    """
    with set_environment(dict.fromkeys(_THREAD_VARIABLES, "1")), defer_interrupt():
        yield


_enricher: DocumentEnricher  # set in each worker process
_all_loaded: Barrier
_is_ending: Any
"""A byte of memory shared by all processes."""


def init_worker(enricher: DocumentEnricher, all_loaded: Barrier, is_ending: Any) -> None:
    global _enricher, _all_loaded, _is_ending
    _enricher, _all_loaded, _is_ending = enricher, all_loaded, is_ending
    end_with_parent()


def _load() -> None:
    try:
        _enricher.load()
    except BaseException:
        _all_loaded.abort()
        raise
    gc.freeze()  # garbage collections need not scan spaCy's many objects
    _all_loaded.wait()


class _Ending(BaseException):
    """Raised in the middle of a chunk that nobody waits for any more."""


def _enrich(chunk: Sequence[Document]) -> Result:
    if _is_ending.value:
        return []
    before = signal.signal(signal.SIGALRM, _check_end)
    try:
        return _enricher.enrich_batch(chunk)
    except _Ending:
        return []
    finally:
        signal.signal(signal.SIGALRM, before)


def _check_end(*_: object) -> None:
    exit_without_parent()
    if _is_ending.value:
        raise _Ending
