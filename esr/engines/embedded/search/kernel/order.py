"""The order in which documents are looked at: the best bounds first, roughly."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.numba_support import inlined

ORDERED = 256
"""Documents are sorted into so many buckets by their bounds. A heap takes ten times as long."""


@inlined
def take_documents(keys, documents, done, size, threshold):
    """Move the documents from `done` on whose bounds reach the threshold before the others.

    Gives how many these are, and the least and the greatest of their bounds.
    """
    end, lowest, highest = done, np.inf, -np.inf
    for n in range(done, size):
        key = keys[n]
        if key >= threshold:
            keys[n], keys[end] = keys[end], key
            documents[n], documents[end] = documents[end], documents[n]
            lowest, highest = min(lowest, key), max(highest, key)
            end += 1
    return end - done, lowest, highest


@inlined
def order_documents(keys, documents, lowest, highest):
    """These bounds with their documents, sorted into buckets, that of the greatest first."""
    size, ends = len(keys), np.zeros(ORDERED + 1, np.int64)
    scale = (ORDERED - 1) / (highest - lowest) if highest > lowest else 0.0
    for n in range(size):
        ends[ORDERED - int((keys[n] - lowest) * scale)] += 1
    for bucket in range(ORDERED):
        ends[bucket + 1] += ends[bucket]
    ordered_keys, ordered = np.empty(size), np.empty(size, np.int64)
    for n in range(size):
        bucket = ORDERED - 1 - int((keys[n] - lowest) * scale)
        place = ends[bucket]
        ends[bucket] = place + 1
        ordered_keys[place], ordered[place] = keys[n], documents[n]
    return ordered_keys, ordered


@inlined
def fill_batch(batch, keys, documents, sizes, at, least):
    """Put the next documents from `at` on into the batch whose bounds reach `least`.

    Gives the place behind the last of them, their number, and the greatest number of sentences.
    """
    filled, largest, room = 0, 0, len(batch.documents)
    while at < len(keys) and filled < room:
        if keys[at] >= least:
            d = documents[at]
            batch.documents[filled], batch.bounds[filled] = d, keys[at]
            largest = max(largest, sizes[d])
            filled += 1
        at += 1
    return at, filled, largest
