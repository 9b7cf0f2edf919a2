"""Similarities of sentences to a query's vector, and their averages over neighbours and documents."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.plans.evaluate import Array
from esr.text.sentence_enrichment import QuantizedVector

Numbers = npt.NDArray[np.int64]


class Similarities(Struct, frozen=True):
    """Products of a query's vector with the vectors of n sentences, each of shape (n,). NaN: no vector.

    `neighbours` is the mean over the sentence before and the one after, or the sentence's own product if
    neither has a vector. `document` is the mean over the sentences of the document. Either is None unless
    requested.
    """

    sentence: Array
    neighbours: Array | None = None
    document: Array | None = None

    def at(self, places: Numbers) -> Similarities:
        """The products of the sentences at these places."""
        contexts = (None if values is None else values[places] for values in (self.neighbours, self.document))
        return Similarities(self.sentence[places], *contexts)


class SimilarityRescoring(Struct, frozen=True):
    """Adds `weight` times the similarity to the score of each of the best `window` sentences.

    `query` is a vector made by the encoder with the id `encoder`. A sentence without a vector has the
    similarity `missing`.
    """

    encoder: str
    query: QuantizedVector
    weight: float
    window: int
    missing: float


def find_main_encoder(counts: Mapping[str, int]) -> str | None:
    """The encoder that made the most vectors, given the number that each made."""
    return max(counts, key=lambda encoder: (counts[encoder], encoder), default=None)


def mean_known(similarities: Array) -> float:
    """The mean of the known (finite) similarities, 0 if there are none.

    Sentences without a vector get this mean, so that only their words decide.
    """
    known = similarities[np.isfinite(similarities)]
    return float(known.mean()) if len(known) else 0.0


def average_neighbours(sentences: Array, before: Array, after: Array) -> Array:
    """The mean of the products of both neighbours, NaN for a sentence without a vector. All of shape (n,)."""
    known = np.isfinite(before).astype(float) + np.isfinite(after)
    total = np.nan_to_num(before, nan=0.0) + np.nan_to_num(after, nan=0.0)
    means = np.where(known > 0, total / np.maximum(known, 1.0), sentences)
    return np.where(np.isfinite(sentences), means, np.nan)


def average_documents(products: Array, first: Numbers) -> Array:
    """The mean product of each document's sentences, NaN for a document without vectors.

    The products of a document are consecutive. `first` holds the position of each document's first product,
    and the end of the last document.
    """
    sums = np.add.reduceat(np.append(np.nan_to_num(products, nan=0.0), 0.0), first[:-1])
    known = np.add.reduceat(np.append(np.isfinite(products).astype(float), 0.0), first[:-1])
    known = np.where(np.diff(first) > 0, known, 0.0)
    return np.where(known > 0, sums / np.maximum(known, 1.0), np.nan)
