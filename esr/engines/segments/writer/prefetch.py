"""Reads documents ahead of a load and prepares them in batches, partly in a second process.

The result is the same as if each document were read and prepared when the load asks for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field

from esr.documents import Document, Located
from esr.documents.document import custom_id_positions
from esr.engines.segments.store.document_codec import encode_document, encode_paragraphs
from esr.engines.segments.writer.batch import Batch, BatchBuilder
from esr.engines.segments.writer.prepared_document import PreparedDocument, split_batch
from esr.engines.segments.writer.worker_client import WorkerClient, can_start_worker
from esr.engines.writer import Description

BATCH_BYTES = 2**19
WORKER_AFTER_BYTES = 2**22  # a third of a second's work; starting a process takes a tenth of a second
MAX_IN_FLIGHT = 4  # batches


@dataclass(slots=True)
class _PendingBatch:
    """Documents that have been read, and their batch once it is built."""

    documents: list[tuple[Located, list[int], bytes, bool]] = field(default_factory=list)
    """A document, its explicit ids, its JSON, and whether it needs a payload."""
    size: int = 0
    batch: Batch | None = None

    def add(self, located: Located, needs_payload: bool) -> None:
        explicit_ids = custom_id_positions(located.document)
        encoded = encode_document(located.document, explicit_ids)
        self.documents.append((located, explicit_ids, encoded, needs_payload))
        self.size += len(encoded)

    @property
    def with_payload(self) -> list[Document]:
        return [located.document for located, _, _, needs_payload in self.documents if needs_payload]

    @property
    def encoded(self) -> list[bytes]:
        return [encoded for _, _, encoded, needs_payload in self.documents if needs_payload]

    def prepared(self) -> Iterator[PreparedDocument]:
        assert self.batch
        payloads = split_batch(self.batch, [len(document.sentences) for document in self.with_payload])
        for (where, document), explicit_ids, encoded, needs_payload in self.documents:
            payload = next(payloads) if needs_payload else None
            paragraphs = encode_paragraphs(document)
            yield PreparedDocument(where, document, explicit_ids, encoded, paragraphs, payload)


def prepare(
    documents: Iterable[Located],
    description: Description,
    needs_payload: Callable[[Document], bool] = lambda document: True,
) -> Generator[PreparedDocument, None, None]:
    """The documents, prepared, in their order.

    `needs_payload` is called once for each document, in order: those that are not to be written need none.
    """
    problem: Exception | None = None
    with closing(_Prefetcher(description)) as prefetcher:
        pending = _PendingBatch()
        try:
            for located in documents:
                pending.add(located, needs_payload(located.document))
                if pending.size >= BATCH_BYTES:
                    full, pending = pending, _PendingBatch()
                    prefetcher.submit(full)
                    yield from prefetcher.completed()
        except Exception as error:  # raised after the documents that were read before it
            problem = error
        prefetcher.submit(pending)
        yield from prefetcher.drain()
    if problem:
        raise problem


class _Prefetcher:
    """Batches in order, built by a second process, and by this one when the other has enough to do."""

    def __init__(self, description: Description) -> None:
        self._settings = description.analyzer, description.title
        self._builder = BatchBuilder(*self._settings)
        self._worker: WorkerClient | None = None
        self._bytes = 0
        self._queue: deque[_PendingBatch] = deque()
        self._in_flight: deque[_PendingBatch] = deque()
        """Of the queue, those that the worker is building."""

    def submit(self, pending: _PendingBatch) -> None:
        """Add a batch: it is built now, or by the worker while the next is read."""
        self._queue.append(pending)
        encoded = pending.encoded
        before, self._bytes = self._bytes, self._bytes + sum(map(len, encoded))
        if before <= WORKER_AFTER_BYTES < self._bytes and can_start_worker():
            self._start_worker()
        if self._worker and encoded and len(self._in_flight) < MAX_IN_FLIGHT:
            self._in_flight.append(pending)
            self._worker.submit(encoded)
        else:
            self._build(pending)
        self._collect()

    def completed(self) -> Iterator[PreparedDocument]:
        """The documents of the first batches, as far as they are built."""
        while self._queue and self._queue[0].batch:
            yield from self._queue.popleft().prepared()
        while len(self._queue) > 2 * MAX_IN_FLIGHT:
            yield from self._next()

    def drain(self) -> Iterator[PreparedDocument]:
        """The remaining documents."""
        while self._queue:
            yield from self._next()

    def close(self) -> None:
        if self._worker:
            self._worker.close()
            self._worker = None

    def _next(self) -> Iterator[PreparedDocument]:
        while not self._queue[0].batch:
            if not self._worker:
                self._build(self._queue[0])
                break
            self._worker.wait()
            self._collect()
        return self._queue.popleft().prepared()

    def _start_worker(self) -> None:
        with suppress(OSError):  # without memory or process for it, the load does all the work itself
            self._worker = WorkerClient(*self._settings)

    def _collect(self) -> None:
        """Take the batches that the worker has built. If it has died, build here what it left undone."""
        if not self._worker:
            return
        for batch in self._worker.receive():
            self._in_flight.popleft().batch = batch
        if not self._worker.is_alive:
            self.close()
            while self._in_flight:
                self._build(self._in_flight.popleft())

    def _build(self, pending: _PendingBatch) -> None:
        pending.batch = self._builder.build(pending.with_payload, pending.encoded)
