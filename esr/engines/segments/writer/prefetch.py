"""Reads ahead some hundred documents of a load, and prepares them for a segment together.

What comes out of it is as if each were read and prepared when its turn came, here or in a second process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from esr.analysis.term_encoder import EncodedTexts
from esr.documents import Document, Located
from esr.documents.document import own_ids
from esr.engines.index import Description
from esr.engines.segments.store.document_codec import code
from esr.engines.segments.writer.batch import Batch, Preparing
from esr.engines.segments.writer.worker_client import Helper, possible

BATCH_BYTES = 2**19
HELP_AFTER_BYTES = 2**22  # a third of a second; to start a second process takes a tenth
MOST_ASKED = 4  # batches


class Prepared(NamedTuple):
    """A document as a segment takes it: its blob, how many terms its sentences have, and where all are."""

    blob: bytes
    terms: int
    batch: EncodedTexts
    texts: slice
    numbers: slice


class Coming(NamedTuple):
    """A document, where it was read, which of its sentences have ids of their own, its JSON, and what was
    prepared of it, if that was wanted."""

    where: str
    document: Document
    own: list[int]
    code: bytes
    prepared: Prepared | None


@dataclass(slots=True)
class _Read:
    """What was read of a batch, and the batch, once it is there."""

    read: list[tuple[Located, list[int], bytes, bool]] = field(default_factory=list)
    size: int = 0
    batch: Batch | None = None

    def add(self, located: Located, wanted: bool) -> None:
        own = own_ids(located.document)
        made = code(located.document, own)
        self.read.append((located, own, made, wanted))
        self.size += len(made)

    @property
    def documents(self) -> list[Document]:
        return [located.document for located, _, _, wanted in self.read if wanted]

    @property
    def codes(self) -> list[bytes]:
        return [made for _, _, made, wanted in self.read if wanted]

    def coming(self) -> Iterator[Coming]:
        assert self.batch
        ready = parts(self.batch, [len(document.sentences) for document in self.documents])
        for (where, document), own, made, wanted in self.read:
            yield Coming(where, document, own, made, next(ready) if wanted else None)


def every(document: Document) -> bool:
    return True


def coming(
    documents: Iterable[Located], description: Description, wanted: Callable[[Document], bool] = every
) -> Generator[Coming, None, None]:
    """The documents in their order. Those that are `wanted` are prepared; that is asked of each once."""
    problem: Exception | None = None
    with closing(_Ahead(description)) as ahead:
        reading = _Read()
        try:
            for located in documents:
                reading.add(located, wanted(located.document))
                if reading.size >= BATCH_BYTES:
                    full, reading = reading, _Read()
                    ahead.give(full)
                    yield from ahead.ready()
        except Exception as error:  # its turn comes after what was read before it
            problem = error
        ahead.give(reading)
        yield from ahead.rest()
    if problem:
        raise problem


class _Ahead:
    """Batches in their order, prepared by a second process, and here where that has enough to do."""

    def __init__(self, description: Description) -> None:
        self._made_by = description.analyzer, description.title
        self._own = Preparing(*self._made_by)
        self._helper: Helper | None = None
        self._size = 0
        self._waiting: deque[_Read] = deque()
        self._asked: deque[_Read] = deque()

    def give(self, reading: _Read) -> None:
        """Take a batch that was read. It is prepared now, or while the next is read."""
        self._waiting.append(reading)
        codes = reading.codes
        before, self._size = self._size, self._size + sum(map(len, codes))
        if before <= HELP_AFTER_BYTES < self._size and possible():
            self._start()
        if self._helper and codes and len(self._asked) < MOST_ASKED:
            self._asked.append(reading)
            self._helper.give(codes)
        else:
            self._prepare(reading)
        self._listen()

    def ready(self) -> Iterator[Coming]:
        """The documents of the first batches, if they are prepared."""
        while self._waiting and self._waiting[0].batch:
            yield from self._waiting.popleft().coming()
        while len(self._waiting) > 2 * MOST_ASKED:
            yield from self._next()

    def rest(self) -> Iterator[Coming]:
        while self._waiting:
            yield from self._next()

    def close(self) -> None:
        if self._helper:
            self._helper.close()
            self._helper = None

    def _next(self) -> Iterator[Coming]:
        while not self._waiting[0].batch:
            if not self._helper:
                self._prepare(self._waiting[0])
                break
            self._helper.wait()
            self._listen()
        return self._waiting.popleft().coming()

    def _start(self) -> None:
        with suppress(OSError):  # no memory, or no process to be had: it goes without
            self._helper = Helper(*self._made_by)

    def _listen(self) -> None:
        """Take what the second process has done. What it leaves undone when it dies is done here."""
        if not self._helper:
            return
        for batch in self._helper.answers():
            self._asked.popleft().batch = batch
        if not self._helper.alive:
            self.close()
            while self._asked:
                self._prepare(self._asked.popleft())

    def _prepare(self, reading: _Read) -> None:
        reading.batch = self._own.of_documents(reading.documents, reading.codes)


def parts(batch: Batch, sizes: Sequence[int]) -> Iterator[Prepared]:
    """What a batch holds of each of its documents, by how many sentences they have."""
    text = number = 0
    lengths = batch.terms.lengths.tolist()
    for blob, size in zip(batch.blobs, sizes, strict=True):
        in_sentences = sum(lengths[text : text + size])
        texts = slice(text, text + size + 1)
        numbers = slice(number, number + in_sentences + lengths[text + size])
        yield Prepared(blob, in_sentences, batch.terms, texts, numbers)
        text, number = texts.stop, numbers.stop
