"""Batches of several hundred documents, prepared for a segment: compressed, and with numbered terms.

A batch depends only on the JSON of its documents, so any process can build it at any time. A load reads
documents ahead, and prepares them in batches, partly in a worker process. The result is the same as if each
document were prepared on demand. The load survives the death of the worker process, and builds its unfinished
batches.

The terms of a batch are numbered at once, several times as fast as text by text. A word of up to 16 bytes is
two 64-bit numbers. numpy cuts the words out of the texts and looks all of them up in a hash table at once. A
longer word, or one not in the table, is looked up individually.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from esr.folder.format.segment import compress, decode_texts, encode_document, encode_paragraphs
from esr.index.writer import Description
from esr.processes import can_start_python, start_python
from esr.text.analysis.word_splitters import PADDING
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER
from esr.text.document import Document, Located, custom_id_positions

TermIds = npt.NDArray[np.int32]
WordHalves = npt.NDArray[np.uint64]

MAX_WORDS = 500_000
"""Number of words above which an encoder forgets its vocabulary."""
SLOT_BITS = 18
"""Bits of a slot's number. The table takes 5 MB and holds nearly all frequent words of news."""
_MAX_BYTES = len(PADDING)
_SPACE = ord(" ")
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
"""Masks of the first 0 to 8 of eight bytes."""
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)


class EncodedTexts(NamedTuple):
    """The distinct terms of some texts, the number of each occurrence's term, and each text's length."""

    terms: list[str]
    term_ids: TermIds
    lengths: TermIds


class TermEncoder:
    """Encodes texts. Caches words, so that later texts take less time; results do not depend on it."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._join = analyzer.join
        self._term = analyzer.term
        self._clear()

    def _clear(self) -> None:
        self.vocabulary: _Vocabulary = _Vocabulary(self._term)
        self._first = np.zeros(1 << SLOT_BITS, np.uint64)
        self._second = np.zeros(1 << SLOT_BITS, np.uint64)
        self._term_id = np.zeros(1 << SLOT_BITS, np.int32)

    def encode(self, texts: Sequence[str]) -> EncodedTexts:
        if len(self.vocabulary) > MAX_WORDS:
            self._clear()
        content, ends = self._join(texts)
        is_letter = np.frombuffer(content, np.uint8) != _SPACE
        borders = np.flatnonzero(is_letter[1:] != is_letter[:-1]) + 1
        starts, sizes = borders[::2], borders[1::2] - borders[::2]
        term_ids = self._lookup(content, starts, sizes)
        has_term = term_ids >= 0
        lengths = np.diff(np.searchsorted(starts[has_term], ends), prepend=0).astype(np.int32)
        return self._renumber(term_ids[has_term], lengths)

    def _lookup(self, content: bytes, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> TermIds:
        """The number of each word's term, -1 for a word without one."""
        eight = np.frombuffer(content, "<u8", 1)
        at_any_byte = np.lib.stride_tricks.as_strided(eight, (len(content) - 7,), (1,), writeable=False)
        first = at_any_byte[starts] & _FIRST_BYTES[np.minimum(sizes, 8)]
        second = at_any_byte[starts + 8] & _FIRST_BYTES[np.clip(sizes - 8, 0, 8)]
        slots = _slots(first, second)
        term_ids = self._term_id[slots]
        hit = (self._first[slots] == first) & (self._second[slots] == second) & (sizes <= _MAX_BYTES)
        missing = np.flatnonzero(~hit)
        borders = zip(starts[missing].tolist(), (starts + sizes)[missing].tolist(), strict=True)
        term_ids[missing] = [self.vocabulary[content[start:end].decode()] for start, end in borders]
        # The first word of a slot keeps it, since frequent words come early. A free slot holds 0, which no
        # word equals.
        new = missing[(self._first[slots[missing]] == 0) & (sizes[missing] <= _MAX_BYTES)]
        self._first[slots[new]], self._second[slots[new]] = first[new], second[new]
        self._term_id[slots[new]] = term_ids[new]
        return term_ids

    def _renumber(self, term_ids: TermIds, lengths: TermIds) -> EncodedTexts:
        """Number the terms of these texts from 0, independent of earlier texts."""
        all_terms = self.vocabulary.terms
        used = np.flatnonzero(np.bincount(term_ids, minlength=len(all_terms)))
        new_ids = np.zeros(len(all_terms), np.int32)
        new_ids[used] = np.arange(len(used))
        return EncodedTexts([all_terms[n] for n in used.tolist()], new_ids[term_ids], lengths)


