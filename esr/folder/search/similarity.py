"""Products of a query's vector with the stored vectors of sentences, and the search for the nearest ones."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Numbers
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import Snapshot
from esr.folder.search.cache import SearchCache
from esr.folder.search.kernel_loader import LOADER
from esr.folder.search.records import Locations, group_by_segment
from esr.index.contract import Similarities, average_documents, average_neighbours
from esr.plans.evaluate import Array
from esr.text.document import QuantizedVector

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Vectors = npt.NDArray[np.int8]
_CHUNK = 16_384
"""Number of sentences multiplied at once: as floats, some 25 MB with 384 dimensions."""
_MOST_THREADS, _CHUNKS_FOR_THREADS = 4, 8
"""Threads pay from so many chunks on. Most of the time goes to reading memory, so more threads add little."""
_EXACT_IN_FLOAT32 = 2**24 // 127**2
"""Number of dimensions up to which a sum of products of 8-bit numbers is exact in 32-bit floats."""


def recipes_of(snapshot: Snapshot, encoder: str) -> frozenset[str]:
    """The digests of the recipes whose vectors were made by an encoder."""
    recipes = snapshot.manifest.recipes
    return frozenset(key for key in recipes if recipes[key]["made_with"].get("encoder") == encoder)


def read_similarities(
    snapshot: Snapshot,
    encoder: str,
    query: QuantizedVector,
    locations: Locations,
    contexts: Collection[str],
) -> Similarities:
    """Compute the similarities of the sentences at these locations. Vectors of other encoders are ignored."""
    recipes = recipes_of(snapshot, encoder)
    columns = {name: np.full(len(locations.numbers), np.nan) for name in ("sentence", *contexts)}
    for owner, places, numbers in group_by_segment(locations):
        segment = snapshot.segments[owner]
        own = columns["sentence"][places] = multiply(segment, recipes, query, numbers)
        if "neighbours" in contexts:
            columns["neighbours"][places] = _of_neighbours(segment, recipes, query, numbers, own)
        if "document" in contexts:
            columns["document"][places] = _of_documents(segment, recipes, query, numbers, own)
    return Similarities(**columns)


def multiply(segment: Segment, recipes: Collection[str], query: QuantizedVector, numbers: Numbers) -> Array:
    """The products of the query with the vectors of these sentences of a segment, NaN without a vector."""
    products = np.full(len(numbers), np.nan)
    for span in segment.enrichment.vector_spans:
        places = np.flatnonzero((numbers >= span.start) & (numbers < span.stop))
        if span.recipe in recipes and len(places) and span.layer.dimensions == len(query.values):
            rows = numbers[places] - span.first
            whole = multiply_rows(span.layer.vectors, rows, query.array)
            products[places] = whole * (span.layer.vector_scales[rows] * query.scale)
    return products


def multiply_rows(vectors: Vectors, rows: Numbers, query: npt.NDArray[np.int8]) -> Array:
    """The products of a query with these rows of 8-bit numbers, of shape (n,): exact integers."""
    if LOADER.kernel is not None:
        products = np.empty(len(rows))
        LOADER.kernel.multiply_vectors(products, vectors, rows, query.astype(np.int16))
        return products
    floats = np.float32 if len(query) <= _EXACT_IN_FLOAT32 else np.float64
    return np.asarray(vectors[rows].astype(floats) @ query.astype(floats), float)


def _of_neighbours(
    segment: Segment, recipes: Collection[str], query: QuantizedVector, numbers: Numbers, own: Array
) -> Array:
    document = segment.column("document")
    sides = []
    for step in (-1, 1):
        beside = np.clip(numbers + step, 0, len(document) - 1)
        is_neighbour = (beside != numbers) & (document[beside] == document[numbers])
        products = np.full(len(numbers), np.nan)
        products[is_neighbour] = multiply(segment, recipes, query, beside[is_neighbour])
        sides.append(products)
    return average_neighbours(own, *sides)


def _of_documents(
    segment: Segment, recipes: Collection[str], query: QuantizedVector, numbers: Numbers, own: Array
) -> Array:
    documents, places = np.unique(segment.column("document")[numbers], return_inverse=True)
    first = segment.column("first").astype(np.int64)
    sizes = first[documents + 1] - first[documents]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    inside = np.arange(ends[-1]) + np.repeat(first[documents] - ends[:-1], sizes)
    means = average_documents(multiply(segment, recipes, query, inside), ends)[places]
    return np.where(np.isfinite(own), means, np.nan)


def find_nearest(
    cache: SearchCache,
    encoder: str,
    query: QuantizedVector,
    k: int,
    allowed: Iterable[tuple[Segment, npt.NDArray[np.bool_] | None]],
) -> tuple[Numbers, Array]:
    """Find the k sentences with the greatest products. Returns ordinals and products, best first.

    `allowed` yields the mask of the sentences that may be found for each segment, None for all.
    """
    recipes, bases = recipes_of(cache.snapshot, encoder), cache.snapshot.statistics.sentence_bases
    chunks = [
        _Chunk(base, segment, mask, start, min(start + _CHUNK, span.stop))
        for base, (segment, mask) in zip(bases, allowed, strict=False)
        for span in (segment.enrichment.vector_spans if recipes else ())
        for start in range(span.start, span.stop, _CHUNK)
    ]
    ordinals, products = np.zeros(0, np.int64), np.zeros(0)
    with _threads(len(chunks)) as pool:
        for chunk, (numbers, found) in zip(
            chunks, (pool.map if pool else map)(partial(_multiply_chunk, recipes, query), chunks), strict=True
        ):
            least = products[-1] if len(products) == k else -np.inf
            may_be_best = np.flatnonzero(found > least)  # no NaN; the earlier of equals wins
            ordinals = np.concatenate([ordinals, chunk.base + numbers[may_be_best]])
            products = np.concatenate([products, found[may_be_best]])
            best = np.lexsort((ordinals, -products))[:k]
            ordinals, products = ordinals[best], products[best]
    return ordinals, products


class _Chunk(NamedTuple):
    """Some sentences of a segment, of which those of a mask may be found; None for all."""

    base: int
    segment: Segment
    mask: npt.NDArray[np.bool_] | None
    start: int
    stop: int


def _multiply_chunk(recipes: Collection[str], query: QuantizedVector, chunk: _Chunk) -> tuple[Numbers, Array]:
    numbers = np.arange(chunk.start, chunk.stop)
    numbers = numbers if chunk.mask is None else numbers[chunk.mask[numbers]]
    return numbers, multiply(chunk.segment, recipes, query, numbers)


def _threads(chunks: int) -> AbstractContextManager[ThreadPoolExecutor | None]:
    """Threads for so many chunks, if they pay. Only the kernel works without the interpreter's lock.

    They end with the search: threads that wait for the next one would be lost in a fork.
    """
    cores = min(os.cpu_count() or 1, _MOST_THREADS)
    if LOADER.kernel is None or cores == 1 or chunks < _CHUNKS_FOR_THREADS:
        return nullcontext()
    from concurrent.futures import ThreadPoolExecutor  # slow to import, needed by few searches

    return ThreadPoolExecutor(cores, "esr-nearest")
