"""A document on its way into a segment."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from esr.documents import Document
from esr.engines.segments.writer.batch import Batch


class Payload(NamedTuple):
    """What a segment stores of a document: its blob, and its terms and words as slices of its batch.

    `term_count` counts the terms of its sentences. `texts`, `terms` and `words` are the document's slices of
    the batch's texts, of their terms and of their words.
    """

    blob: bytes
    term_count: int
    batch: Batch
    texts: slice
    terms: slice
    words: slice


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
    text = term = word = 0
    term_counts, word_counts = batch.terms.lengths.tolist(), batch.words.lengths.tolist()
    for blob, size in zip(batch.blobs, sizes, strict=True):
        in_sentences = sum(term_counts[text : text + size])
        texts = slice(text, text + size + 1)
        terms = slice(term, term + in_sentences + term_counts[text + size])
        words = slice(word, word + sum(word_counts[texts]))
        yield Payload(blob, in_sentences, batch, texts, terms, words)
        text, term, word = texts.stop, terms.stop, words.stop
