"""Write the figures of docs/figures.md and its pictures, from the raw figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import plots
from benchmarks.speed.figures import Figure, Figures
from benchmarks.speed.goals import GOALS, median_of_loads, median_rate, median_start_time
from benchmarks.speed.timing import p50, p95
from benchmarks.speed.workspace import HEADLINES, RESULT_SIZES

# Parts of a page that several sections share: tables, and the lines above and below them.


Rows = Sequence[Sequence[str]]


def table(heads: Sequence[str], rows: Rows) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "| --- |" + " ---: |" * (len(heads) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def comparison(
    times: Mapping[str, Sequence[float]], bases: Sequence[str] = ("bm25s", "tantivy")
) -> Iterator[str]:
    """Percentiles, and medians relative to those of the bases."""
    rows = [
        (
            name,
            f"{p50(of_peer):.3g}",
            f"{p95(of_peer):.3g}",
            *(f"{p50(of_peer) / p50(times[base]):.2f}" for base in bases),
        )
        for name, of_peer in times.items()
    ]
    yield from table(("", "p50 ms", "p95 ms", *(f"p50 over {base}" for base in bases)), rows)


def environment(figure: Figure) -> Iterator[str]:
    yield (
        f"Commit {figure['commit']}, {figure['at']}, {figure['cores']} × {figure['processor']}, "
        f"load {figure['load']} before.\n"
    )


def pruning(answers: Mapping[str, Any]) -> Iterator[str]:
    """The numbers of matching and scored sentences, and of answers that pruning changed, as text."""
    yield (
        f"A median of {np.median(answers['matches']):,.0f} sentences match and "
        f"{np.median(answers['scored']):,.0f} are scored. In {answers['differ']} of "
        f"{len(answers['matches'])} queries the pruned answer differs from that of scoring everything; "
        f"{answers['exhaustive']} could not be pruned.\n"
    )


# The sections of docs/figures.md on searches.


def latency(figures: Figures, pictures: Path) -> Iterator[str]:
    for k in RESULT_SIZES:
        figure = figures.get("latency", k)
        if figure is None:
            continue
        yield f"## Embedded, top {k}\n"
        yield from environment(figure)
        yield from comparison(figure["times"])
        yield from pruning(figure["answers"])
        if k == RESULT_SIZES[-1]:
            path = plots.write("latency-matches", plots.plot_latency_by_matches(figure), pictures)
            yield f"![Time of a search against the sentences that match](pictures/{path.name})\n"
            plots.write_light_and_dark("peers", plots.plot_peers(figures.all_of("latency")), pictures)


def growth(figures: Figures, pictures: Path) -> Iterator[str]:
    records = figures.all_of("growth")
    if not records:
        return
    yield "## Growth\n"
    yield from environment(records[-1])
    heads = ("", "sentences", "matches", "p50 ms", "p95 ms", "p50 over the smallest")
    yield from table(heads, [row for figure in records for row in _growth_rows(figure)])
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
    yield "## Terms that were never asked for\n"
    yield from environment(figure)
    rows = [(name, f"{p50(times):.3g}", f"{p95(times):.3g}") for name, times in figure["times"].items()]
    yield from table(("top 10", "p50 ms", "p95 ms"), rows)


def models(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("models", RESULT_SIZES[-1])
    if figure is None:
        return
    yield f"## Every model, top {RESULT_SIZES[-1]}\n"
    yield from environment(figure)
    yield from comparison(figure["times"])
    unpruned = [name for name, count in figure["exhaustive"].items() if count]
    if unpruned:
        yield f"Scored exhaustively in some query: {', '.join(unpruned)}.\n"


def recall(figures: Figures, pictures: Path) -> Iterator[str]:
    records = [figure for k in RESULT_SIZES if (figure := figures.get("recall", k))]
    if not records:
        return
    yield "## Recall against time\n"
    yield from environment(records[-1])
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
    yield from table(("", "share of the exact answer", "p50 ms", "p95 ms"), rows)
    path = plots.write("recall-time", plots.plot_recall_by_time(records), pictures)
    yield f"![Share of the exact answer against time](pictures/{path.name})\n"


def rerank(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("rerank")
    if figure is None:
        return
    yield f"## Reranking {figure['depth']:,} candidates\n"
    yield from environment(figure)
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
    yield from table(("", "signals", "p50 ms", "p95 ms", "p50 added to the first stage"), rows)
    if figure["parser loaded"]:
        yield "The parser was loaded while queries were answered, which it should not be.\n"


# The sections of docs/figures.md on servers, loads and the start of a process.


_MEMORY = ("MB imported", "opened", "after 1 search", "after 100", "after 1,000")


def elasticsearch(figures: Figures, pictures: Path) -> Iterator[str]:
    for key, name in (("", "queries of 2 to 6 terms"), (HEADLINES, "headlines as they come")):
        if figure := figures.get("elasticsearch", key):
            yield f"## Elasticsearch, {name}\n"
            yield from _elasticsearch(figure)


def _elasticsearch(figure: Figure) -> Iterator[str]:
    yield from environment(figure)
    yield from comparison(figure["times"], ("match, top 100", "match in esr's index, top 100"))
    yield from pruning(figure["answers"])
    index_bytes = figure["bytes"]
    sentences, documents, plain = (index_bytes[name] / 1e6 for name in ("sentences", "documents", "plain"))
    yield (
        f"Version {figure['version']}. esr's indexes take {sentences:,.0f} MB (sentences) and "
        f"{documents:,.0f} MB (documents), the plain one {plain:,.0f} MB.\n"
    )


def servers(figures: Figures, pictures: Path) -> Iterator[str]:
    page, throughput_figure = figures.get("page"), figures.get("throughput")
    if page is not None:
        yield "## The page, one user\n"
        yield from environment(page)
        rows = [(name, f"{p50(times):.3g}", f"{p95(times):.3g}") for name, times in page["times"].items()]
        yield from table(("", "p50 ms", "p95 ms"), rows)
    if throughput_figure is not None:
        yield f"## Queries a second, {throughput_figure['clients']} clients\n"
        yield from environment(throughput_figure)
        throughput = []
        for name, runs in throughput_figure["runs"].items():
            cost = np.median([1000 * run["processor"] / run["answered"] for run in runs])
            failed = sum(run["failed"] for run in runs)
            throughput.append(
                (name, f"{median_rate(throughput_figure, name):,.0f}", f"{cost:.3g}", f"{failed}")
            )
        yield from table(
            ("", "answers a second", "ms of processor time a client needs for one", "failed"), throughput
        )


def command(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("command")
    if figure is None:
        return
    yield "## A search as a process\n"
    yield from environment(figure)
    yield from comparison(figure["times"], ("import numpy",))


def loading(figures: Figures, pictures: Path) -> Iterator[str]:
    figure = figures.get("loading")
    if figure is None:
        return
    yield "## Loading\n"
    yield from environment(figure)
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
    yield from table(("", "seconds", "processor seconds", "sentences a second", "bytes a sentence"), rows)


def opening(figures: Figures, pictures: Path) -> Iterator[str]:
    records = figures.all_of("opening")
    if not records:
        return
    yield "## Opening, and memory\n"
    yield from environment(records[-1])
    heads = ("sentences", "import, ms", "open, ms", "first search, ms", "both, ms", *_MEMORY)
    yield from table(heads, _opening_rows(records))


def _opening_rows(figures: Sequence[Figure]) -> Rows:
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


BEGIN, END = "<!-- figures: python -m benchmarks.speed -->", "<!-- end of figures -->"
SECTIONS = (
    latency,
    growth,
    cold,
    models,
    recall,
    elasticsearch,
    rerank,
    servers,
    command,
    loading,
    opening,
)


def write(figures: Figures, page: Path) -> None:
    """Replace the part between the marks of the page."""
    before, rest = page.read_text("utf-8").split(BEGIN, 1)
    goals = [goal.row(figures) for goal in GOALS]
    lines = [BEGIN, "", *table(("what", "goal", "measured", "met"), goals)]
    for section in SECTIONS:
        lines += section(figures, page.parent / "pictures")
    lines.append(END)
    page.write_text(before + "\n".join(lines) + rest.split(END, 1)[1], "utf-8")
