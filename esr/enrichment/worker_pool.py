"""Enriches documents in worker processes, in order, with a bounded number of them in memory."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError
from typing import Any

from esr.enrichment.enricher import Enricher
from esr.errors import EsrError
from esr.processes import defer_interrupt, end_with_parent, exit_without_parent, set_environment
from esr.text.document import Document, SentenceEnrichment

# Several batches of the model, so that the last, partly filled one costs little.
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
    documents: Iterable[Document], enricher: Enricher, workers: int
) -> Iterator[tuple[Document, list[SentenceEnrichment]]]:
    """Each document with the enrichment of its sentences, in the order of the documents.

    One worker means no other process: this one does the work. The workers end in the middle of a chunk when
    the iterator is closed or this process dies. Raises EsrError if a worker dies, and passes on the errors of
    `documents`.
    """
    chunks = split_into_chunks(documents)
    if workers <= 1:
        for chunk in chunks:
            yield from zip(chunk, enricher.enrich_batch(chunk), strict=True)
        return
    # Spawned: a forked copy of a process with threads may hang.
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
    """Lists of documents with about CHUNK_SENTENCES sentences in total."""
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


_enricher: Enricher  # set in each worker process
_all_loaded: Barrier
_is_ending: Any
"""A byte in memory that all processes share."""


def init_worker(enricher: Enricher, all_loaded: Barrier, is_ending: Any) -> None:
    global _enricher, _all_loaded, _is_ending
    _enricher, _all_loaded, _is_ending = enricher, all_loaded, is_ending
    end_with_parent()


def _load() -> None:
    try:
        _enricher.load()
    except BaseException:
        _all_loaded.abort()
        raise
    gc.freeze()  # spaCy's many objects need not be scanned by each collection
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