def interleave(parts: Iterable[tuple[Sequence[int], EncodedTexts]], texts: int) -> EncodedTexts:
    """Merge the encoded texts of several encoders that have no term in common.

    Each part comes with the positions of its texts among all `texts`.
    """
    lengths = np.zeros(texts, np.int32)
    terms: list[str] = []
    owners, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for places, part in parts:
        lengths[places] = part.lengths
        owners.append(np.repeat(places, part.lengths))
        numbers.append(part.term_ids + np.int32(len(terms)))
        terms += part.terms
    order = np.argsort(np.concatenate(owners), kind="stable")
    return EncodedTexts(terms, np.concatenate(numbers)[order], lengths)


def _slots(first: WordHalves, second: WordHalves) -> npt.NDArray[np.intp]:
    mixed = first * _MIX[0] ^ second * _MIX[1]
    mixed ^= mixed >> np.uint64(29)
    slots: npt.NDArray[np.intp] = (mixed * _MIX[0] >> np.uint64(64 - SLOT_BITS)).astype(np.intp)
    return slots


class _Vocabulary(dict[str, int]):
    """The number of each word's term, -1 for a word without one. `terms` are the terms by number."""

    def __init__(self, term: Callable[[str], str]) -> None:
        super().__init__()
        self.terms: list[str] = []
        self._term_ids: dict[str, int] = {}
        self._term = term

    def __missing__(self, word: str) -> int:
        term = self._term(word)
        if not term:
            term_id = -1
        elif (term_id := self._term_ids.setdefault(term, len(self.terms))) == len(self.terms):
            self.terms.append(term)
        self[word] = term_id
        return term_id


class Batch(NamedTuple):
    """The blobs of documents, and the terms and words of their texts: their sentences, then their title.

    Words are those of the analyzer `words`. Words of titles are included even if their terms are not.
    """

    blobs: list[bytes]
    terms: EncodedTexts
    words: EncodedTexts


class BatchBuilder:
    """Compresses documents and numbers their terms."""

    def __init__(self, analyzer: str, title: bool) -> None:
        """`title`: whether terms of titles are included."""
        self._analyzer = get_analyzer(analyzer)
        self._encoders: dict[Analyzer, TermEncoder] = {}
        self._word_encoder = TermEncoder(get_analyzer(WORDS_ANALYZER))
        self._title = title

    def build(self, documents: Iterable[Document], encoded: Sequence[bytes]) -> Batch:
        """Build the batch of documents, given with their JSON."""
        texts = (
            ([s.text for s in document.sentences], document.title, document.language)
            for document in documents
        )
        return self._build(encoded, texts)

    def build_from_json(self, encoded: Sequence[bytes]) -> Batch:
        """Build the same batch from the JSON alone."""
        return self._build(encoded, map(decode_texts, encoded))

    def _build(
        self, encoded: Sequence[bytes], documents: Iterable[tuple[list[str], str | None, str | None]]
    ) -> Batch:
        texts: list[str] = []
        titles: list[int] = []
        by_analyzer: dict[Analyzer, list[int]] = {}
        for sentences, title, language in documents:
            places = by_analyzer.setdefault(self._analyzer.for_language(language), [])
            places += range(len(texts), len(texts) + len(sentences) + 1)
            texts += sentences
            titles.append(len(texts))
            texts.append(title or "")
        words = self._word_encoder.encode(texts)
        if not self._title:
            for place in titles:
                texts[place] = ""
        return Batch([compress(document) for document in encoded], self._encode(texts, by_analyzer), words)

    def _encode(self, texts: Sequence[str], by_analyzer: Mapping[Analyzer, Sequence[int]]) -> EncodedTexts:
        """Number the terms of texts. `by_analyzer` has the positions of each analyzer's texts."""
        parts = []
        for analyzer, places in by_analyzer.items():
            if analyzer not in self._encoders:
                self._encoders[analyzer] = TermEncoder(analyzer)
            if len(by_analyzer) == 1:
                return self._encoders[analyzer].encode(texts)
            parts.append((places, self._encoders[analyzer].encode([texts[place] for place in places])))
        return interleave(parts, len(texts))


