"""The goals of speed and size, and whether they are met: a row per goal, computed from the raw figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.speed.figures import Figure, Figures
from benchmarks.speed.timing import p50, p95
from benchmarks.speed.workspace import HEADLINES

SCALE = "scale, Elasticsearch"
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
    k: int, peer: str, percentile: Callable[[list[float]], float] = p50, esr: str = "esr"
) -> Callable[[Figures], float | None]:
    return _from_figure("latency", k, lambda f: percentile(f["times"][esr]) / percentile(f["times"][peer]))


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


def _over_match(
    k: int, queries: str, percentile: Callable[[list[float]], float] = p50
) -> Callable[[Figures], float | None]:
    return _from_figure(
        "elasticsearch",
        queries,
        lambda f: percentile(f["times"][f"esr, top {k}"]) / percentile(f["times"]["match, top 100"]),
    )


def _over_match_at_scale(k: int, percentile: str) -> Callable[[Figures], float | None]:
    """The ratio to `match` at ten times the documents, from `python -m benchmarks.scale_elasticsearch`."""
    return _from_figure(
        SCALE,
        f"{GROWTH_SIZE}x, 1 node, 1 shard",
        lambda f: f["ms"][f"esr, top {k}"][percentile] / f["ms"]["match, top 100"][percentile],
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
    """Milliseconds of `open_searcher` and the first search, the median of the runs."""
    return float(np.median([run["ms"]["open"] + run["ms"]["first search"] for run in figure["runs"]]))


def _with_texts(k: int) -> Callable[[Figures], float | None]:
    return _latency(k, "tantivy, with texts", esr="esr, with texts")


def _index_size(figure: Figure) -> float:
    stored = figure["bytes"]
    return float((stored["sentences"] + stored["documents"]) / stored["plain"])


GOALS = (
    Goal("embedded, top 100, p50, over bm25s", "×", 0.4, _latency(100, "bm25s")),
    Goal("embedded, top 100, p50, over tantivy", "×", 1.2, _latency(100, "tantivy")),
    Goal("embedded, top 10, p50, over tantivy", "×", 0.8, _latency(10, "tantivy")),
    Goal("embedded, top 10, p95, over tantivy's", "×", 1.5, _latency(10, "tantivy", p95)),
    Goal("embedded, top 100, p95, over tantivy's", "×", 1.5, _latency(100, "tantivy", p95)),
    Goal("embedded with texts, top 10, p50, over tantivy with texts", "×", 0.8, _with_texts(10)),
    Goal("embedded with texts, top 100, p50, over tantivy with texts", "×", 1.0, _with_texts(100)),
    Goal(
        "embedded, first search of a term, p50",
        "ms",
        1.0,
        _from_figure("cold", 10, lambda f: p50(f["times"]["first"])),
    ),
    Goal("growth: 10 times the sentences, top 10, p50", "×", 4.0, _growth(10)),
    Goal("growth: 10 times the sentences, top 100, p50", "×", 4.0, _growth(100)),
    *(
        Goal(
            f"Elasticsearch, {name}, top {k}, {percentile.__name__}, over native BM25 top 100",
            "×",
            limit,
            _over_match(k, key, percentile),
        )
        for key, name in (("", "2 to 6 terms"), (HEADLINES, "headlines as they come"))
        for k, percentile, limit in ((10, p50, 1.6), (100, p50, 2.4), (10, p95, 2.0), (100, p95, 3.0))
    ),
    *(
        Goal(
            f"Elasticsearch, 5 million sentences, top {k}, {percentile}, over native BM25 top 100",
            "×",
            limit,
            _over_match_at_scale(k, percentile),
        )
        for k, percentile, limit in ((10, "p50", 2.0), (100, "p50", 3.0), (10, "p95", 2.5), (100, "p95", 4.0))
    ),
    Goal(
        "Elasticsearch, 5 million sentences, queries that were not pruned",
        "of 20",
        0.0,
        _from_figure(SCALE, f"{GROWTH_SIZE}x, 1 node, 1 shard", lambda f: f["exhaustive"]),
    ),
    Goal(
        "load into Elasticsearch, 5 million sentences, over the bulk helper's rate",
        "×",
        0.9,
        _from_figure(
            SCALE, f"{GROWTH_SIZE}x, loads", lambda f: f["esr"]["a second"] / f["plain"]["a second"]
        ),
        is_minimum=True,
    ),
    Goal(
        "Elasticsearch, index over a plain text mapping",
        "×",
        3.5,
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
        "queries a second, 16 clients, over plain Elasticsearch BM25", "×", 0.8, _throughput, is_minimum=True
    ),
    Goal(
        "`esr search` as a process, p50",
        "s",
        0.25,
        _from_figure("command", "", lambda f: p50(f["times"]["esr search"]) / 1000),
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
