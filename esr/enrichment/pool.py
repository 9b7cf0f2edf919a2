"""Many documents through worker processes, in order, with a bounded number of them in memory."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError

from esr.documents import Document
from esr.enrichment.enriched import Enriched
from esr.enrichment.enricher import Enricher
from esr.environment import environment
from esr.errors import EsrError

# Some batches of the model, so that the last one, which is not full, costs little.
CHUNK_SENTENCES = 512
CHUNK_DOCUMENTS = 512
CHUNKS_A_WORKER = 3  # one at work and two waiting, so that a slow chunk holds nobody up

# A worker has one thread: more of them take the processors from each other.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_DIED = (
    "a worker process of the enrichment died, perhaps for want of memory (each needs about 0.4 GB): "
    "run it again with fewer workers"
)

_LOOK_FOR_PARENT = 2.0  # seconds
_LISTEN = 0.2  # seconds for which an interrupt may wait

Result = list[list[Enriched]]


def enriched(
    documents: Iterable[Document], enricher: Enricher, workers: int
) -> Iterator[tuple[Document, list[Enriched]]]:
    """Every document with its sentences' enrichment, in the order of the documents.

    With one worker, this process does the work. Raises EsrError if a worker dies; what a source of
    documents raises goes through. The workers end with the iterator, and when this process dies.
    """
    chunks = _chunks(documents)
    if workers <= 1:
        for chunk in chunks:
            yield from zip(chunk, enricher.enrich_all(chunk), strict=True)
        return
    # Spawned: a forked copy of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _begin, (enricher, context.Barrier(workers)))
    try:
        _start(pool, workers)
        for chunk, result in _in_order(pool, chunks, workers):
            yield from zip(chunk, result, strict=True)
    except BrokenProcessPool:
        raise EsrError(_DIED) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _start(pool: ProcessPoolExecutor, workers: int) -> None:
    """Return when all workers have loaded the model; raise what went wrong in one of them."""
    with for_workers():
        # All processes start here: the barrier keeps each of them at one of these until all have loaded.
        loading = [pool.submit(_load) for _ in range(workers)]
    problems = [load.exception() for load in loading]
    for problem in sorted(filter(None, problems), key=lambda p: isinstance(p, BrokenBarrierError)):
        raise problem


def _in_order(
    pool: ProcessPoolExecutor, chunks: Iterator[list[Document]], workers: int
) -> Iterator[tuple[list[Document], Result]]:
    running: deque[tuple[list[Document], Future[Result]]] = deque()
    for chunk in chunks:
        if len(running) == workers * CHUNKS_A_WORKER:
            yield _finished(running)
        with uninterrupted():
            running.append((chunk, pool.submit(_enrich, chunk)))
    while running:
        yield _finished(running)


def _finished(
    running: deque[tuple[list[Document], Future[Result]]],
) -> tuple[list[Document], Result]:
    chunk, future = running.popleft()
    done: set[Future[Result]] = set()
    while not done:
        with uninterrupted():
            done, _ = wait([future], timeout=_LISTEN)
    return chunk, future.result()


def _chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents with about CHUNK_SENTENCES sentences together."""
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
def for_workers() -> Iterator[None]:
    """What a process that starts in here inherits: one thread, and no interrupt from the keyboard.

    A Ctrl-C goes to the whole group of processes. This one hears it and ends the workers.
    """
    with environment(dict.fromkeys(_THREADS, "1")), uninterrupted():
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """An interrupt waits for the end of this: amid a call of the pool, it may leave a lock taken for ever."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


_own: Enricher  # the worker's
_all_loaded: Barrier


def _begin(enricher: Enricher, all_loaded: Barrier) -> None:
    global _own, _all_loaded
    _own, _all_loaded = enricher, all_loaded
    # By the clock and not by a thread: with a second thread in its process, spaCy takes 15 % longer.
    signal.signal(signal.SIGALRM, _end_with_parent)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_FOR_PARENT, _LOOK_FOR_PARENT)


def _end_with_parent(*_: object) -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
        os._exit(1)


def _load() -> None:
    try:
        _own.load()
    except BaseException:
        _all_loaded.abort()
        raise
    gc.freeze()  # what the collector need not look through again and again: spaCy's objects are many
    _all_loaded.wait()


def _enrich(chunk: Sequence[Document]) -> Result:
    return _own.enrich_all(chunk)