class Payload(NamedTuple):
    """The stored data of a document: its blob, and its terms and words as slices of its batch.

    `term_count` is the number of terms in its sentences. `texts`, `terms` and `words` are slices of the
    batch's texts, of their terms and of their words.
    """

    blob: bytes
    term_count: int
    batch: Batch
    texts: slice
    terms: slice
    words: slice


class PreparedDocument(NamedTuple):
    """A document on its way into a segment: where it was read, and its JSON.

    `explicit_ids` are the positions of the sentences whose id is not the default. `paragraphs` is the
    document's part of the column. `payload` is None if the document is not to be written.
    """

    where: str
    document: Document
    explicit_ids: list[int]
    encoded: bytes
    paragraphs: array[int]
    payload: Payload | None


def split_batch(batch: Batch, sizes: Sequence[int]) -> Iterator[Payload]:
    """Yield the payloads of a batch's documents, whose numbers of sentences are `sizes`."""
    text = term = word = 0
    term_counts, word_counts = batch.terms.lengths.tolist(), batch.words.lengths.tolist()
    for blob, size in zip(batch.blobs, sizes, strict=True):
        in_sentences = sum(term_counts[text : text + size])
        texts = slice(text, text + size + 1)
        terms = slice(term, term + in_sentences + term_counts[text + size])
        words = slice(word, word + sum(word_counts[texts]))
        yield Payload(blob, in_sentences, batch, texts, terms, words)
        text, term, word = texts.stop, terms.stop, words.stop


_LENGTH_BYTES = 8


def _encode_message(content: Any) -> bytes:
    """Encode a message in either direction, as its length in bytes and its content."""
    encoded = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(encoded).to_bytes(_LENGTH_BYTES) + encoded


_WORKER = "import sys; from esr.folder.write.batches import run_worker; run_worker(*sys.argv[1:])"
"""The program of the worker process. Its arguments are the analyzer, and title or no-title."""
_PIPE_BYTES = 2**20  # on Linux; elsewhere pipes keep their size
RESPONSE_TIMEOUT = 10.0
"""Seconds to wait for a worker's answer. A batch takes hundredths of a second."""
EXIT_TIMEOUT = 1.0
"""Seconds to wait for the end of a worker."""


def can_start_worker() -> bool:
    """Whether there is a spare processor, and pipes can be non-blocking."""
    processors = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return os.name == "posix" and len(processors) > 1 and can_start_python()


