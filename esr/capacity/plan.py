"""What a collection of some size needs: disk, memory, processors, and the time of a load and of searches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from esr.capacity.fit import Form, Growth, fit
from esr.capacity.measurements import QUANTITIES, Point, read_elasticsearch, read_points
from esr.engines import cache_limit

GENERATIONS = 3
"""On disk while a load runs: the one that is loaded, the one that is served, and the one before it."""
FREE = 0.2
"""The share of a disk that stays free: Elasticsearch needs it for merges and its watermarks."""
BUSY = 0.6
"""The share of the processors that searches take. With more, they begin to wait for one another."""
SHARD_BYTES = 30e9
"""The size of a shard at most. A shard of up to 50 GB is moved in reasonable time, and shards grow."""
CACHE_BYTES = 32e9
"""What a node of 64 GB leaves to the file cache, with as much for its heap and the system."""
SEARCH_CACHE_BYTES = 40
"""Memory for each sentence that searches of a folder may keep, so that frequent terms are not computed anew:
what was set for the measurements."""
LOADER_PROCESSORS = 2
"""A load into a folder runs in two processes."""


@dataclass(frozen=True)
class Need:
    """One thing that is needed. `is_measured`: the size lies within those that were measured."""

    name: str
    value: float
    unit: str
    is_measured: bool


@dataclass(frozen=True)
class Plan:
    """What one engine needs, and the settings that go with it."""

    engine: str
    needs: Sequence[Need]
    settings: Sequence[str]

    def value(self, name: str) -> float:
        return next(need.value for need in self.needs if need.name == name)


def growth(quantity: str, points: tuple[Point, ...] | None = None) -> Growth:
    """How a quantity of the embedded engine grows, by all measured points or by these."""
    points = read_points() if points is None else points
    sizes, values = [p.sentences for p in points], [p.values[quantity] for p in points]
    return fit(QUANTITIES[quantity].form, sizes, values)


def plan_folder(sentences: float, queries_per_second: float) -> Plan:
    """A folder on one machine, and the server over it. One loader writes a folder."""
    size = growth("bytes").at(sentences)
    limit = _cache_limit(sentences)
    memory = growth("search_memory").at(sentences) + limit
    processors = max(1, math.ceil(queries_per_second * growth("page_p50").at(sentences) / BUSY))
    return Plan(
        "folder",
        tuple(
            Need(name, value, unit, growth(quantity).is_measured(sentences))
            for name, value, unit, quantity in (
                ("one generation", size, "B", "bytes"),
                ("disk", GENERATIONS * size / (1 - FREE), "B", "bytes"),
                ("memory for files", _cache_share() * size, "B", "bytes"),
                ("memory of a server process", memory, "B", "search_memory"),
                ("memory of the loader", growth("load_memory").at(sentences), "B", "load_memory"),
                ("load", growth("load_seconds").at(sentences) / LOADER_PROCESSORS, "s", "load_seconds"),
                ("search, median", growth("search_p50").at(sentences), "s", "search_p50"),
                ("search, 95th percentile", growth("search_p95").at(sentences), "s", "search_p95"),
                ("search for new terms, median", growth("first_p50").at(sentences), "s", "first_p50"),
                ("first page, median", growth("page_p50").at(sentences), "s", "page_p50"),
                ("processors for searches", processors, "", "page_p50"),
            )
        ),
        (
            f"ESR_WORKERS={processors} ESR_CACHE_BYTES={limit} esr serve --index FOLDER",
            "esr load FILES --index FOLDER --keep 1",
        ),
    )


def plan_elasticsearch(
    sentences: float, queries_per_second: float, replicas: int = 1, loaders: int = 1
) -> Plan:
    """Elasticsearch with shards that are searched at once, each by a processor. Loaders take slices."""
    figures = read_elasticsearch()
    size = elasticsearch_growth("bytes").at(sentences)
    shards = max(1, math.ceil(size / SHARD_BYTES))
    seconds = elasticsearch_growth("search_p50").at(sentences / shards)
    copies = 1 + replicas
    processors = max(shards, math.ceil(queries_per_second * seconds * shards / BUSY))
    nodes = max(copies, math.ceil(copies * size * figures.cached_share / CACHE_BYTES))
    reading = sentences / figures.read_per_second  # by each loader, whatever its slice
    load = reading + (sentences / figures.sentences_per_second - reading) / loaders
    is_measured = elasticsearch_growth("bytes").is_measured(sentences)
    return Plan(
        "Elasticsearch",
        tuple(
            Need(name, value, unit, is_measured)
            for name, value, unit in (
                ("one generation, one copy", size, "B"),
                ("disk of all nodes", GENERATIONS * copies * size / (1 - FREE), "B"),
                ("shards", shards, ""),
                ("size of a shard", size / shards, "B"),
                ("nodes of 64 GB", nodes, ""),
                ("load", load, "s"),
                ("search, median", seconds, "s"),
                ("processors for searches", processors, ""),
            )
        ),
        (
            *(
                f"esr load FILES --index URL/ALIAS --shards {shards} --replicas {replicas}"
                + (f" --slice {n}/{loaders}" if loaders > 1 else "")
                for n in range(1, loaders + 1)
            ),
            "ES_JAVA_OPTS: -Xms31g -Xmx31g on each node",
        ),
    )


def elasticsearch_growth(quantity: str, points: tuple[Point, ...] | None = None) -> Growth:
    """How `bytes` or `search_p50` of one shard of Elasticsearch grow, by all measured points or by these."""
    points = read_elasticsearch().points if points is None else points
    form: Form = "linear" if quantity == "bytes" else "power"
    return fit(form, [p.sentences for p in points], [p.values[quantity] for p in points])


def _cache_limit(sentences: float) -> int:
    """What `ESR_CACHE_BYTES` should be: no less than the default."""
    return max(cache_limit.DEFAULT, round(SEARCH_CACHE_BYTES * sentences))


def _cache_share() -> float:
    """The share of a folder that searches read: all but the stored texts."""
    largest = read_points()[-1].values
    return 1 - largest["text_bytes"] / largest["bytes"]
