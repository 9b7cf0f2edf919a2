"""The measured figures, as data: `measurements.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from esr.capacity.fit import Form


class Quantity(NamedTuple):
    """What is measured at several sizes of a collection, by its name in the file, and how it grows."""

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
        Quantity("search_p50", "the best 10 sentences, median", "s", "power"),
        Quantity("search_p95", "the same, 95th percentile", "s", "power"),
        Quantity("first_p50", "the same for terms that were never asked for, median", "s", "linear"),
        Quantity("page_p50", "a first page: sentences, counts and facets, median", "s", "linear"),
    )
}


class Point(NamedTuple):
    """What was measured at one size."""

    sentences: int
    values: Mapping[str, float]


class ElasticsearchFigures(NamedTuple):
    """What was measured of Elasticsearch on one shard of one node.

    Each point has `bytes` of the index and `search_p50`, seconds of the median search for 10 sentences.
    `cached_share`: of the index, what searches read. `sentences_per_second`: the rate of a load by one
    loader. `read_per_second`: the rate at which it reads and analyses them, before it sends its slice.
    """

    points: tuple[Point, ...]
    cached_share: float
    sentences_per_second: float
    read_per_second: float


@cache
def read_points() -> tuple[Point, ...]:
    """The points of the embedded engine, by size."""
    return _points(_read()["embedded"])


@cache
def read_elasticsearch() -> ElasticsearchFigures:
    """What was measured of Elasticsearch."""
    figures = _read()["elasticsearch"]
    return ElasticsearchFigures(**{**figures, "points": _points(figures["points"])})


def _points(rows: list[dict[str, Any]]) -> tuple[Point, ...]:
    return tuple(sorted(Point(row.pop("sentences"), row) for row in map(dict, rows)))


def _read() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(files(__package__).joinpath("measurements.json").read_text("utf-8"))
    return content