class WorkerClient:
    """The load's side of the worker process. Only `wait` blocks. Must be closed."""

    def __init__(self, analyzer: str, title: bool) -> None:
        """Start the process. Raises OSError if that fails."""
        self.process: subprocess.Popen[bytes] = start_python(
            _WORKER, analyzer, "title" if title else "no-title"
        )
        assert self.process.stdin and self.process.stdout
        self._input = self.process.stdin
        self.output: IO[bytes] = self.process.stdout
        for pipe in (self._input, self.output):
            os.set_blocking(pipe.fileno(), False)
            _enlarge(pipe.fileno())
        self._unsent: deque[memoryview] = deque()
        self._received = bytearray()
        self.is_alive: bool = True

    def submit(self, documents: Sequence[bytes]) -> None:
        """Request the batch of documents, given as JSON."""
        self._unsent.append(memoryview(_encode_message(documents)))

    def receive(self) -> list[Batch]:
        """The batches that have arrived, in the order of the requests."""
        try:
            self._send()
            self._receive()
            return self._decode()
        except (OSError, EOFError, pickle.UnpicklingError):
            self.is_alive = False
            return []

    def wait(self) -> None:
        """Wait until a pipe is ready. A worker that does not respond in time is considered dead."""
        poll = select.poll()
        poll.register(self.output.fileno(), select.POLLIN)
        if self._unsent:
            poll.register(self._input.fileno(), select.POLLOUT)
        self.is_alive = bool(poll.poll(RESPONSE_TIMEOUT * 1000))

    def close(self) -> None:
        self._input.close()
        self.output.close()
        try:
            self.process.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _send(self) -> None:
        try:
            while self._unsent:
                count = os.write(self._input.fileno(), self._unsent[0])
                self._unsent[0] = self._unsent[0][count:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            pass

    def _receive(self) -> None:
        try:
            while content := os.read(self.output.fileno(), _PIPE_BYTES):
                self._received += content
        except BlockingIOError:
            return
        raise EOFError

    def _decode(self) -> list[Batch]:
        """Decode the batches of the complete messages received."""
        batches: list[Batch] = []
        while len(self._received) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._received[:_LENGTH_BYTES])
            if len(self._received) < end:
                break
            batches.append(pickle.loads(self._received[_LENGTH_BYTES:end]))  # nosec B301  # from a process that this one started
            del self._received[:end]
        return batches


def _enlarge(pipe: int) -> None:
    """Make room for several batches in a pipe, so that neither side waits while the other works."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # above the system's limit
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


BATCH_BYTES = 2**19
WORKER_AFTER_BYTES = 2**22  # a third of a second's work; starting a process takes a tenth of a second
MAX_IN_FLIGHT = 4  # batches


class _PendingBatch(Struct):
    """Documents that have been read, and their batch when it is built."""

    documents: list[tuple[Located, list[int], bytes, bool]] = field(default_factory=list)
    """Documents, each with its explicit ids, its JSON, and whether it needs a payload."""
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
    """Yield the documents, prepared, in their order.

    `needs_payload` is called once for each document, in order. Documents that are not to be written need
    none.
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
    """A queue of batches, built by the worker, or by this process when the worker is busy."""

    def __init__(self, description: Description) -> None:
        self._settings = description.analyzer, description.title
        self._builder = BatchBuilder(*self._settings)
        self._worker: WorkerClient | None = None
        self._bytes = 0
        self._queue: deque[_PendingBatch] = deque()
        self._in_flight: deque[_PendingBatch] = deque()
        """Batches of the queue that the worker is building."""

    def submit(self, pending: _PendingBatch) -> None:
        """Add a batch. It is built at once, or by the worker while more documents are read."""
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
        """Yield the documents of the leading batches that are built."""
        while self._queue and self._queue[0].batch:
            yield from self._queue.popleft().prepared()
        while len(self._queue) > 2 * MAX_IN_FLIGHT:
            yield from self._next()

    def drain(self) -> Iterator[PreparedDocument]:
        """Yield the remaining documents."""
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
        with suppress(OSError):  # if no process can be started, the load does all the work
            self._worker = WorkerClient(*self._settings)

    def _collect(self) -> None:
        """Take the batches that the worker has built. If it has died, build the remaining ones here."""
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


def _read_message(stream: BinaryIO) -> Any:
    """Read the next message, None at the end."""
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        return None
    encoded = stream.read(int.from_bytes(length))
    return pickle.loads(encoded)  # nosec B301  # from the process that started this one


def run_worker(analyzer: str, title: str) -> None:
    """The worker process. It writes no files, keeps no state, and exits at the end of its input.

    It reads several hundred documents at a time as JSON from standard input, and answers with their batch.
    The death of the load ends the input.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the load gets the signal too, and ends this process
    builder = BatchBuilder(analyzer, title == "title")
    while (documents := _read_message(sys.stdin.buffer)) is not None:
        sys.stdout.buffer.write(_encode_message(builder.build_from_json(documents)))
        sys.stdout.buffer.flush()
