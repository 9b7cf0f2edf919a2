"""`esr capacity`: estimate what a collection of a given size needs, before it exists.

Disk, memory, processors, load time and search time are estimated. Each estimate is a curve fitted to the
figures in `esr/lab/measurements.json`, which were measured at several sizes. The forms are `linear`, a fixed
part plus one per sentence (least squares of relative errors), and `power`, a · sentences^b (least squares of
logarithms), for quantities that grow more slowly than the collection. Extrapolated values are marked with
"~". `python -m benchmarks.capacity` writes the tables of docs/capacity.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import click
import numpy as np

from esr.plugin.provisional import DEFAULT_CACHE_LIMIT, ArgumentRow, add_arguments, as_json_option
from esr.plugin.provisional import argument_types as types

Form = Literal["linear", "power"]


class Growth(NamedTuple):
    """A curve:

    `fixed` + `factor` · sentences^`exponent`. `smallest` and `largest` are the extreme measured sizes.
    """

    fixed: float
    factor: float
    exponent: float
    smallest: int
    largest: int

    def at(self, sentences: float) -> float:
        """The value at a size.

        Below the smallest measured size it is at least proportional to the value there, because a straight
        line may fall below 0.
        """
        value = self.fixed + self.factor * math.pow(sentences, self.exponent)
        if sentences < self.smallest:
            return max(value, self.at(self.smallest) * sentences / self.smallest)
        return value

    def is_measured(self, sentences: float) -> bool:
        """Whether the size is within the measured range."""
        return self.smallest <= sentences <= self.largest


def fit(form: Form, sizes: Sequence[int], values: Sequence[float]) -> Growth:
    """The curve through at least two points with positive values."""
    if len(sizes) < 2:
        raise ValueError("growth needs two points")
    n, v = np.array(sizes, float), np.array(values)
    if form == "linear":
        factor, fixed = np.polyfit(n, v, 1, w=1 / v)
        return Growth(float(fixed), float(factor), 1.0, min(sizes), max(sizes))
    exponent, log_factor = np.polyfit(np.log(n), np.log(v), 1)
    return Growth(0.0, math.exp(log_factor), float(exponent), min(sizes), max(sizes))


class Quantity(NamedTuple):
    """A quantity measured at several sizes, under its name in the file, and the form of its growth."""

    name: str
    description: str
    unit: str
    form: Form


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("bytes", "the index on disk, one generation", "B", "linear"),
        Quantity("load_seconds", "a load, on one processor", "s", "linear"),
        Quantity("load_memory", "memory of the loader", "B", "power"),
        Quantity("search_memory", "memory of a process after 150 searches", "B", "linear"),
        Quantity("search_p50", "the best 10 sentences, median", "s", "linear"),
        Quantity("search_p95", "the same, 95th percentile", "s", "linear"),
        Quantity("first_p50", "the same for terms that were never asked for, median", "s", "linear"),
        Quantity("page_p50", "a first page: sentences, counts and facets, median", "s", "linear"),
    )
}


class Point(NamedTuple):
    """The measured values at one size."""

    sentences: int
    values: Mapping[str, float]


class ElasticsearchFigures(NamedTuple):
    """Figures of Elasticsearch, measured on one shard of one node.

    Each point has `bytes`, the size of the index, and `search_p50`, the median seconds of a search for 10
    sentences. `cached_share` is the share of the index that searches read. `sentences_per_second` is the rate
    of a load by one loader, `read_per_second` the rate at which a loader reads and analyses sentences before
    it sends those of its slice.
    """

    points: tuple[Point, ...]
    cached_share: float
    sentences_per_second: float
    read_per_second: float


@cache
def read_points() -> tuple[Point, ...]:
    """The measured points of the embedded engine, by ascending size."""
    return _points(_read()["embedded"])


@cache
def read_elasticsearch() -> ElasticsearchFigures:
    figures = _read()["elasticsearch"]
    return ElasticsearchFigures(**{**figures, "points": _points(figures["points"])})


def _points(rows: list[dict[str, Any]]) -> tuple[Point, ...]:
    return tuple(sorted(Point(row.pop("sentences"), row) for row in map(dict, rows)))


def _read() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(files("esr.lab").joinpath("measurements.json").read_text("utf-8"))
    return content


GENERATIONS = 3
"""Generations on disk during a load: the new one, the serving one, and the previous one."""
FREE = 0.2
"""The share of a disk to keep free: Elasticsearch needs it for merges and its watermarks."""
BUSY = 0.6
"""The share of processor time that searches may use. Above it, requests begin to queue."""
SHARD_BYTES = 30e9
"""The planned maximum size of a shard. Shards grow, and relocating one takes reasonable time up to 50 GB."""
CACHE_BYTES = 32e9
"""The file cache of a node with 64 GB; its heap and the system use the other half."""
SEARCH_CACHE_BYTES = 60
"""Bytes per sentence that searches of a folder may cache, so that frequent terms are not computed again. The
measurements used this value."""
LOADER_PROCESSORS = 2
"""Processors of a load into a folder, which runs in two processes."""


@dataclass(frozen=True)
class Need:
    """One requirement. `is_measured`: whether the size is within the measured range."""

    name: str
    value: float
    unit: str
    is_measured: bool


@dataclass(frozen=True)
class CapacityEstimate:
    """The requirements of one engine, and the commands and settings that go with them."""

    engine: str
    needs: Sequence[Need]
    settings: Sequence[str]

    def value(self, name: str) -> float:
        return next(need.value for need in self.needs if need.name == name)


def growth(quantity: str, points: tuple[Point, ...] | None = None) -> Growth:
    """The growth of a quantity of the embedded engine, fitted to these points or to all measured ones."""
    points = read_points() if points is None else points
    sizes, values = [p.sentences for p in points], [p.values[quantity] for p in points]
    return fit(QUANTITIES[quantity].form, sizes, values)


def estimate_folder(sentences: float, queries_per_second: float) -> CapacityEstimate:
    """The requirements of a folder on one machine with its server. A folder is written by a single loader."""
    size = growth("bytes").at(sentences)
    limit = max(DEFAULT_CACHE_LIMIT, round(SEARCH_CACHE_BYTES * sentences))  # for ESR_CACHE_BYTES
    memory = growth("search_memory").at(sentences) + limit
    processors = max(1, math.ceil(queries_per_second * growth("page_p50").at(sentences) / BUSY))
    return CapacityEstimate(
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


def estimate_elasticsearch(
    sentences: float, queries_per_second: float, replicas: int = 1, loaders: int = 1
) -> CapacityEstimate:
    """The requirements of Elasticsearch.

    A search runs on all shards at once, on one processor each. Each loader sends one slice.
    """
    figures = read_elasticsearch()
    size = elasticsearch_growth("bytes").at(sentences)
    shards = max(1, math.ceil(size / SHARD_BYTES))
    seconds = elasticsearch_growth("search_p50").at(sentences / shards)
    copies = 1 + replicas
    processors = max(shards, math.ceil(queries_per_second * seconds * shards / BUSY))
    nodes = max(copies, math.ceil(copies * size * figures.cached_share / CACHE_BYTES))
    reading = sentences / figures.read_per_second  # every loader reads all sentences, whatever its slice
    load = reading + (sentences / figures.sentences_per_second - reading) / loaders
    is_measured = elasticsearch_growth("bytes").is_measured(sentences)
    return CapacityEstimate(
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
    """The growth of `bytes` or `search_p50` of one shard, fitted to these points or to all measured ones."""
    points = read_elasticsearch().points if points is None else points
    form: Form = "linear" if quantity == "bytes" else "power"
    return fit(form, [p.sentences for p in points], [p.values[quantity] for p in points])


def _cache_share() -> float:
    """The share of a folder that searches read: everything except the stored texts."""
    largest = read_points()[-1].values
    return 1 - largest["text_bytes"] / largest["bytes"]


# Formatting


_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_SECONDS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))


def format_need(need: Need) -> str:
    return ("" if need.is_measured else "~") + format_value(need.value, need.unit)


def format_value(value: float, unit: str) -> str:
    """Format bytes ("B"), seconds ("s") or a count ("") with two or three digits."""
    if unit == "B":
        step, name = next((step for step in _BYTES if value >= step[0]), (1.0, "B"))
    elif unit == "s":
        step, name = next((step for step in _SECONDS if value >= step[0]), (0.001, "ms"))
    else:
        return f"{value:,.0f}"
    number = value / step
    return f"{number:,.0f} {name}" if number >= 10 else f"{number:.2g} {name}"


_ROWS = (
    ArgumentRow(
        "sentences",
        "sentences, such as 2500000 or 1e8",
        types.Between(low=1e4, high=1e11),
        "capacity",
        is_required=True,
    ),
    ArgumentRow(
        "queries_per_second", "searches in the busiest second", types.Between(high=1e6, usual=1.0), "capacity"
    ),
    ArgumentRow(
        "replicas",
        "copies of each shard (Elasticsearch only)",
        types.WholeNumber(low=0, most=10, usual=1),
        "capacity",
    ),
    ArgumentRow(
        "loaders",
        "loaders at the same time, each of a slice (Elasticsearch only)",
        types.WholeNumber(most=64, usual=1),
        "capacity",
    ),
)


@click.command()
@add_arguments(_ROWS, "capacity")
@as_json_option
def capacity(sentences: float, queries_per_second: float, replicas: int, loaders: int, as_json: bool) -> None:
    """Estimate what a collection needs, and how long it takes.

    The figures are disk, memory, processors and times, on either engine.

    \b
    Example:
      esr capacity --sentences 1e8 --queries-per-second 50
    The estimates are fits to measured figures (docs/capacity.md). "~" marks those beyond the sizes that were
    measured: try a tenth of your data before you buy machines.
    """
    estimates = (
        estimate_folder(sentences, queries_per_second),
        estimate_elasticsearch(sentences, queries_per_second, replicas, loaders),
    )
    click.echo(_to_json(estimates) if as_json else "\n".join(map(_to_text, estimates)))


def _to_text(estimate: CapacityEstimate) -> str:
    rows = [f"  {need.name:<30}{format_need(need):>12}" for need in estimate.needs]
    return "\n".join([estimate.engine, *rows, *(f"  {line}" for line in estimate.settings), ""])


def _to_json(estimates: tuple[CapacityEstimate, ...]) -> str:
    entries = [
        {
            "engine": estimate.engine,
            "needs": [vars(need) for need in estimate.needs],
            "settings": list(estimate.settings),
        }
        for estimate in estimates
    ]
    return json.dumps(entries, indent=1)
