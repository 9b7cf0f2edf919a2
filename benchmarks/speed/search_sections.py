"""The sections of docs/performance.md on searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.speed import plots, tables
from benchmarks.speed.figures import Figure, Figures
from benchmarks.speed.setup import RESULT_SIZES
from benchmarks.speed.timing import p50, p95


def latency(figures: Figures, pictures: Path) -> Iterator[str]:
    for k in RESULT_SIZES:
        figure = figures.get("latency", k)
        if figure is None:
            continue
        yield f"### Embedded, top {k}\n"
        yield from tables.environment(figure)
        yield from tables.comparison(figure["times"])
        yield from tables.pruning(figure["answers"])
        if k == RESULT_SIZES[-1]:
            path = plots.write("latency-matches", plots.plot_latency_by_matches(figure), pictures)
            yield f"![Time of a search against the sentences that match](pictures/{path.name})\n"


def growth(figures: Figures, pictures: Path) -> Iterator[str]:
    records = figures.all_of("growth")
    if not records:
        return
    yield "### Growth\n"
    yield from tables.environment(records[-1])
    heads = ("", "sentences", "matches", "p50 ms", "p95 ms", "p50 over the smallest")
    yield from tables.table(heads, [row for figure in records for row in _growth_rows(figure)])
    max_sizes = max(len(figure["sizes"]) for figure in records)
    by_k = {figure["k"]: figure for figure in records if len(figure["sizes"]) == max_sizes}
    path = plots.write("latency-size", plots.plot_latency_by_size(list(by_k.values())), pictures)
    yield f"![Time of a search against the size of the collection](pictures/{path.name})\n"


def _growth_rows(figure: Figure) -> Iterator[Sequence[str]]:
    """A row for each peer and size of one figure."""
    smallest = figure["sizes"][0]
    for name in dict.fromkeys(name.rpartition(" ")[0] for name in figure["times"]):
        base = p50(figure["times"][f"{name} {smallest}"])
        for size in figure["sizes"]:
            times, answers = figure["times"][f"{name} {size}"], figure["answers"][str(size)]
            counts = (f"{answers['sentences']:,}", f"{np.median(answers['matches']):,.0f}")
            ms = (f"{p50(times):.3g}", f"{p95(times):.3g}", f"{p50(times) / base:.2f}")
            yield (f"{name}, top {figure['k']}", *counts, *ms)


def cold(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("cold", 10)
    if figure is None:
        return
    yield "### Terms that were never asked for\n"
    yield from tables.environment(figure)
    rows = [(name, f"{p50(times):.3g}", f"{p95(times):.3g}") for name, times in figure["times"].items()]
    yield from tables.table(("top 10", "p50 ms", "p95 ms"), rows)


def models(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("models", RESULT_SIZES[-1])
    if figure is None:
        return
    yield f"### Every model, top {RESULT_SIZES[-1]}\n"
    yield from tables.environment(figure)
    yield from tables.comparison(figure["times"])
    unpruned = [name for name, count in figure["exhaustive"].items() if count]
    if unpruned:
        yield f"Scored exhaustively in some query: {', '.join(unpruned)}.\n"


def recall(figures: Figures, pictures: Path) -> Iterator[str]:
    records = [figure for k in RESULT_SIZES if (figure := figures.get("recall", k))]
    if not records:
        return
    yield "### Recall against time\n"
    yield from tables.environment(records[-1])
    yield "`tantivy N` stands for an approximation: the N best by BM25, scored again at no cost.\n"
    rows = [
        (
            f"{name}, top {figure['key']}",
            f"{figure['recall'][name]:.3f}",
            f"{p50(times):.3g}",
            f"{p95(times):.3g}",
        )
        for figure in records
        for name, times in figure["times"].items()
    ]
    yield from tables.table(("", "share of the exact answer", "p50 ms", "p95 ms"), rows)
    path = plots.write("recall-time", plots.plot_recall_by_time(records), pictures)
    yield f"![Share of the exact answer against time](pictures/{path.name})\n"


def rerank(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("rerank")
    if figure is None:
        return
    yield f"### Reranking {figure['depth']:,} candidates\n"
    yield from tables.environment(figure)
    first = p50(figure["times"]["first stage"])
    rows = [
        (
            name,
            str(figure["signals"].get(name, "")),
            f"{p50(times):.3g}",
            f"{p95(times):.3g}",
            f"{p50(times) - first:+.3g}",
        )
        for name, times in figure["times"].items()
    ]
    yield from tables.table(("", "signals", "p50 ms", "p95 ms", "p50 added to the first stage"), rows)
    if figure["parser loaded"]:
        yield "The parser was loaded while queries were answered, which it should not be.\n"
