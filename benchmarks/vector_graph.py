"""The share of the nearest vectors that Elasticsearch's graph finds, by its links, beam and shards.

    python -m benchmarks.vector_graph docs.jsonl.gz queries.tsv URL [--vectors 200000] [--real 40000]
        [--shards 1] [--links 32] [--beam 200] [--number 40]

Indexes vectors without texts: those of real sentences, drawn with a seed, and repetitions of these with noise
of half their length. Merges each shard to one segment, as `--vector-index` does. Prints the seconds that this
takes and, for each number of vectors that a search examines, the mean and the minimum share of the exact 100
that it finds, and the median milliseconds of a search.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from elasticsearch import Elasticsearch

from esr import loaders
from esr.elastic.vectors import FLAT_VECTOR, GRAPH
from esr.elastic.write.verification import LOAD_SETTINGS
from esr.encoders import DEFAULT, load_encoder
from esr.topics.topic_files import read_topics

Vectors = npt.NDArray[np.int8]
INDEX, FIELD = "esr-vector-graph", "vector"
NEAREST, READ = 100, 300
LOOKED_AT = (1_000, 3_000, 10_000)
BATCH = 4_000
NOISE = 0.5


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("documents", type=Path)
    options.add_argument("queries", type=Path)
    options.add_argument("url")
    options.add_argument("--vectors", type=int, default=200_000)
    options.add_argument("--real", type=int, default=40_000, help="sentences to encode")
    options.add_argument("--shards", type=int, default=1)
    options.add_argument("--links", type=int, default=GRAPH["m"])
    options.add_argument("--beam", type=int, default=GRAPH["ef_construction"])
    options.add_argument("--number", type=int, default=40, help="queries")
    arguments = options.parse_args()
    encoder = load_encoder(DEFAULT)
    texts = [topic.query("title") for topic in read_topics(arguments.queries)[: arguments.number]]
    queries = np.array([encoder.encode_query(text).array for text in texts])
    real = np.array(
        [encoder.encode_passage(text) for text in _draw_sentences(arguments.documents, arguments.real)]
    )
    client = Elasticsearch(arguments.url, request_timeout=36_000)
    try:
        _create(client, real.shape[1], arguments.shards)
        nearest = _index(client, _repeat(real, arguments.vectors), queries)
        started = time.perf_counter()
        graph = {**GRAPH, "m": arguments.links, "ef_construction": arguments.beam}
        field = {**FLAT_VECTOR, "dims": real.shape[1], "index_options": graph}
        client.indices.put_mapping(index=INDEX, properties={FIELD: field})
        client.indices.forcemerge(index=INDEX, max_num_segments=1)
        print(
            f"{arguments.vectors} vectors, {graph}: {time.perf_counter() - started:.0f} s to build the graph"
        )
        for looked_at in LOOKED_AT:
            _measure(client, queries, nearest, looked_at)
    finally:
        client.indices.delete(index=INDEX, ignore_unavailable=True)


def _draw_sentences(documents: Path, number: int) -> list[str]:
    located = loaders.read_documents([str(documents)])
    texts = list(dict.fromkeys(s.text for each in located for s in each.document.sentences))
    return random.Random(3).sample(texts, min(number, len(texts)))


def _repeat(real: npt.NDArray[np.float32], number: int) -> Iterator[Vectors]:
    """`number` vectors of 8-bit numbers, in batches: the real ones, then these with noise."""
    draw = np.random.default_rng(5)
    for start in range(0, number, BATCH):
        rows = np.arange(start, min(start + BATCH, number))
        batch = real[rows % len(real)]
        noise = draw.standard_normal(batch.shape, np.float32) * (NOISE / np.sqrt(batch.shape[1]))
        batch = batch + noise * (rows >= len(real))[:, None]
        yield np.rint(batch * (127 / np.abs(batch).max(axis=1, keepdims=True))).astype(np.int8)


def _create(client: Elasticsearch, dimensions: int, shards: int) -> None:
    client.indices.create(
        index=INDEX,
        settings={**LOAD_SETTINGS, "number_of_shards": shards, "number_of_replicas": 0},
        mappings={"dynamic": False, "properties": {FIELD: {**FLAT_VECTOR, "dims": dimensions}}},
    )


def _index(client: Elasticsearch, batches: Iterator[Vectors], queries: Vectors) -> list[set[str]]:
    """Index vectors with their numbers as ids. Returns the ids nearest to each query by exact cosine."""
    numbers, cosines, first = np.zeros((len(queries), 0), int), np.zeros((len(queries), 0)), 0
    for batch in batches:
        lines: list[dict[str, Any]] = []
        for number, vector in enumerate(batch, first):
            lines += [{"index": {"_id": str(number)}}, {FIELD: vector.tobytes().hex()}]
        answer = client.bulk(index=INDEX, operations=lines)
        assert not answer["errors"], answer["items"][0]
        products = queries.astype(float) @ batch.T.astype(float)
        cosines = np.hstack([cosines, products / np.linalg.norm(batch.astype(float), axis=1)])
        numbers = np.hstack([numbers, np.tile(np.arange(first, first + len(batch)), (len(queries), 1))])
        best = np.argsort(-cosines, axis=1)[:, :NEAREST]
        numbers, cosines = np.take_along_axis(numbers, best, 1), np.take_along_axis(cosines, best, 1)
        first += len(batch)
    return [{str(number) for number in of_query} for of_query in numbers.tolist()]


def _measure(client: Elasticsearch, queries: Vectors, nearest: list[set[str]], looked_at: int) -> None:
    found, times = [], []
    for query, exact in zip(queries.tolist(), nearest, strict=True):
        knn = {"field": FIELD, "query_vector": query, "k": READ, "num_candidates": looked_at}
        started = time.perf_counter()
        answer = client.search(
            index=INDEX, query={"knn": knn}, size=READ, source=False, track_total_hits=False
        )
        times.append(1000 * (time.perf_counter() - started))
        found.append(len(exact & {hit["_id"] for hit in answer["hits"]["hits"]}) / NEAREST)
    shares = f"{np.mean(found):.4f}, at least {min(found):.2f}"
    print(f"looking at {looked_at}: found {shares}; {np.median(times):.1f} ms")


if __name__ == "__main__":
    main()
