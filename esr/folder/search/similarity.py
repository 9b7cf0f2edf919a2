"""Products of a query's vector with the stored vectors of sentences, and the search for the nearest ones.

With `LEAST_FOR_BITS` vectors or more, the kernel first bounds each product by bits
(`esr.folder.kernel.nearest`), and multiplies only vectors that may be among the nearest. Products and their
order are exact either way.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Mask, Numbers
from esr.folder.format.layers import Layer, LayerSpan
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import Snapshot
from esr.folder.search.cache import SearchCache
from esr.folder.search.kernel_loader import LOADER
from esr.folder.search.records import Locations, group_by_segment
from esr.index.similarities import Similarities, average_documents, average_neighbours
from esr.plans.evaluate import Array
from esr.processes import after_fork
from esr.stdlib import import_lazily
from esr.text.sentence_enrichment import TABLE, QuantizedVector
from esr.threads import Turn

if TYPE_CHECKING:
    from concurrent import futures

    from esr.folder.kernel import layout
else:
    futures = import_lazily("concurrent.futures")
    layout = import_lazily("esr.folder.kernel.layout")

Vectors = npt.NDArray[np.int8]
_Run = Callable[..., Iterable[Any]]
"""`map`, or the `map` of a thread pool."""
Bounded = tuple[Numbers, npt.NDArray[np.float32]]
"""Rows of a layer, and upper bounds of their products."""
LEAST_FOR_BITS = 2**18
"""Number of vectors from which bits save time. Multiplying fewer takes a few milliseconds."""
LEAST_CHUNK, _MOST_CHUNK = 2**12, 2**17
"""Numbers of sentences in the first chunk and in the last ones. The limit rises fast at the beginning."""
_CHUNK_WITHOUT_KERNEL = 2**14
"""Maximum number of sentences that numpy multiplies at once: as floats, 25 MB with 384 dimensions."""
_MOST_THREADS, LEAST_FOR_THREADS = 4, 2**16
"""Maximum number of threads, and the number of vectors from which they save time.

Most of the time is spent reading memory, so more threads gain little.
"""
_ERRORS = 4.5
"""Standard errors by which a product may exceed its estimate. 3.4e-6 of normal errors are greater."""
_WIDTH = 2.3
"""Standard deviations of a query's numbers that three bits span. Of 2.0 to 2.6, this has the least error."""
_SEEDS, MOST_OF_SEED = 16, 256
"""Multiple of k vectors that are multiplied first, and the maximum size of a group.

Each of these vectors has the greatest bound of its group.
"""
_SAMPLE = 2**13
"""Approximate number of vectors of a layer from which its mean is estimated."""
_QUERIES = 64
"""Approximate number of vectors of a layer that serve as queries to measure errors."""
_ALL = np.zeros(0, bool)
"""The mask of the kernel if all sentences are allowed."""
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
        products = columns["sentence"][places] = multiply(segment, recipes, query, numbers)
        if "neighbours" in contexts:
            columns["neighbours"][places] = _read_neighbours(segment, recipes, query, numbers, products)
        if "document" in contexts:
            columns["document"][places] = _read_documents(segment, recipes, query, numbers, products)
    return Similarities(**columns)


def read_vectors(snapshot: Snapshot, encoder: str, locations: Locations) -> list[QuantizedVector | None]:
    """The vectors of the sentences at these locations, None for a sentence without one by this encoder."""
    recipes = recipes_of(snapshot, encoder)
    vectors: list[QuantizedVector | None] = [None] * len(locations.numbers)
    for owner, places, numbers in group_by_segment(locations):
        for span in snapshot.segments[owner].enrichment.vector_spans:
            inside = np.flatnonzero((numbers >= span.start) & (numbers < span.stop))
            if span.recipe in recipes and len(inside):
                stored = span.layer.stored_vectors(numbers[inside] - span.first)
                for place, vector in zip(places[inside].tolist(), stored, strict=True):
                    vectors[place] = vector
    return vectors


def read_origins(snapshot: Snapshot, encoder: str, locations: Locations) -> list[str | None]:
    """The digest of the table that made each vector for this encoder, "" for the encoder itself."""
    recipes, origins = recipes_of(snapshot, encoder), np.full(len(locations.numbers), None, object)
    for owner, places, numbers in group_by_segment(locations):
        for span in snapshot.segments[owner].enrichment.vector_spans:
            inside = np.flatnonzero((numbers >= span.start) & (numbers < span.stop))
            if span.recipe in recipes and len(inside):
                known = np.isfinite(span.layer.vector_scales[numbers[inside] - span.first])
                made_with = snapshot.manifest.recipes[span.recipe]["made_with"]
                origins[places[inside[known]]] = made_with.get(TABLE, "")
    return origins.tolist()


