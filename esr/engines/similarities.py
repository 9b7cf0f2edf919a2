"""How close the vectors of sentences, of their neighbours and of their documents are to that of a query."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.documents.vector import QuantizedVector
from esr.plans.evidence import Array

Numbers = npt.NDArray[np.int64]


class Similarities(Struct, frozen=True):
    """Products of a query's vector with those of n sentences, each of shape (n,). NaN: no vector.

    `neighbours` is the mean over the sentence before and the one after, or the sentence's own where neither
    has a vector. `document` is the mean over the sentences of the document. Either may not be asked for.
    """

    sentence: Array
    neighbours: Array | None = None
    document: Array | None = None


class SimilarityRescoring(Struct, frozen=True):
    """Adds `weight` times its similarity to the score of each of the best `window` sentences.

    The query's vector is of the encoder with this id. A sentence without one has the similarity `missing`.
    """

    encoder: str
    query: QuantizedVector
    weight: float
    window: int
    missing: float


def find_main_encoder(counts: Mapping[str, int]) -> str | None:
    """The encoder that made most vectors, from how many each made."""
    return max(counts, key=lambda encoder: (counts[encoder], encoder), default=None)


def mean_known(similarities: Array) -> float:
    """The mean of those that are known, which the others get: their words decide."""
    known = similarities[np.isfinite(similarities)]
    return float(known.mean()) if len(known) else 0.0


def average_neighbours(own: Array, before: Array, after: Array) -> Array:
    """The mean of the products of both neighbours, each of shape (n,), NaN where there is none."""
    known = np.isfinite(before).astype(float) + np.isfinite(after)
    total = np.nan_to_num(before, nan=0.0) + np.nan_to_num(after, nan=0.0)
    means = np.where(known > 0, total / np.maximum(known, 1.0), own)
    return np.where(np.isfinite(own), means, np.nan)


def average_documents(products: Array, first: Numbers) -> Array:
    """The mean over the sentences of each document, whose products are one after another.

    `first` has the place of each document's first product, and the end of the last. NaN: none has a vector.
    """
    sums = np.add.reduceat(np.append(np.nan_to_num(products, nan=0.0), 0.0), first[:-1])
    known = np.add.reduceat(np.append(np.isfinite(products).astype(float), 0.0), first[:-1])
    known = np.where(np.diff(first) > 0, known, 0.0)
    return np.where(known > 0, sums / np.maximum(known, 1.0), np.nan)
