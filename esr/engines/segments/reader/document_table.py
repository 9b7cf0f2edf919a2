"""The documents of a commit, numbered over its segments: their sentences and their lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.segments.store.segment import Segment
from esr.plans.evidence import Array

Numbers = npt.NDArray[np.int64]


class DocumentTable(NamedTuple):
    """Columns of D documents, each of shape (D,). Sentences are numbered over all segments.

    `first` is the ordinal of a document's first sentence, `size` how many sentences it has, `length` c(d),
    `shortest` and `longest` the terms in its shortest and longest sentence (0 where it has no sentence).
    `document_bases`, of shape (segments + 1,), has the number of each segment's first document.
    """

    first: Numbers
    size: Numbers
    length: Array
    shortest: Array
    longest: Array
    document_bases: Numbers


def make_document_table(segments: Sequence[Segment], sentence_bases: Sequence[int]) -> DocumentTable:
    """The table of these segments. `sentence_bases` has the ordinal of each segment's first sentence."""
    first = [s.column("first")[:-1] + base for s, base in zip(segments, sentence_bases, strict=False)]
    size = [np.diff(segment.column("first")) for segment in segments]
    length = [segment.column("document_length").astype(float) for segment in segments]
    extremes = [segment.sentence_length_range for segment in segments]
    document_bases = np.cumsum([0, *map(len, size)])
    return DocumentTable(
        np.concatenate([np.zeros(0, np.int64), *first]),
        np.concatenate([np.zeros(0, np.int64), *size]),
        np.concatenate([np.zeros(0), *length]),
        np.concatenate([np.zeros(0), *(shortest for shortest, _ in extremes)]),
        np.concatenate([np.zeros(0), *(longest for _, longest in extremes)]),
        document_bases,
    )


def reduce_by_document(
    ufunc: np.ufunc, values: npt.NDArray[np.generic], table: DocumentTable, empty: float
) -> Array:
    """The reduction of sentences' values over each document, of shape (D,); `empty` without sentences."""
    reduced = np.full(len(table.size), empty)
    has_sentences = table.size > 0
    if has_sentences.any():
        reduced[has_sentences] = ufunc.reduceat(values, table.first[has_sentences])
    return reduced
