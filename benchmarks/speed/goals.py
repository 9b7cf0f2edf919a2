"""The goals of speed and size, and whether they are met: a row per goal, computed from the raw figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.speed.figures import Figure, Figures
from benchmarks.speed.timing import p50, p95

GROWTH_SIZE = 10
"""The size for the goals of growth and opening, as a multiple of the documents."""


@dataclass(frozen=True)
class Goal:
    """A limit of a value: a maximum, or a minimum if `is_minimum`. `measure` returns None without figures."""

    name: str
    unit: str
    limit: float
    measure: Callable[[Figures], float | None]
    is_minimum: bool = False

    def row(self, figures: Figures) -> tuple[str, str, str, str]:
        """The name, the goal, the measured value, and whether the goal is met."""
        goal = f"{'at least' if self.is_minimum else 'at most'} {self.limit:g} {self.unit}"
        value = self.measure(figures)
        if value is None:
            return self.name, goal, "not measured", ""
        is_met = value >= self.limit if self.is_minimum else value <= self.limit
        return self.name, goal, f"{value:.3g} {self.unit}", "yes" if is_met else "**no**"


def _latency(
    k: int, peer: str, percentile: Callable[[list[float]], float] = p50
) -> Callable[[Figures], float | None]:
    return _from_figure("latency", k, lambda f: percentile(f["times"]["esr"]) / percentile(f["times"][peer]))


def _from_figure(
    part: str, key: object, value: Callable[[Figure], float]
) -> Callable[[Figures], float | None]:
    def measure(figures: Figures) -> float | None:
        figure = figures.get(part, key)
        return None if figure is None else value(figure)

    return measure


def _growth(k: int) -> Callable[[Figures], float | None]:
    def measure(figures: Figures) -> float | None:
        both_sizes = [
            f for f in figures.all_of("growth") if f["k"] == k and {1, GROWTH_SIZE} <= {*f["sizes"]}
        ]
        if not both_sizes:
            return None
        times = both_sizes[-1]["times"]
        return p50(times[f"esr {GROWTH_SIZE}"]) / p50(times["esr 1"])

    return measure


def _over_match(k: int) -> Callable[[Figures], float | None]:
    return _from_figure(
        "elasticsearch", "", lambda f: p50(f["times"][f"esr, top {k}"]) / p50(f["times"]["match, top 100"])
    )


def _page(engine: str) -> Callable[[Figures], float | None]:
    def measure(figures: Figures) -> float | None:
        figure = figures.get("page")
        return p50(figure["times"][engine]) if figure and engine in figure["times"] else None

    return measure


def _throughput(figures: Figures) -> float | None:
    figure = figures.get("throughput")
    if figure is None or "elasticsearch" not in figure["runs"]:
        return None
    return median_rate(figure, "esr") / median_rate(figure, "elasticsearch")


def median_rate(figure: Figure, name: str) -> float:
    """Answers per second, the median of the runs."""
    return float(np.median([run["answered"] / run["seconds"] for run in figure["runs"][name]]))


def median_of_loads(figure: Figure, name: str, field: str) -> float:
    return float(np.median([load[field] for load in figure["loads"][name]]))


def median_start_time(figure: Figure) -> float:
    """Milliseconds of `esr.open` and the first search, the median of the runs."""
    return float(np.median([run["ms"]["open"] + run["ms"]["first search"] for run in figure["runs"]]))


def _index_size(figure: Figure) -> float:
    stored = figure["bytes"]
    return float((stored["sentences"] + stored["documents"]) / stored["plain"])


GOALS = (
    Goal("embedded, top 100, p50, over bm25s", "×", 0.4, _latency(100, "bm25s")),
    Goal("embedded, top 100, p50, over tantivy", "×", 1.0, _latency(100, "tantivy")),
    Goal("embedded, top 10, p50, over tantivy's top 10", "×", 0.6, _latency(10, "tantivy")),
    Goal("embedded, top 10, p95, over tantivy's", "×", 1.5, _latency(10, "tantivy", p95)),
    Goal("embedded, top 100, p95, over tantivy's", "×", 1.5, _latency(100, "tantivy", p95)),
    Goal("growth: 10 times the sentences, top 10, p50", "×", 4.0, _growth(10)),
    Goal("growth: 10 times the sentences, top 100, p50", "×", 4.0, _growth(100)),
    Goal("Elasticsearch, top 10, p50, over native BM25 top 100", "×", 1.3, _over_match(10)),
    Goal("Elasticsearch, top 100, p50, over native BM25 top 100", "×", 1.8, _over_match(100)),
    Goal(
        "Elasticsearch, index over a plain text mapping",
        "×",
        2.0,
        _from_figure("elasticsearch", "", _index_size),
    ),
    Goal(
        "reranking 1,000 candidates by all signals, added, p50",
        "ms",
        10.0,
        _from_figure("rerank", "", lambda f: p50(f["times"]["all signals"]) - p50(f["times"]["first stage"])),
    ),
    Goal("page, one user, p50, embedded", "ms", 50.0, _page("embedded")),
    Goal("page, one user, p50, Elasticsearch", "ms", 50.0, _page("elasticsearch")),
    Goal(
        "queries a second, 16 clients, over plain Elasticsearch BM25", "×", 3.0, _throughput, is_minimum=True
    ),
    Goal(
        "opening 5 million sentences, and the first search",
        "ms",
        200.0,
        _from_figure("opening", GROWTH_SIZE, median_start_time),
    ),
    Goal(
        "lexical load, embedded, over tantivy's rate",
        "×",
        0.5,
        _from_figure(
            "loading",
            "",
            lambda f: median_of_loads(f, "tantivy", "seconds") / median_of_loads(f, "esr", "seconds"),
        ),
        is_minimum=True,
    ),
    Goal(
        "index size, embedded, over tantivy's",
        "×",
        1.5,
        _from_figure(
            "loading",
            "",
            lambda f: median_of_loads(f, "esr", "bytes") / median_of_loads(f, "tantivy", "bytes"),
        ),
    ),
)
