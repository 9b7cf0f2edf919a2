"""The compiled kernel is kept on disk, until any of its files changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from esr.encoders import quantize
from esr.encoders.encoder import normalize
from esr.enrichment.recipe import Recipe
from esr.folder import kernel as folder_kernel
from esr.folder.format.files import Numbers
from esr.folder.format.layers import Layer
from esr.folder.index import EmbeddedIndex
from esr.folder.search import similarity
from esr.folder.search.kernel_loader import LOADER
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import NearestIsExact, Summary
from esr.plans.evaluate import Array
from esr.text.sentence_enrichment import QuantizedVector, SentenceEnrichment
from tests.support.folder_index import corpus, document
from tests.support.processes import wait_until
from tests.support.runs import need

need("numba")

CALLED = """
from numba_support import {decorator}

@{decorator}
def called(x):
    return x + {number}
"""
KEPT = """
from numba import types
from called import called
from numba_support import eager_jit

@eager_jit(types.int64)
def kept(x):
    return called(x)
"""
RUN = """
import json
from kept import kept
print(json.dumps([kept(1), sum(kept.stats.cache_hits.values())]))
"""


def run(folder: Path) -> list[int]:
    """What the kept function gives, and how often it came from disk: in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", RUN]
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    values: list[int] = json.loads(process.stdout)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("decorator", [pytest.param("inlined", marks=pytest.mark.endurance), "compiled"])
def test_a_change_in_the_file_of_a_called_function_compiles_again(tmp_path: Path, decorator: str) -> None:
    support = Path(folder_kernel.__path__[0], "numba_support.py").read_text("utf-8")
    (tmp_path / "numba_support.py").write_text(support)
    (tmp_path / "kept.py").write_text(KEPT)
    (tmp_path / "called.py").write_text(CALLED.format(decorator=decorator, number=1))
    assert [run(tmp_path), run(tmp_path)] == [[2, 0], [2, 1]]
    (tmp_path / "called.py").write_text(CALLED.format(decorator=decorator, number=7))
    assert run(tmp_path) == [8, 0]
    assert len(list((tmp_path / "cache").rglob("*.nbi"))) == 1, "what is outdated is deleted"


def test_all_files_of_the_kernel_are_in_its_name() -> None:
    from esr.folder.kernel.numba_support import SOURCES, digest_sources
    from esr.folder.kernel.search import search

    assert digest_sources(Path(folder_kernel.__path__[0])) == SOURCES
    assert search.py_func.__qualname__ == f"search_{SOURCES}"


def test_it_lets_other_threads_run() -> None:
    from esr.folder.kernel.search import search

    assert search.targetoptions["nogil"]


# Numbers in columns are found as numpy finds them.


numba = need("numba")


