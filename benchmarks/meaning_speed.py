"""The speed of encoding sentences, and of searches by words and meaning, compared with its bounds.

    python -m benchmarks.meaning_speed rate docs.jsonl.gz [--number 2000]
    python -m benchmarks.meaning_speed fill INDEX [--encoded 3000]
    python -m benchmarks.meaning_speed load docs.jsonl.gz URL --work FOLDER [--times 10]
    python -m benchmarks.meaning_speed search INDEX queries.tsv [--number 60] [--plain NAME]
    python -m benchmarks.meaning_speed nearest INDEX queries.tsv [--number 60] [--vectors 5000000]

`rate` encodes sentences as `esr enrich --title-weight 1` does, and, in turns, by the bare runtime from
prepared tokens; it prints processor times. `fill` gives every sentence of an index a vector. Only some are
encoded: each other vector is a mixture of two of these, .8 of one and .6 of the other, drawn with a seed, and
serves only for timing. `load` loads the documents into Elasticsearch with such vectors, repeated `--times`
times by benchmarks.speed.corpus; for millions, this is faster than `fill`. `search` prints medians and 95th
percentiles of searches in turns, with the query's vector in the cache, and of separate scans of all vectors.
For Elasticsearch, it also prints those of `match`, in the same index or in an index of only the texts on the
same node, and how many of the nearest vectors an index of the vectors misses.

`nearest` compares the 100 nearest vectors by bits with those by all products, for the vectors of a folder.
With `--vectors`, it does so for that many vectors in memory: those of the folder, repeated with new noise of
half the vectors' length.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import numpy as np
import numpy.typing as npt

from benchmarks.speed.workspace import ANALYZER, Setup, collection_file
from esr import loaders
from esr.cli.main import main as esr_command
from esr.elastic import meta
from esr.elastic.index import ElasticsearchIndex
from esr.elastic.meta import Load
from esr.elastic.vectors import EncoderReader, encode_vector, map_vectors
from esr.elastic.write.actions import DocumentActions
from esr.elastic.write.writer import ElasticsearchWriter
from esr.encoders import DEFAULT, load_encoder, quantize
from esr.encoders.encoder import Encoder, Floats, normalize
from esr.enrichment.enricher import Enricher, SentenceVectors, VectorSettings
from esr.folder.format.layers import Layer, LayerSpan
from esr.folder.index import EmbeddedIndex
from esr.folder.search import similarity
from esr.folder.search.kernel_loader import LOADER
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.hits import Hit
from esr.index.questions import NearestIsExact
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.query_encoder import encode_query
from esr.text.document import Document
from esr.text.sentence_enrichment import VECTORS, SentenceEnrichment
from esr.topics.topic_files import read_topics

BATCH = 50_000
ROUNDS = 4
STEP = 37
"""The step between encoded documents of a file, so that all sources are among them."""
HYBRID = Ranking.from_file("hybrid")
NEIGHBOURS = 100
NEAREST = f"nearest {NEIGHBOURS} of all vectors"
EXACTLY = f"{NEAREST}, by script"
NOISE = 0.5


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = options.add_subparsers(dest="command", required=True)
    rate, fill, load, search, nearest = (
        commands.add_parser(name) for name in ("rate", "fill", "load", "search", "nearest")
    )
    rate.add_argument("documents")
    rate.add_argument("--number", type=int, default=2000)
    fill.add_argument("index")
    fill.add_argument("--encoded", type=int, default=3000)
    load.add_argument("documents", type=Path)
    load.add_argument("index")
    load.add_argument("--times", type=int, default=10)
    load.add_argument("--encoded", type=int, default=3000)
    load.add_argument("--work", type=Path, required=True, help="a folder for the documents, many times")
    search.add_argument("index")
    search.add_argument("queries", type=Path)
    search.add_argument("--number", type=int, default=60)
    search.add_argument("--plain", help="an index whose field `text` has the sentences")
    nearest.add_argument("index")
    nearest.add_argument("queries", type=Path)
    nearest.add_argument("--number", type=int, default=60)
    nearest.add_argument("--vectors", type=int)
    arguments = options.parse_args()
    if arguments.command == "rate":
        measure_rate(arguments.documents, arguments.number)
    elif arguments.command == "fill":
        fill_index(arguments.index, arguments.encoded)
    elif arguments.command == "load":
        of_load = (arguments.times, arguments.encoded, arguments.work)
        load_with_vectors(arguments.documents, arguments.index, *of_load)
    elif arguments.command == "nearest":
        measure_nearest(arguments.index, arguments.queries, arguments.number, arguments.vectors)
    else:
        measure_searches(arguments.index, arguments.queries, arguments.number, arguments.plain)


def measure_rate(path: str, number: int) -> None:
    encoder, vectors = load_encoder(DEFAULT), SentenceVectors(VectorSettings(title_weight=1.0))
    assert isinstance(encoder, Encoder)
    documents = (located.document for located in islice(loaders.read_documents([path]), 0, None, STEP))
    own = bare = 0.0
    sentences = 0
    while sentences < number:
        document = next(documents)
        own += _seconds(partial(vectors.encode, document))
        bare += _seconds(_bare_runs(encoder, document))
        sentences += len(document.sentences)
    print(f"{sentences} sentences: {sentences / own:.1f} a second, the runtime alone {sentences / bare:.1f}")
    print(f"ratio {bare / own:.3f}")


def _bare_runs(encoder: Encoder, document: Document) -> Callable[[], None]:
    """A function that runs the model on the tokenised sentences of a document."""
    texts = (f"{document.title}. {s.text}" if document.title else s.text for s in document.sentences)
    tokenizer = encoder._tokenizer
    assert tokenizer is not None  # the default encoder has one
    tokens = [np.array([tokenizer.encode(text).ids], np.int64) for text in texts]
    values = [{"input_ids": t, "attention_mask": np.ones_like(t), "token_type_ids": t * 0} for t in tokens]
    feeds = [{name: value[name] for name in encoder._inputs} for value in values]

    def run() -> None:
        for feed in feeds:
            encoder._session.run(None, feed)

    return run


def _seconds(step: Callable[[], object]) -> float:
    started = time.process_time()
    step()
    return time.process_time() - started


def fill_index(where: str, encoded: int) -> None:
    recipe, encoder = Enricher(["vectors"]).recipe, load_encoder(DEFAULT)
    with open_searcher(where) as searcher, searcher.index.enrichment() as enrichment:
        texts = (s.text for document in enrichment.pending(recipe) for s in document.sentences)
        pool = np.array([encoder.encode_passage(text) for text in islice(texts, encoded)], np.float32)
        draw = np.random.default_rng(20)
        batch: list[tuple[str, list[SentenceEnrichment]]] = []
        size = 0
        for document in enrichment.pending(recipe):
            batch.append((document.id, list(_mix(pool, len(document.sentences), draw))))
            size += len(document.sentences)
            if size >= BATCH:
                enrichment.store(recipe, batch)
                batch, size = [], 0
        enrichment.store(recipe, batch)
        enrichment.finish(recipe)


def load_with_vectors(documents: Path, where: str, times: int, encoded: int, work: Path) -> None:
    """Load documents into Elasticsearch, each sentence with a mixed vector."""
    recipe, encoder = Enricher(["vectors"]).recipe, load_encoder(DEFAULT)
    source = collection_file(Setup(documents, documents, work), times)
    texts = (s.text for located in loaders.read_documents([str(source)]) for s in located.document.sentences)
    pool = np.array([encoder.encode_passage(text) for text in islice(texts, 0, encoded * STEP, STEP)])
    draw = np.random.default_rng(20)
    marks = {"enriched": list(recipe.fingerprints.values())}
    fill = ElasticsearchWriter.fill

    def add_vectors(_: object, batch: Iterator[DocumentActions]) -> Iterator[DocumentActions]:
        for actions in batch:
            mixed = _mix(pool, len(actions.sentences), draw)
            for action, sentence in zip(actions.sentences, mixed, strict=True):
                assert sentence.vector is not None
                action.update({VECTORS: encode_vector(sentence.vector), **marks})
            actions.entry.update(marks)
            yield actions

    def fill_and_record(writer: ElasticsearchWriter, spool: Any, load: Load, *rest: Any) -> Load:
        map_vectors(writer._cluster, [load.index], pool.shape[1])
        recorded = replace(fill(writer, spool, load, *rest), recipes={recipe.digest: recipe.as_dict()})
        meta.write(writer._cluster, recorded)
        return recorded

    command = ["load", str(source), "--index", where, "--analyzer", ANALYZER, "--if-exists", "replace"]
    with (
        mock.patch.object(ElasticsearchWriter, "_with_enrichment", add_vectors),
        mock.patch.object(ElasticsearchWriter, "fill", fill_and_record),
    ):
        esr_command([*command, "--shards", "1", "--replicas", "0"], standalone_mode=False)


def _mix(pool: Floats, n: int, draw: np.random.Generator) -> Iterator[SentenceEnrichment]:
    one, other = draw.integers(0, len(pool), (2, n))
    for vector in np.asarray(0.8 * pool[one] + 0.6 * pool[other], np.float32):
        yield SentenceEnrichment({}, None, None, quantize(normalize(vector)))


def measure_searches(where: str, path: Path, number: int, plain: str | None) -> None:
    queries = [topic.query("title") for topic in read_topics(path)[:number]]
    with open_searcher(where) as searcher:
        searcher.index.warm_up()
        ways = _ways(searcher, plain)
        # Reading all vectors evicts the processor's caches, so this way is timed separately.
        scans = {name: ways.pop(name) for name in (NEAREST, EXACTLY) if name in ways}
        times = _time_in_turns(ways, queries)
        for name, scan in scans.items():
            times |= _time_in_turns({name: scan}, queries)
        if EXACTLY in scans:
            missed = sum(len(_ordinals(scans[EXACTLY], q) - _ordinals(scans[NEAREST], q)) for q in queries)
            print(f"missed by the index of vectors: {missed} of {NEIGHBOURS * len(queries)}")
    _print_times(times, len(queries))


def _ordinals(find: Callable[[str], Any], query: str) -> set[int]:
    return {hit.ordinal for hit in find(query)}


def _print_times(times: Mapping[str, Floats], queries: int) -> None:
    print(f"{queries} queries, ms: median, 95th percentile, median of processor time")
    for name, of_way in times.items():
        median, cpu = np.median(of_way, axis=0)
        print(f"| {name} | {median:.1f} | {np.percentile(of_way[:, 0], 95):.1f} | {cpu:.1f} |")


def _ways(searcher: Searcher, plain: str | None) -> dict[str, Callable[[str], Any]]:
    index = searcher.index
    ways: dict[str, Callable[[str], Any]] = {
        "hybrid, top 10": lambda query: searcher.search(query, 10, ranking=HYBRID),
        "words, top 10": lambda query: searcher.search(query, 10),
        f"words, top {HYBRID.depth}, ids": lambda query: searcher.search(query, HYBRID.depth, records=False),
        NEAREST: lambda query: _find_nearest(index, query),
    }
    if isinstance(index, ElasticsearchIndex):
        if not index.status(NearestIsExact()):
            ways[EXACTLY] = lambda query: _find_exactly(index, query)
        cluster = index.cluster
        ways["`match`, top 100"] = lambda query: cluster.client.search(
            index=plain or cluster.alias, query={"match": {"text": query}}, size=100, source=False
        )
    return ways


def _time_in_turns(ways: Mapping[str, Callable[[str], Any]], queries: Sequence[str]) -> dict[str, Floats]:
    """By way, an array (queries, 2): milliseconds of the wall clock, and of all threads' processor time.

    Every way answers a query before the next query.
    """
    for query in queries:
        for search in ways.values():
            search(query)
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for query in queries:
        for name, search in ways.items():
            rows[name].append(_time(search, query))
    return {name: np.array(of_way) for name, of_way in rows.items()}


def _find_nearest(index: Index, query: str) -> Sequence[Hit]:
    encoder, vector = encode_query(index, query)
    return index.nearest(encoder, vector, NEIGHBOURS, None, NO_FILTERS)


def _find_exactly(index: Index, query: str) -> Sequence[Hit]:
    with mock.patch.object(EncoderReader, "has_graph", return_value=False):
        return _find_nearest(index, query)


def measure_nearest(where: str, path: Path, number: int, vectors: int | None) -> None:
    queries = [topic.query("title") for topic in read_topics(path)]
    queries = queries[:: max(len(queries) // number, 1)][:number]
    with open_searcher(where) as searcher:
        index = searcher.index
        assert isinstance(index, EmbeddedIndex)
        encoded = {query: encode_query(index, query) for query in queries}
        LOADER.load()
        cache = index.cache if vectors is None else _repeat_vectors(index.cache, vectors)

        def find(query: str) -> list[int]:
            segments = ((segment, None) for segment in cache.snapshot.segments)
            ordinals, _ = similarity.find_nearest(cache, *encoded[query], NEIGHBOURS, segments)
            found: list[int] = ordinals.tolist()
            return found

        def find_exactly(query: str) -> list[int]:
            with mock.patch.object(similarity, "LEAST_FOR_BITS", 2**40):
                return find(query)

        with mock.patch.object(similarity, "LEAST_FOR_BITS", 1):
            started = time.perf_counter()
            find(queries[0])
            print(f"first search, with the bits of all vectors: {time.perf_counter() - started:.2f} s")
            missed = sum(len({*find_exactly(query)} - {*find(query)}) for query in queries)
            times = _time_in_turns({"by bits": find, "all products": find_exactly}, queries)
    spans = [span for segment in cache.snapshot.segments for span in segment.enrichment.vector_spans]
    print(f"{sum(span.stop - span.start for span in spans)} vectors, {os.cpu_count()} processors")
    print(f"missed by bits: {missed} of {NEIGHBOURS * len(queries)}")
    _print_times(times, len(queries))


class _Vectors:
    """The parts of a layer that a search needs."""

    def __init__(self, vectors: npt.NDArray[np.int8], scales: npt.NDArray[np.float64]) -> None:
        self.vectors, self.vector_scales, self.dimensions = vectors, scales, vectors.shape[1]


def _repeat_vectors(cache: Any, number: int) -> Any:
    """The parts of a cache that a search for the nearest needs, with `number` vectors."""
    spans = [span for segment in cache.snapshot.segments for span in segment.enrichment.vector_spans]
    rows = [slice(span.start - span.first, span.stop - span.first) for span in spans]
    vectors = np.concatenate([span.layer.vectors[part] for span, part in zip(spans, rows, strict=True)])
    scales = np.concatenate([span.layer.vector_scales[part] for span, part in zip(spans, rows, strict=True)])
    draw = np.random.default_rng(5)
    many = np.empty((number, vectors.shape[1]), np.int8)
    many_scales = np.resize(scales, number)
    for start in range(0, number, len(vectors)):
        part = vectors[: number - start].astype(np.float32)
        if start:
            part += NOISE * part.std() * draw.standard_normal(part.shape, np.float32)
        many[start : start + len(part)] = np.clip(np.rint(part), -127, 127)
    span = LayerSpan(0, number, 0, cast(Layer, _Vectors(many, many_scales)), spans[0].recipe)
    segment = SimpleNamespace(enrichment=SimpleNamespace(vector_spans=[span]))
    snapshot = SimpleNamespace(
        manifest=cache.snapshot.manifest,
        statistics=SimpleNamespace(sentence_bases=[0, number]),
        segments=[segment],
    )
    return SimpleNamespace(snapshot=snapshot, memory=cache.memory)


def _time(search: Callable[[str], object], query: str) -> tuple[float, float]:
    """Milliseconds of wall-clock and of all threads' processor time: medians without the first round."""
    times = []
    for _ in range(ROUNDS):
        started, used = time.perf_counter(), time.process_time()
        search(query)
        times.append((1000 * (time.perf_counter() - started), 1000 * (time.process_time() - used)))
    elapsed, cpu = np.median(times[1:], axis=0).tolist()
    return elapsed, cpu


if __name__ == "__main__":
    main()
