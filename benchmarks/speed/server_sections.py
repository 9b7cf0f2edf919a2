"""The sections of docs/performance.md on servers, loads and the start of a process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.speed import tables
from benchmarks.speed.figures import Figure, Figures
from benchmarks.speed.goals import median_of_loads, median_rate, median_start_time
from benchmarks.speed.setup import HEADLINES
from benchmarks.speed.timing import p50, p95

_MEMORY = ("MB imported", "opened", "after 1 search", "after 100", "after 1,000")


def elasticsearch(figures: Figures, pictures: Path) -> Iterator[str]:
    for key, name in (("", "queries of 2 to 6 terms"), (HEADLINES, "headlines as they come")):
        if figure := figures.get("elasticsearch", key):
            yield f"### Elasticsearch, {name}\n"
            yield from _elasticsearch(figure)


def _elasticsearch(figure: Figure) -> Iterator[str]:
    yield from tables.environment(figure)
    yield from tables.comparison(figure["times"], ("match, top 100", "match in esr's index, top 100"))
    yield from tables.pruning(figure["answers"])
    index_bytes = figure["bytes"]
    sentences, documents, plain = (index_bytes[name] / 1e6 for name in ("sentences", "documents", "plain"))
    yield (
        f"Version {figure['version']}. esr's indexes take {sentences:,.0f} MB (sentences) and "
        f"{documents:,.0f} MB (documents), the plain one {plain:,.0f} MB.\n"
    )


def servers(figures: Figures, pictures: Path) -> Iterator[str]:
    page, throughput_figure = figures.get("page"), figures.get("throughput")
    if page is not None:
        yield "### The page, one user\n"
        yield from tables.environment(page)
        rows = [(name, f"{p50(times):.3g}", f"{p95(times):.3g}") for name, times in page["times"].items()]
        yield from tables.table(("", "p50 ms", "p95 ms"), rows)
    if throughput_figure is not None:
        yield f"### Queries a second, {throughput_figure['clients']} clients\n"
        yield from tables.environment(throughput_figure)
        throughput = []
        for name, runs in throughput_figure["runs"].items():
            cost = np.median([1000 * run["processor"] / run["answered"] for run in runs])
            failed = sum(run["failed"] for run in runs)
            throughput.append(
                (name, f"{median_rate(throughput_figure, name):,.0f}", f"{cost:.3g}", f"{failed}")
            )
        yield from tables.table(
            ("", "answers a second", "ms of processor time a client needs for one", "failed"), throughput
        )


def command(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("command")
    if figure is None:
        return
    yield "### A search as a process\n"
    yield from tables.environment(figure)
    yield from tables.comparison(figure["times"], ("import numpy",))


def loading(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("loading")
    if figure is None:
        return
    yield "### Loading\n"
    yield from tables.environment(figure)
    rows = [
        (
            name,
            f"{median_of_loads(figure, name, 'seconds'):.1f}",
            f"{median_of_loads(figure, name, 'processor'):.1f}",
            f"{figure['sentences'] / median_of_loads(figure, name, 'seconds'):,.0f}",
            f"{median_of_loads(figure, name, 'bytes') / figure['sentences']:.0f}",
        )
        for name in figure["loads"]
    ]
    yield from tables.table(
        ("", "seconds", "processor seconds", "sentences a second", "bytes a sentence"), rows
    )


def opening(figures: Figures, pictures: Path) -> Iterator[str]:
    records = figures.all_of("opening")
    if not records:
        return
    yield "### Opening, and memory\n"
    yield from tables.environment(records[-1])
    heads = ("sentences", "import, ms", "open, ms", "first search, ms", "both, ms", *_MEMORY)
    yield from tables.table(heads, _opening_rows(records))


def _opening_rows(figures: Sequence[Figure]) -> tables.Rows:
    rows = []
    for figure in figures:
        steps = {
            name: np.median([run["ms"][name] for run in figure["runs"]])
            for name in ("import", "open", "first search")
        }
        memory = figure["runs"][-1]["memory"].values()
        rows.append(
            (
                f"{figure['sentences']:,}",
                *(f"{value:.0f}" for value in steps.values()),
                f"{median_start_time(figure):.0f}",
                *(f"{sample['resident']:.0f} ({sample['own']:.0f})" for sample in memory),
            )
        )
    return rows