@pytest.mark.slow
def test_the_first_number_that_is_not_below_another() -> None:
    from esr.folder.kernel.layout import COLUMN
    from esr.folder.kernel.numba_support import lower_bound

    @numba.njit
    def find(columns: np.ndarray, low: int, high: int, wanted: int) -> int:
        return lower_bound(columns[0], low, high, wanted)

    rng = np.random.default_rng(1)
    for kind in (np.uint8, np.uint16, np.int32, np.int64):
        for size in range(20):
            column = np.sort(rng.integers(0, 40, size)).astype(kind)
            columns = np.array([(column.ctypes.data, column.itemsize)], COLUMN)
            for low, high in ((0, size), (size // 3, size), (0, size // 2), (size, size)):
                for wanted in range(-1, 42):
                    expected = low + np.searchsorted(column[low:high], wanted)
                    assert find(columns, low, high, wanted) == expected, (kind, size, low, high, wanted)


# Products of vectors, by the kernel and without it.


LARGEST = 127


@pytest.fixture(params=["kernel", "numpy"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    LOADER.load()
    assert LOADER.kernel is not None, LOADER.reason
    if request.param == "numpy":
        monkeypatch.setattr(LOADER, "kernel", None)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("dimensions", [1, 24, 384, 1041, 4095])
def test_products_are_exact(dimensions: int) -> None:
    draw = np.random.default_rng(dimensions)
    vectors = draw.integers(-LARGEST, LARGEST + 1, (50, dimensions)).astype(np.int8)
    vectors[7:9] = [[LARGEST], [-LARGEST]]  # the greatest and the least sum that there are
    vectors.flags.writeable = False  # as those of a file are
    rows = draw.permutation(50)[:40]
    rows[:2] = 7, 8
    for query in (vectors[3], vectors[7], np.zeros(dimensions, np.int8)):
        expected = vectors[rows].astype(np.int64) @ query.astype(np.int64)
        assert similarity.multiply_rows(vectors, rows, query).tolist() == expected.tolist()


@pytest.mark.usefixtures("kernel")
def test_there_may_be_no_rows() -> None:
    nothing = similarity.multiply_rows(np.zeros((3, 4), np.int8), np.zeros(0, np.int64), np.ones(4, np.int8))
    assert nothing.shape == (0,)


# The nearest vectors, with bits and without them.


DIMENSIONS, ENCODER, OTHER = 200, "tiny 1", "tiny 2"
Found = tuple[list[int], list[float]]


class Collection:
    """An index of three loads. Vectors are drawn around centres; some are missing, some are equal."""

    def __init__(self, index: EmbeddedIndex) -> None:
        self.draw = np.random.default_rng(44)
        self.centres = self.draw.normal(size=(12, DIMENSIONS)) + 0.5
        self.index = index
        self.vectors: list[QuantizedVector | None] = [None] * 1500

    def enrich(self, numbers: range, encoder: str = ENCODER, missing: float = 0.1) -> None:
        """Store vectors with the documents of these numbers, each of three sentences."""
        batch = []
        for n in numbers:
            vectors: list[QuantizedVector | None] = [self.draw_vector() for _ in range(3)]
            if n % 5 == 0:
                vectors[1:] = vectors[:1] * 2
            if self.draw.random() < missing:
                vectors[self.draw.integers(3)] = None
            batch.append((f"d{n}", [SentenceEnrichment({}, None, None, vector) for vector in vectors]))
            self.vectors[3 * n : 3 * n + 3] = vectors if encoder == ENCODER else [None] * 3
        with self.index.enrichment() as enrichment:
            enrichment.store(Recipe(("vectors",), {"encoder": encoder}), batch)

    def draw_vector(self) -> QuantizedVector:
        centre = self.centres[self.draw.integers(len(self.centres))]
        return quantize(normalize(np.float32(centre + self.draw.normal(size=DIMENSIONS) * 1.5)))

    def find(self, query: QuantizedVector, k: int, filters: Filters = NO_FILTERS) -> Found:
        hits = self.index.nearest(ENCODER, query, k, None, filters)
        return [hit.ordinal for hit in hits], [hit.score for hit in hits]

    def sort(self, query: QuantizedVector, k: int, start: int = 0) -> Found:
        """The nearest from an ordinal on, by a plain sort."""
        values = query.array.astype(int)
        products = {
            n: int(values @ vector.array.astype(int)) * (vector.scale * query.scale)
            for n, vector in enumerate(self.vectors)
            if vector is not None and n >= start
        }
        best = sorted(products, key=lambda n: (-products[n], n))[:k]
        return best, [products[n] for n in best]


@pytest.fixture
def collection(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collection]:
    LOADER.load()
    monkeypatch.setattr(similarity, "LEAST_FOR_BITS", 1)
    monkeypatch.setattr(similarity, "LEAST_CHUNK", 100)
    monkeypatch.setattr(similarity, "MOST_OF_SEED", 16)
    loads = [
        [document(f"d{n}", "a storm", "the town", "a bank", source=f"source {n // 450}") for n in numbers]
        for numbers in (range(250), range(250, 450), range(450, 500))
    ]
    with corpus(*loads, full=1500) as index:
        collection = Collection(index)
        assert len(index.cache.snapshot.segments) == 3
        collection.enrich(range(220))
        collection.enrich(range(220, 500))
        yield collection


@pytest.fixture
def multiplied(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The share of the rows that are multiplied, by group of chunks."""
    shares: list[float] = []
    multiply_some = similarity.VectorSearch.multiply_some

    def note(
        search: similarity.VectorSearch,
        group: Sequence[similarity.Chunk],
        bounded: Sequence[similarity.Bounded],
    ) -> tuple[Numbers, Array]:
        multiplied = sum(int(np.sum(bounds >= search.limit)) for _, bounds in bounded)
        shares.append(multiplied / sum(chunk.stop - chunk.start for chunk in group))
        return multiply_some(search, group, bounded)

    monkeypatch.setattr(similarity.VectorSearch, "multiply_some", note)
    return shares


@pytest.mark.parametrize("threads", [1, 3])
def test_bits_find_the_nearest_of_a_plain_sort(
    collection: Collection, multiplied: list[float], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "LEAST_FOR_THREADS", 1)
    monkeypatch.setattr("os.cpu_count", lambda: threads)
    for _ in range(20):
        query = collection.draw_vector()
        for k in (1, 30):
            assert collection.find(query, k) == collection.sort(query, k)
    assert np.mean(multiplied) < 0.3
    assert collection.find(query, 5000) == collection.sort(query, 5000), "fewer than k"
    assert not collection.index.status(NearestIsExact())
    assert collection.index.status(Summary())["vector_index"] == "bits"


def test_bits_find_the_nearest_that_filters_allow(collection: Collection, multiplied: list[float]) -> None:
    later = Filters(sources=("source 1",))
    for _ in range(10):
        query = collection.draw_vector()
        assert collection.find(query, 10, later) == collection.sort(query, 10, 1350)
        assert collection.find(query, 140, later) == collection.sort(query, 140, 1350)
    assert np.mean(multiplied) < 0.3


@pytest.mark.parametrize("dimensions", [1, 63, 200, 384])
@pytest.mark.parametrize("has_mask", [False, True])
def test_no_product_exceeds_its_bound_and_each_seed_is_the_best_of_its_group(
    dimensions: int, has_mask: bool
) -> None:
    LOADER.load()
    draw = np.random.default_rng(dimensions)
    size, start, stop = 1000, 70, 987  # no multiples of a block
    vectors = draw.integers(-LARGEST, LARGEST + 1, (size, dimensions)).astype(np.int8)
    scales = draw.uniform(0.001, 0.002, size)
    scales[::9] = np.nan
    query = QuantizedVector(vectors[500].tobytes(), 0.001)
    layer = SimpleNamespace(vectors=vectors, vector_scales=scales, dimensions=dimensions)
    mean = draw.uniform(-0.01, 0.01, dimensions).astype(np.float32)
    bits = similarity.compute_bits(cast(Layer, layer), mean, map)
    estimate = similarity.SplitQuery(query, mean).estimate(bits)
    allowed = draw.random(stop - start) < 0.5 if has_mask else np.zeros(0, bool)
    products = vectors.astype(int) @ query.array.astype(int) * (scales * query.scale)
    is_wanted = np.isfinite(scales) & (np.arange(size) >= start) & (np.arange(size) < stop)
    if has_mask:
        is_wanted[start:stop] &= allowed

    def bound(limit: float, groups: int) -> tuple[Numbers, Array, Array]:
        numbers, bounds = np.empty(stop - start, np.int64), np.empty(stop - start, np.float32)
        seeds = np.empty(64 * groups)
        rows = (vectors, scales, start, stop), allowed, (query.array.astype(np.int16), query.scale)
        found = LOADER.kernel.bound_vectors(numbers, bounds, seeds, *rows, estimate, limit)
        return numbers[:found], bounds[:found], seeds

    numbers, bounds, _ = bound(-np.inf, 1)
    assert numbers.tolist() == np.flatnonzero(is_wanted).tolist()
    assert (bounds >= products[numbers]).all()
    limit = float(np.median(bounds))
    reaching, higher, seeds = bound(limit, 5)
    assert reaching.tolist() == numbers[bounds >= limit].tolist()
    assert higher.tolist() == bounds[bounds >= limit].tolist()
    blocks = np.full((5 * 3, 64), -np.inf)  # from block 1 to block 15
    blocks.flat[numbers - 64] = bounds
    best = blocks.reshape(5, 3, 64).argmax(axis=1) + 3 * np.arange(5)[:, None] + 1
    of_best = products[np.minimum(64 * best + np.arange(64), size - 1)]
    expected = np.where(np.isfinite(blocks.reshape(5, 3, 64).max(axis=1)), of_best, -np.inf)
    assert seeds.tolist() == expected.ravel().tolist()


def test_bits_are_computed_once_for_each_layer(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []
    compute = similarity.compute_bits

    def note(layer: Layer, *arguments: Any) -> similarity.VectorBits:
        computed.append(len(layer.vectors))
        return compute(layer, *arguments)

    monkeypatch.setattr(similarity, "compute_bits", note)
    query = collection.draw_vector()
    assert collection.find(query, 30) == collection.sort(query, 30) == collection.find(query, 30)
    assert sum(computed) == 1500
    computed.clear()
    collection.enrich(range(450, 500), OTHER)
    assert collection.find(query, 30) == collection.sort(query, 30)
    assert computed == [], "what another encoder made needs none"
    collection.enrich(range(475, 500), missing=1)
    assert collection.find(query, 30) == collection.sort(query, 30)
    assert 0 < sum(computed) < 500


def test_layers_share_a_mean_so_that_a_query_is_split_once(collection: Collection) -> None:
    collection.find(collection.draw_vector(), 30)
    layers = [*collection.index.cache.snapshot.layers.values()]
    assert len(layers) > 2 and len({id(similarity.BITS.kept[layer].mean) for layer in layers}) == 1


def test_a_server_computes_bits_before_the_first_search(collection: Collection) -> None:
    layers = set(collection.index.cache.snapshot.layers.values())
    assert not layers & set(similarity.BITS.kept)
    collection.index.warm_up()
    wait_until(lambda: layers <= set(similarity.BITS.kept))


def test_equal_vectors_and_zeros_are_found_in_their_order(collection: Collection) -> None:
    one, zeros = collection.draw_vector(), QuantizedVector(bytes(DIMENSIONS), 0.0)
    for stored in (one, zeros):
        collection.draw_vector = lambda stored=stored: stored  # type: ignore[method-assign]
        collection.enrich(range(500), missing=0.5)
        for query in (one, zeros):
            assert collection.find(query, 50) == collection.sort(query, 50)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_search_does_not_wait_for_bits_that_another_thread_computes(collection: Collection) -> None:
    query = collection.draw_vector()
    layers = set(collection.index.cache.snapshot.layers.values())
    with similarity.BITS.computing.take(), warnings.catch_warnings(action="ignore"):
        assert collection.find(query, 30) == collection.sort(query, 30)
        assert similarity.BITS.read(layers) == {}
        child = os.fork()  # in which no thread computes them
        if child == 0:
            os._exit(
                not similarity.BITS.read(layers) or collection.find(query, 9) != collection.sort(query, 9)
            )
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_few_vectors_and_little_memory_go_without_bits(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, index = collection.index.cache, collection.index
    assert not index.status(NearestIsExact())
    with monkeypatch.context() as patched:
        patched.setattr(cache.memory, "limit", 10_000)
        assert index.status(NearestIsExact())
    with monkeypatch.context() as patched:
        patched.setattr(similarity, "LEAST_FOR_BITS", 1501)
        assert index.status(NearestIsExact()) and "vector_index" not in index.status(Summary())
    monkeypatch.setattr(LOADER, "kernel", None)
    assert index.status(NearestIsExact())
    query = collection.draw_vector()
    assert collection.find(query, 30) == collection.sort(query, 30)
