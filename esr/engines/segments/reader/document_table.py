"""The documents of a commit in a row over its segments: where their sentences are, and how long they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.segments.store.segment import Segment
from esr.plans.evidence import Array

Numbers = npt.NDArray[np.int64]


class Spans(NamedTuple):
    """Of D documents, each of shape (D,). Sentences are numbered over all segments.

    `first` is a document's first sentence, `size` how many it has, `length` c(d), `shortest` and `longest`
    the terms in its shortest and longest sentence (0 where it has no sentence). `owners`, of shape
    (segments + 1,), has the first document of each segment.
    """

    first: Numbers
    size: Numbers
    length: Array
    shortest: Array
    longest: Array
    owners: Numbers


def spans(segments: Sequence[Segment], starts: Sequence[int]) -> Spans:
    """Of these segments, whose first sentences have the numbers `starts`."""
    first = [segment.column("first")[:-1] + start for segment, start in zip(segments, starts, strict=False)]
    size = [np.diff(segment.column("first")) for segment in segments]
    length = [segment.column("document_length").astype(float) for segment in segments]
    extremes = [segment.extremes for segment in segments]
    owners = np.cumsum([0, *(len(each) for each in size)])
    return Spans(
        np.concatenate([np.zeros(0, np.int64), *first]),
        np.concatenate([np.zeros(0, np.int64), *size]),
        np.concatenate([np.zeros(0), *length]),
        np.concatenate([np.zeros(0), *(low for low, _ in extremes)]),
        np.concatenate([np.zeros(0), *(high for _, high in extremes)]),
        owners,
    )


def per_document(ufunc: np.ufunc, values: npt.NDArray[np.generic], spans: Spans, empty: float) -> Array:
    """A reduction of sentences' values over each document, of shape (D,)."""
    found = np.full(len(spans.size), empty)
    there = spans.size > 0
    if there.any():
        found[there] = ufunc.reduceat(values, spans.first[there])
    return found
