"""What was set out to reach, and how far it is: one row a goal, computed from the raw figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.speed.figures import Figure, Figures
from benchmarks.speed.timing import p50, p95

GROWN = 10
"""The size, in times the documents, of which growth and opening are asked."""


@dataclass(frozen=True)
class Goal:
    """`bound` is the most or the least that `measured` may be; it is None where nothing was measured."""

    what: str
    unit: str
    bound: float
    measured: Callable[[Figures], float | None]
    least: bool = False

    def row(self, figures: Figures) -> tuple[str, str, str, str]:
        """What, goal, measured, and whether it is met."""
        goal = f"{'at least' if self.least else 'at most'} {self.bound:g} {self.unit}"
        value = self.measured(figures)
        if value is None:
            return self.what, goal, "not measured", ""
        met = value >= self.bound if self.least else value <= self.bound
        return self.what, goal, f"{value:.3g} {self.unit}", "yes" if met else "**no**"


def _latency(
    k: int, peer: str, of: Callable[[list[float]], float] = p50
) -> Callable[[Figures], float | None]:
    return _of("latency", k, lambda f: of(f["times"]["esr"]) / of(f["times"][peer]))


def _of(part: str, key: object, value: Callable[[Figure], float]) -> Callable[[Figures], float | None]:
    def measured(figures: Figures) -> float | None:
        figure = figures.get(part, key)
        return None if figure is None else value(figure)

    return measured


def _growth(k: int) -> Callable[[Figures], float | None]:
    def measured(figures: Figures) -> float | None:
        found = [f for f in figures.every("growth") if f["k"] == k and {1, GROWN} <= {*f["sizes"]}]
        if not found:
            return None
        times = found[-1]["times"]
        return p50(times[f"esr {GROWN}"]) / p50(times["esr 1"])

    return measured


def _over_match(k: int) -> Callable[[Figures], float | None]:
    return _of(
        "elasticsearch", "", lambda f: p50(f["times"][f"esr, top {k}"]) / p50(f["times"]["match, top 100"])
    )


def _page(engine: str) -> Callable[[Figures], float | None]:
    def measured(figures: Figures) -> float | None:
        figure = figures.get("page")
        return p50(figure["times"][engine]) if figure and engine in figure["times"] else None

    return measured


def _queries_a_second(figures: Figures) -> float | None:
    figure = figures.get("throughput")
    if figure is None or "elasticsearch" not in figure["runs"]:
        return None
    return rate(figure, "esr") / rate(figure, "elasticsearch")


def rate(figure: Figure, name: str) -> float:
    """Answers a second: of the runs, the median."""
    return float(np.median([run["answered"] / run["seconds"] for run in figure["runs"][name]]))


def of_loads(figure: Figure, name: str, what: str) -> float:
    """Of the loads, the median."""
    return float(np.median([load[what] for load in figure["loads"][name]]))


def until_found(figure: Figure) -> float:
    """Milliseconds of `esr.open` and the first search: of the runs, the median."""
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
    Goal("Elasticsearch, index over a plain text mapping", "×", 2.0, _of("elasticsearch", "", _index_size)),
    Goal(
        "reranking 1,000 candidates by all signals, added, p50",
        "ms",
        10.0,
        _of("rerank", "", lambda f: p50(f["times"]["all signals"]) - p50(f["times"]["first stage"])),
    ),
    Goal("page, one user, p50, embedded", "ms", 50.0, _page("embedded")),
    Goal("page, one user, p50, Elasticsearch", "ms", 50.0, _page("elasticsearch")),
    Goal(
        "queries a second, 16 clients, over plain Elasticsearch BM25", "×", 3.0, _queries_a_second, least=True
    ),
    Goal(
        "opening 5 million sentences, and the first search", "ms", 200.0, _of("opening", GROWN, until_found)
    ),
    Goal(
        "lexical load, embedded, over tantivy's rate",
        "×",
        0.5,
        _of("loading", "", lambda f: of_loads(f, "tantivy", "seconds") / of_loads(f, "esr", "seconds")),
        least=True,
    ),
    Goal(
        "index size, embedded, over tantivy's",
        "×",
        1.5,
        _of("loading", "", lambda f: of_loads(f, "esr", "bytes") / of_loads(f, "tantivy", "bytes")),
    ),
)
