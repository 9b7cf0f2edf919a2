"""Reads ahead some hundred documents of a load, and prepares them for a segment together.

What comes out of it is as if each were read and prepared when its turn came.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

from esr.analysis.numbering import Numbered
from esr.documents import Document, Located
from esr.engines.embedded.preparing import Preparing
from esr.engines.embedded.stored import code
from esr.engines.index import Description

BATCH_BYTES = 2**19


class Prepared(NamedTuple):
    """A document as a segment takes it: its blob, how many terms its sentences have, and where all are."""

    blob: bytes
    terms: int
    batch: Numbered
    texts: slice
    numbers: slice


class Coming(NamedTuple):
    """A document, where it was read, its JSON, and what was prepared of it, if that was wanted."""

    where: str
    document: Document
    code: bytes
    prepared: Prepared | None


class _Read(NamedTuple):
    where: str
    document: Document
    code: bytes
    wanted: bool


def every(document: Document) -> bool:
    return True


def coming(
    documents: Iterable[Located], description: Description, wanted: Callable[[Document], bool] = every
) -> Generator[Coming, None, None]:
    """The documents in their order. Those that are `wanted` are prepared; that is asked of each once."""
    preparing = Preparing(description.analyzer, description.title)
    read: list[_Read] = []
    size = 0
    problem: Exception | None = None
    try:
        for where, document in documents:
            read.append(_Read(where, document, code(document), wanted(document)))
            size += len(read[-1].code)
            if size >= BATCH_BYTES:
                yield from _prepared(read, preparing)
                read, size = [], 0
    except Exception as error:  # its turn comes after what was read before it
        problem = error
    yield from _prepared(read, preparing)
    if problem:
        raise problem


def _prepared(read: Sequence[_Read], preparing: Preparing) -> Iterator[Coming]:
    chosen = [each for each in read if each.wanted]
    texts = [text for each in chosen for text in preparing.texts(each.document)]
    batch = preparing.batch([each.code for each in chosen], texts)
    ready = iter(parts(batch.blobs, batch.terms, [len(each.document.sentences) for each in chosen]))
    for where, document, made, needed in read:
        yield Coming(where, document, made, next(ready) if needed else None)


def parts(blobs: Sequence[bytes], terms: Numbered, sizes: Sequence[int]) -> Iterator[Prepared]:
    """What a batch holds of each of its documents, by how many sentences they have."""
    text = number = 0
    lengths = terms.lengths.tolist()
    for blob, size in zip(blobs, sizes, strict=True):
        in_sentences = sum(lengths[text : text + size])
        texts = slice(text, text + size + 1)
        numbers = slice(number, number + in_sentences + lengths[text + size])
        yield Prepared(blob, in_sentences, terms, texts, numbers)
        text, number = texts.stop, numbers.stop
