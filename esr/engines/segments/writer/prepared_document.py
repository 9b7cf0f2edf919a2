"""A document on its way into a segment."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from esr.analysis.term_encoder import EncodedTexts
from esr.documents import Document
from esr.engines.segments.writer.batch import Batch


class Payload(NamedTuple):
    """What a segment stores of a document: its blob, and its terms as slices of its batch.

    `term_count` counts the terms of its sentences. `texts` and `numbers` are the document's slices of the
    batch's texts and of their terms.
    """

    blob: bytes
    term_count: int
    batch: EncodedTexts
    texts: slice
    numbers: slice


class PreparedDocument(NamedTuple):
    """A document, the place where it was read, and its JSON.

    `explicit_ids` are the positions of the sentences whose id is not the default. `paragraphs` is the
    document's part of the column of paragraphs. `payload` is None if the document is not to be written.
    """

    where: str
    document: Document
    explicit_ids: list[int]
    encoded: bytes
    paragraphs: array[int]
    payload: Payload | None


def split_batch(batch: Batch, sizes: Sequence[int]) -> Iterator[Payload]:
    """The payloads of a batch's documents, by how many sentences each has."""
    text = number = 0
    lengths = batch.terms.lengths.tolist()
    for blob, size in zip(batch.blobs, sizes, strict=True):
        in_sentences = sum(lengths[text : text + size])
        texts = slice(text, text + size + 1)
        numbers = slice(number, number + in_sentences + lengths[text + size])
        yield Payload(blob, in_sentences, batch.terms, texts, numbers)
        text, number = texts.stop, numbers.stop