def multiply(segment: Segment, recipes: Collection[str], query: QuantizedVector, numbers: Numbers) -> Array:
    """The products of the query with the vectors of these sentences of a segment, NaN without a vector."""
    products = np.full(len(numbers), np.nan)
    spans = [span for span in segment.enrichment.vector_spans if span.recipe in recipes]
    owners = np.searchsorted([span.start for span in spans], numbers, "right") - 1
    for owner in np.unique(owners[owners >= 0]).tolist():
        span = spans[owner]
        places = np.flatnonzero((owners == owner) & (numbers < span.stop))
        if span.layer.dimensions == len(query.values):
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


def _read_neighbours(
    segment: Segment, recipes: Collection[str], query: QuantizedVector, numbers: Numbers, sentences: Array
) -> Array:
    document = segment.column("document")
    sides = []
    for step in (-1, 1):
        beside = np.clip(numbers + step, 0, len(document) - 1)
        is_neighbour = (beside != numbers) & (document[beside] == document[numbers])
        products = np.full(len(numbers), np.nan)
        products[is_neighbour] = multiply(segment, recipes, query, beside[is_neighbour])
        sides.append(products)
    return average_neighbours(sentences, *sides)


def _read_documents(
    segment: Segment, recipes: Collection[str], query: QuantizedVector, numbers: Numbers, sentences: Array
) -> Array:
    documents, places = np.unique(segment.column("document")[numbers], return_inverse=True)
    first = segment.column("first").astype(np.int64)
    sizes = first[documents + 1] - first[documents]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    inside = np.arange(ends[-1]) + np.repeat(first[documents] - ends[:-1], sizes)
    means = average_documents(multiply(segment, recipes, query, inside), ends)[places]
    return np.where(np.isfinite(sentences), means, np.nan)


def find_nearest(
    cache: SearchCache,
    encoder: str,
    query: QuantizedVector,
    k: int,
    allowed: Iterable[tuple[Segment, Mask | None]],
) -> tuple[Numbers, Array]:
    """Find the k sentences with the greatest products. Returns ordinals and products, best first.

    `allowed` yields the mask of allowed sentences for each segment, None for all. With bits, a sentence among
    the nearest is missed with a probability of about one in 300,000.
    """
    recipes, bases = recipes_of(cache.snapshot, encoder), cache.snapshot.statistics.sentence_bases
    spans = [
        (base, span, mask)
        for base, (segment, mask) in zip(bases, allowed, strict=False)
        for span in segment.enrichment.vector_spans
        if span.recipe in recipes and span.layer.dimensions == len(query.values)
    ]
    groups = list(_split(spans))
    with start_threads(sum(chunk.stop - chunk.start for group in groups for chunk in group)) as pool:
        run = pool.map if pool else map
        search = VectorSearch(query, k)
        bits = BITS.read({span.layer for _, span, _ in spans}, run) if may_use_bits(cache, encoder) else {}
        if bits:
            selected = run(search.multiply_some, groups, search.bound(groups, bits, run))
        else:
            selected = run(search.multiply_all, groups)
        for ordinals, products in selected:
            search.add(ordinals, products)
    return search.find_best()


def may_use_bits(cache: SearchCache, encoder: str) -> bool:
    """Whether searches of an encoder's vectors may use bits: there are many, and the cache has room."""
    spans = _spans_of(cache.snapshot, encoder)
    size = sum(_bits_size(layer) for layer in {span.layer for span in spans})
    has_many = sum(span.stop - span.start for span in spans) >= LEAST_FOR_BITS
    return LOADER.kernel is not None and has_many and size <= cache.memory.limit


def prepare_bits(cache: SearchCache, encoder: str) -> None:
    """Compute the bits for searches of an encoder's vectors, which work without them meanwhile."""
    if may_use_bits(cache, encoder):
        BITS.read({span.layer for span in _spans_of(cache.snapshot, encoder)})


def _spans_of(snapshot: Snapshot, encoder: str) -> list[LayerSpan]:
    recipes = recipes_of(snapshot, encoder)
    spans = (span for segment in snapshot.segments for span in segment.enrichment.vector_spans)
    return [span for span in spans if span.recipe in recipes]


class Chunk(NamedTuple):
    """The sentences `start` to `stop` of a segment, with the mask of the allowed ones; None for all."""

    base: int
    span: LayerSpan
    mask: Mask | None
    start: int
    stop: int


