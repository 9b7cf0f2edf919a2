"""Writes the part of docs/performance.md that figures make, and its pictures, from the raw figures alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import plots
from benchmarks.speed.figures import Figure, Figures
from benchmarks.speed.goals import GOALS, of_loads, rate, until_found
from benchmarks.speed.setup import BOTH_K
from benchmarks.speed.timing import p50, p95

BEGIN, END = "<!-- figures: python -m benchmarks.speed -->", "<!-- end of figures -->"
Rows = Sequence[Sequence[str]]


def write(figures: Figures, page: Path) -> None:
    """Replace what stands between the marks of the page."""
    before, rest = page.read_text("utf-8").split(BEGIN, 1)
    lines = [BEGIN, "", *_goals(figures)]
    for part in (_latency, _growth, _cold, _models, _recall, _elasticsearch, _rerank, _servers, _building):
        lines += part(figures, page.parent / "pictures")
    lines.append(END)
    page.write_text(before + "\n".join(lines) + rest.split(END, 1)[1], "utf-8")


def _goals(figures: Figures) -> Iterator[str]:
    yield from _table(("what", "goal", "measured", "met"), [goal.row(figures) for goal in GOALS])


def _latency(figures: Figures, pictures: Path) -> Iterator[str]:
    for k in BOTH_K:
        figure = figures.get("latency", k)
        if figure is None:
            continue
        yield f"### Embedded, top {k}\n"
        yield from _about(figure)
        yield from _compared(figure["times"])
        yield from _told(figure["answers"])
        if k == BOTH_K[-1]:
            path = plots.write("latency-matches", plots.against_matches(figure), pictures)
            yield f"![Time of a search against the sentences that match](pictures/{path.name})\n"


def _told(answers: Mapping[str, Any]) -> Iterator[str]:
    """What pruning left out, and whether it was right to."""
    yield (
        f"A median of {np.median(answers['matches']):,.0f} sentences match and "
        f"{np.median(answers['scored']):,.0f} are scored. In {answers['differ']} of "
        f"{len(answers['matches'])} queries the pruned answer differs from that of scoring everything; "
        f"{answers['exhaustive']} could not be pruned.\n"
    )


def _growth(figures: Figures, pictures: Path) -> Iterator[str]:
    found = figures.every("growth")
    if not found:
        return
    yield "### Growth\n"
    yield from _about(found[-1])
    heads = ("", "sentences", "matches", "p50 ms", "p95 ms", "p50 over the smallest")
    yield from _table(heads, [row for figure in found for row in _grown(figure)])
    most = max(len(figure["sizes"]) for figure in found)
    drawn = {figure["k"]: figure for figure in found if len(figure["sizes"]) == most}
    path = plots.write("latency-size", plots.against_size(list(drawn.values())), pictures)
    yield f"![Time of a search against the size of the collection](pictures/{path.name})\n"


def _grown(figure: Figure) -> Iterator[Sequence[str]]:
    """A row for each name and size of one run."""
    smallest = figure["sizes"][0]
    for name in dict.fromkeys(name.rpartition(" ")[0] for name in figure["times"]):
        one = p50(figure["times"][f"{name} {smallest}"])
        for size in figure["sizes"]:
            times, answers = figure["times"][f"{name} {size}"], figure["answers"][str(size)]
            counts = (f"{answers['sentences']:,}", f"{np.median(answers['matches']):,.0f}")
            ms = (f"{p50(times):.3g}", f"{p95(times):.3g}", f"{p50(times) / one:.2f}")
            yield (f"{name}, top {figure['k']}", *counts, *ms)


def _cold(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("cold", 10)
    if figure is None:
        return
    yield "### Terms that were never asked for\n"
    yield from _about(figure)
    rows = [(name, f"{p50(times):.3g}", f"{p95(times):.3g}") for name, times in figure["times"].items()]
    yield from _table(("top 10", "p50 ms", "p95 ms"), rows)


def _models(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("models", BOTH_K[-1])
    if figure is None:
        return
    yield f"### Every model, top {BOTH_K[-1]}\n"
    yield from _about(figure)
    yield from _compared(figure["times"])
    unpruned = [name for name, count in figure["exhaustive"].items() if count]
    if unpruned:
        yield f"Scored exhaustively in some query: {', '.join(unpruned)}.\n"


def _recall(figures: Figures, pictures: Path) -> Iterator[str]:
    found = [figure for k in BOTH_K if (figure := figures.get("recall", k))]
    if not found:
        return
    yield "### Recall against time\n"
    yield from _about(found[-1])
    yield "`tantivy N` stands for an approximation: the N best by BM25, scored again at no cost.\n"
    rows = [
        (
            f"{name}, top {figure['key']}",
            f"{figure['recall'][name]:.3f}",
            f"{p50(times):.3g}",
            f"{p95(times):.3g}",
        )
        for figure in found
        for name, times in figure["times"].items()
    ]
    yield from _table(("", "share of the exact answer", "p50 ms", "p95 ms"), rows)
    path = plots.write("recall-time", plots.against_time(found), pictures)
    yield f"![Share of the exact answer against time](pictures/{path.name})\n"


def _elasticsearch(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("elasticsearch")
    if figure is None:
        return
    yield "### Elasticsearch\n"
    yield from _about(figure)
    yield from _compared(figure["times"], ("match, top 100", "match in esr's index, top 100"))
    yield from _told(figure["answers"])
    stored = figure["bytes"]
    sentences, documents, plain = (stored[name] / 1e6 for name in ("sentences", "documents", "plain"))
    yield (
        f"Version {figure['version']}. esr's indexes take {sentences:,.0f} MB (sentences) and "
        f"{documents:,.0f} MB (documents), the plain one {plain:,.0f} MB.\n"
    )


def _rerank(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("rerank")
    if figure is None:
        return
    yield f"### Reranking {figure['depth']:,} candidates\n"
    yield from _about(figure)
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
    yield from _table(("", "signals", "p50 ms", "p95 ms", "p50 added to the first stage"), rows)
    if figure["parser loaded"]:
        yield "The parser was loaded while queries were answered, which it should not be.\n"


def _servers(figures: Figures, pictures: Path) -> Iterator[str]:
    page, many = figures.get("page"), figures.get("throughput")
    if page is not None:
        yield "### The page, one user\n"
        yield from _about(page)
        rows = [(name, f"{p50(times):.3g}", f"{p95(times):.3g}") for name, times in page["times"].items()]
        yield from _table(("", "p50 ms", "p95 ms"), rows)
    if many is not None:
        yield f"### Queries a second, {many['clients']} clients\n"
        yield from _about(many)
        throughput = []
        for name, runs in many["runs"].items():
            cost = np.median([1000 * run["processor"] / run["answered"] for run in runs])
            failed = sum(run["failed"] for run in runs)
            throughput.append((name, f"{rate(many, name):,.0f}", f"{cost:.3g}", f"{failed}"))
        yield from _table(
            ("", "answers a second", "ms of processor time a client needs for one", "failed"), throughput
        )


def _building(figures: Figures, pictures: Path) -> Iterator[str]:
    loading, opened = figures.get("loading"), figures.every("opening")
    if loading is not None:
        yield "### Loading\n"
        yield from _about(loading)
        rows = [
            (
                name,
                f"{of_loads(loading, name, 'seconds'):.1f}",
                f"{of_loads(loading, name, 'processor'):.1f}",
                f"{loading['sentences'] / of_loads(loading, name, 'seconds'):,.0f}",
                f"{of_loads(loading, name, 'bytes') / loading['sentences']:.0f}",
            )
            for name in loading["loads"]
        ]
        heads = ("", "seconds", "processor seconds", "sentences a second", "bytes a sentence")
        yield from _table(heads, rows)
    if opened:
        yield "### Opening, and memory\n"
        yield from _about(opened[-1])
        yield from _table(
            ("sentences", "import, ms", "open, ms", "first search, ms", "both, ms", *_MEMORY), _opened(opened)
        )


_MEMORY = ("MB imported", "opened", "after 1 search", "after 100", "after 1,000")


def _opened(found: Sequence[Figure]) -> Rows:
    rows = []
    for figure in found:
        steps = {
            name: np.median([run["ms"][name] for run in figure["runs"]])
            for name in ("import", "open", "first search")
        }
        memory = figure["runs"][-1]["memory"].values()
        rows.append(
            (
                f"{figure['sentences']:,}",
                *(f"{value:.0f}" for value in steps.values()),
                f"{until_found(figure):.0f}",
                *(f"{each['resident']:.0f} ({each['own']:.0f})" for each in memory),
            )
        )
    return rows


def _compared(
    times: Mapping[str, Sequence[float]], bases: Sequence[str] = ("bm25s", "tantivy")
) -> Iterator[str]:
    """Percentiles, and medians over those of the bases."""
    rows = [
        (
            name,
            f"{p50(found):.3g}",
            f"{p95(found):.3g}",
            *(f"{p50(found) / p50(times[base]):.2f}" for base in bases),
        )
        for name, found in times.items()
    ]
    yield from _table(("", "p50 ms", "p95 ms", *(f"p50 over {base}" for base in bases)), rows)


def _about(figure: Figure) -> Iterator[str]:
    yield (
        f"Commit {figure['commit']}, {figure['at']}, {figure['cores']} × {figure['processor']}, "
        f"load {figure['load']} before.\n"
    )


def _table(heads: Sequence[str], rows: Rows) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "| --- |" + " ---: |" * (len(heads) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""