def _split(spans: Iterable[tuple[int, LayerSpan, Mask | None]]) -> Iterator[list[Chunk]]:
    """Groups of chunks, which a thread takes at once: many layers are small."""
    most, covered = _MOST_CHUNK if LOADER.kernel else _CHUNK_WITHOUT_KERNEL, 0
    group, left = list[Chunk](), LEAST_CHUNK
    for base, span, mask in spans:
        start = span.start
        while start < span.stop:
            stop = min(start + left, span.stop)
            group.append(Chunk(base, span, mask, start, stop))
            left -= stop - start
            covered += stop - start
            start = stop
            if not left:
                yield group
                group, left = [], min(max(LEAST_CHUNK, covered // 2), most)
    if group:
        yield group


def _rows(chunk: Chunk) -> tuple[object, Mask]:
    """The rows of a chunk in its layer, and their mask, as arguments of the kernel."""
    layer, first = chunk.span.layer, chunk.span.first
    mask = _ALL if chunk.mask is None else chunk.mask[chunk.start : chunk.stop]
    return (layer.vectors, layer.vector_scales, chunk.start - first, chunk.stop - first), mask


_SORTED_AT_ONCE = 1_000
"""Number of sentences up to which the best are sorted after each chunk; more, after as many others."""


class VectorSearch:
    """The best sentences so far. Chunks are added in order, so of equal products the earlier wins."""

    def __init__(self, query: QuantizedVector, k: int) -> None:
        self._ordinals: list[Numbers] = [np.zeros(0, np.int64)]
        self._products: list[npt.NDArray[np.float64]] = [np.zeros(0)]
        self._unsorted = 0
        self._query, self._k = query, k
        self._numbers = query.array.astype(np.int16), query.scale
        self.limit: float = -np.inf
        """Only greater products may be among the best. Threads read it."""

    def bound(
        self, groups: Sequence[Sequence[Chunk]], bits: Mapping[Layer, VectorBits], run: _Run
    ) -> list[list[Bounded]]:
        """Find the rows of each chunk that may be among the best, and a limit from the products of some.

        A group is compared with the limit from the groups before, so that few bounds are written.
        """
        means = {id(of_layer.mean): of_layer.mean for of_layer in bits.values()}
        of_means = {number: SplitQuery(self._query, mean) for number, mean in means.items()}
        estimates = {
            layer: of_means[id(of_layer.mean)].estimate(of_layer) for layer, of_layer in bits.items()
        }
        count = sum(chunk.stop - chunk.start for group in groups for chunk in group)
        of_seed = min(max(count // (_SEEDS * self._k), 1), MOST_OF_SEED)
        bounded, best = [], np.zeros(0)
        bound_chunk = partial(self._bound_chunk, estimates, of_seed)
        for of_group in run(lambda group: list(map(bound_chunk, group)), groups):
            bounded.append([of_chunk for of_chunk, _ in of_group])
            best = np.concatenate([best, *(seeds for _, seeds in of_group)])
            if len(best) >= self._k:
                best = np.partition(best, -self._k)[-self._k :]
                self.limit = np.nextafter(best[0], -np.inf)
        return bounded

    def _bound_chunk(
        self, estimates: Mapping[Layer, tuple[object, ...]], of_seed: int, chunk: Chunk
    ) -> tuple[Bounded, Array]:
        size, estimate = chunk.stop - chunk.start, estimates[chunk.span.layer]
        numbers, bounds = np.empty(size, np.int64), np.empty(size, np.float32)
        lanes = LOADER.kernel.LANES
        seeds = np.empty(-(-size // (of_seed * lanes)) * lanes)
        size = LOADER.kernel.bound_vectors(
            numbers, bounds, seeds, *_rows(chunk), self._numbers, estimate, self.limit
        )
        return (numbers[:size].copy(), bounds[:size].copy()), seeds

    def multiply_some(self, group: Sequence[Chunk], bounded: Sequence[Bounded]) -> tuple[Numbers, Array]:
        """Those of the bounded sentences of a group whose products exceed the limit, and these products."""
        return _join(map(self._multiply_bounded, group, bounded))

    def multiply_all(self, group: Sequence[Chunk]) -> tuple[Numbers, Array]:
        """The sentences of a group whose products exceed the limit, and these products."""
        return _join(
            (chunk.base + numbers, products)
            for chunk in group
            for numbers, products in [self._multiply(chunk)]
        )

    def _multiply_bounded(self, chunk: Chunk, bounded: Bounded) -> tuple[Numbers, Array]:
        (numbers, bounds), layer = bounded, chunk.span.layer
        products = np.empty(len(numbers))
        size = LOADER.kernel.multiply_some(
            numbers, products, bounds, layer.vectors, layer.vector_scales, self._numbers, self.limit
        )
        return chunk.base + chunk.span.first + numbers[:size], products[:size]

    def _multiply(self, chunk: Chunk) -> tuple[Numbers, Array]:
        size = chunk.stop - chunk.start
        if LOADER.kernel is not None:
            rows, products = np.empty(size, np.int64), np.empty(size)
            size = LOADER.kernel.multiply_all(rows, products, *_rows(chunk), self._numbers, self.limit)
            return rows[:size] + chunk.span.first, products[:size]
        numbers = np.arange(chunk.start, chunk.stop)
        numbers = numbers if chunk.mask is None else numbers[chunk.mask[numbers]]
        rows = numbers - chunk.span.first
        whole = multiply_rows(chunk.span.layer.vectors, rows, self._query.array)
        return numbers, whole * (chunk.span.layer.vector_scales[rows] * self._query.scale)

    def add(self, ordinals: Numbers, products: Array) -> None:
        """Add sentences that come after the others. Those without a vector have the product NaN."""
        may_be_best = products > self.limit
        self._ordinals.append(ordinals[may_be_best])
        self._products.append(products[may_be_best])
        self._unsorted += len(self._products[-1])
        if self._unsorted >= self._k or self._k <= _SORTED_AT_ONCE:
            self.find_best()

    def find_best(self) -> tuple[Numbers, npt.NDArray[np.float64]]:
        """The best sentences and their products, best first. If k are there, later ones must exceed them."""
        ordinals, products = np.concatenate(self._ordinals), np.concatenate(self._products)
        best = np.lexsort((ordinals, -products))[: self._k]
        self._ordinals, self._products, self._unsorted = [ordinals[best]], [products[best]], 0
        if len(best) == self._k:
            self.limit = self._products[0][-1]
        return self._ordinals[0], self._products[0]


def _join(parts: Iterable[tuple[Numbers, Array]]) -> tuple[Numbers, Array]:
    numbers, products = zip(*parts, strict=True)
    return np.concatenate(numbers), np.concatenate(products)


class VectorBits(NamedTuple):
    """The bits of a layer's vectors, of shape (blocks, words, 64), with the other inputs of an estimate."""

    words: npt.NDArray[np.uint64]
    factors: npt.NDArray[np.float32]
    """Of shape (blocks, 3, 64)."""
    mean: npt.NDArray[np.float32]
    """What was subtracted from the vectors: mostly that of the largest layer, so that layers share it."""
    spread: float
    """The factor of the standard errors. It is above 1 if some dimensions outweigh the others."""
    longest: float
    """An upper bound of the vectors' lengths."""


class SplitQuery:
    """A query's vector as a multiple of a mean and a rest, whose numbers are quantized to three bits."""

    def __init__(self, query: QuantizedVector, mean: npt.NDArray[np.float32]) -> None:
        numbers, length = query.array * query.scale, float(mean @ mean)
        self._of_mean = float(numbers @ mean) / length if length > 0 else 0.0
        rest = numbers - self._of_mean * mean
        deviation = float(np.sqrt(np.mean(rest * rest))) or 1.0
        levels = np.clip(np.rint((rest / (deviation * _WIDTH) + 1) * 3.5), 0, 7).astype(np.uint8)
        odd = 2.0 * levels - 7
        planes = np.zeros((3, -(-len(levels) // 64) * 64), np.uint8)
        planes[:, : len(levels)] = levels >> np.arange(3, dtype=np.uint8)[:, None] & 1
        words = np.packbits(planes, axis=1, bitorder="little").view(np.uint64)
        self._words = np.ascontiguousarray(words.T)
        self._step = float(odd @ rest / (odd @ odd))
        lost = np.linalg.norm(rest - self._step * odd) / math.sqrt(layout.LOST)
        self._error = _ERRORS * float(max(np.linalg.norm(rest), lost))
        # Rounding of 32-bit sums, which the standard errors do not cover if all vectors are nearly equal.
        self._rounding = 2.0**-23 * (len(numbers) + 8) * float(np.linalg.norm(numbers))

    def estimate(self, bits: VectorBits) -> tuple[object, ...]:
        """The bits of a layer with this mean and the query, as an argument of the kernel."""
        error, rounding = self._error * bits.spread, self._rounding * bits.longest
        return bits.words, bits.factors, self._words, self._of_mean, self._step, error, rounding


class BitsCache:
    """The bits of layers, computed when a search first needs them, and kept while the layer is open.

    Threads share it. While bits are being computed, other searches work without them. A query is split once
    for all layers with the same mean.
    """

    def __init__(self) -> None:
        self.kept: WeakKeyDictionary[Layer, VectorBits] = WeakKeyDictionary()
        """The bits that have been computed, by layer."""
        self.renew()

    def renew(self) -> None:
        """Reset the cache after a fork, which does not copy a thread that computes bits."""
        self.computing: Turn = Turn()
        """The turn of the thread that computes bits."""

    def read(self, layers: Collection[Layer], run: _Run = map) -> dict[Layer, VectorBits]:
        """The bits of these layers, empty while another thread computes them. `run` may be a pool's `map`."""
        if any(layer not in self.kept for layer in layers):
            with self.computing.take() as is_first:
                if not is_first:
                    return {}
                largest = max(layers, key=lambda layer: len(layer.vector_scales))
                mean = self.kept[largest].mean if largest in self.kept else _measure_mean(largest)
                for layer in layers:
                    if layer not in self.kept:
                        self.kept[layer] = compute_bits(layer, mean, run)
        return {layer: self.kept[layer] for layer in layers}


BITS = BitsCache()
after_fork(BITS.renew)


def compute_bits(layer: Layer, mean: npt.NDArray[np.float32], run: _Run) -> VectorBits:
    vectors, scales = layer.vectors, layer.vector_scales
    lanes = LOADER.kernel.LANES
    blocks = -(-len(scales) // lanes)
    words = np.zeros((blocks, _words(layer), lanes), np.uint64)
    factors = np.full((blocks, 3, lanes), np.nan, np.float32)
    sample, numbers = _draw_sample(layer)
    at_once = _MOST_CHUNK // lanes

    def compute(start: int) -> None:
        stop = start + at_once
        rows = slice(start * lanes, stop * lanes)
        LOADER.kernel.compute_bits(words[start:stop], factors[start:stop], vectors[rows], scales[rows], mean)

    list(run(compute, range(0, blocks, at_once)))
    of_sample = factors[sample // lanes, :, sample % lanes]
    longest = float(np.nanmax(scales, initial=0.0)) * 127 * math.sqrt(layer.dimensions)
    return VectorBits(words, factors, mean, _measure_spread(numbers - mean, of_sample), longest)


def _draw_sample(layer: Layer) -> tuple[Numbers, npt.NDArray[np.float32]]:
    """The rows of some vectors of a layer, and these vectors."""
    known = np.flatnonzero(np.isfinite(layer.vector_scales))
    rows = known[:: max(len(known) // _SAMPLE, 1)]
    return rows, np.asarray(layer.vectors[rows] * layer.vector_scales[rows, None], np.float32)


def _measure_mean(layer: Layer) -> npt.NDArray[np.float32]:
    _, numbers = _draw_sample(layer)
    return np.asarray(numbers.sum(axis=0) / np.float32(max(len(numbers), 1)), np.float32)


def _measure_spread(distances: npt.NDArray[np.float32], factors: npt.NDArray[np.float32]) -> float:
    """The ratio of measured errors to standard errors, with some of these vectors as queries."""
    errors = distances - np.where(distances > 0, 1, -1) * factors[:, 1:2]
    queries = distances[:: max(len(distances) // _QUERIES, 1)]
    expected = np.linalg.norm(queries, axis=1)[:, None] * factors[:, 2]
    ratios = (queries @ errors.T)[expected > 0] / expected[expected > 0]
    return max(float(np.sqrt(np.mean(ratios**2))), 1.0) if len(ratios) else 1.0


def _words(layer: Layer) -> int:
    """The number of 64-bit words with the bits of a vector."""
    return -(-layer.dimensions // 64)


def _bits_size(layer: Layer) -> int:
    """The size in bytes of a layer's bits and factors."""
    return len(layer.vector_scales) * (8 * _words(layer) + 12)


def start_threads(vectors: int) -> AbstractContextManager[futures.ThreadPoolExecutor | None]:
    """A thread pool for this many vectors; None if threads would save no time.

    Threads need the kernel, which releases the interpreter's lock. They end with the search, since a fork
    would lose threads waiting for the next one.
    """
    cores = min(os.cpu_count() or 1, _MOST_THREADS)
    if LOADER.kernel is None or cores == 1 or vectors < LEAST_FOR_THREADS:
        return nullcontext()

    return futures.ThreadPoolExecutor(cores, "esr-nearest")
