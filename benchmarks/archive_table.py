"""The tables of docs/periods.md about the largest archive that `benchmarks.scale --archive` has measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.scale import ARCHIVE, SERVER_ARCHIVE
from benchmarks.speed import figures
from benchmarks.speed.figures import ROOT
from esr.lab.commands.capacity import format_value

PAGE = ROOT / "docs" / "periods.md"
RAW = ROOT / "docs" / "capacity.jsonl"
SEARCHES = (
    ("first, top 10", "best 10 of terms that were never asked for"),
    ("top 10", "best 10"),
    ("top 100", "best 100"),
    ("top 10, one filter", "best 10 with one filter"),
    ("top 10, four filters", "best 10 with four filters"),
    ("top 100, one filter", "best 100 with one filter"),
    ("top 100, four filters", "best 100 with four filters"),
    ("first page with facets", "a first page with counts and facets"),
    ("timeline", "a timeline with its peaks"),
    ("timeline of a frequent word", "the same of a frequent word"),
    ("concordance of a frequent word", "a concordance of a frequent word"),
)
"""The names of searches in the figures, and in the table."""
GOALS = {
    "load": "3 h",
    "bytes": "60 GB",
    "memory": "6 GB",
    "open": "2 s",
    "top 10": "60 and 300 ms",
    "append": "3 s",
}
"""What was asked of 100 million sentences on two processors with 24 GB."""
_HEAD, _RULE = "head", "rule"
"""The names of the two rows above the figures."""


def read_largest(part: str) -> dict[str, Any] | None:
    """The last figures of the largest archive of a part of the figures, None if none was measured."""
    measured = figures.Figures(figures.read(RAW)).all_of(part)
    return max(measured, key=lambda figure: int(figure["load"]["sentences"]), default=None)


def archive_rows() -> Iterator[list[str]]:
    """Cells of the goals, and of what was measured of a folder."""
    figure, goals = read_largest(ARCHIVE), {_HEAD: "goal", _RULE: "---:", **GOALS}
    for name, description, *cells in [] if figure is None else _rows(figure):
        yield [description, goals.get(name, ""), *cells]


def server_rows() -> Iterator[list[str]]:
    """Cells of what was measured of a node."""
    figure = read_largest(SERVER_ARCHIVE)
    for _, description, *cells in [] if figure is None else _rows(figure):
        yield [description, *cells]


def _rows(figure: dict[str, Any]) -> Iterator[list[str]]:
    """The name of each row, which may have a goal, and its cells."""
    loading, search, changes = figure["load"], figure["search"], figure["changes"]
    sentences = loading["sentences"]
    loads = [sample["load"] for sample in figure["timeline"]]
    yield [_HEAD, f"{sentences:,} sentences", "wall clock", "processor", "load"]
    yield [_RULE, "---", *["---:"] * 3]
    rate = f"{sentences / loading['seconds']:,.0f} sentences a second"
    yield ["load", f"load, {rate}", *_seconds(loading), f"{min(loads):.0f} to {max(loads):.0f}"]
    yield ["bytes", "size", format_value(figure["bytes"], "B"), "", ""]
    yield ["memory", "memory of the loader, and after all searches", _memory(figure), "", ""]
    load = f"{search['load']:.0f}"
    for name, description in (("open", "opening"), ("opened", "with a first search")):
        times = (format_value(search[key] / 1000, "s") for key in (name, f"{name} thread"))
        yield [name, description, *times, load]
    for name, description in SEARCHES:
        pairs = (_pair(search["ms"][name], suffix) for suffix in ("", " thread"))
        yield [name, description, *pairs, load]
    for name, description in (
        ("append", "append 1,000 documents to the last month"),
        ("remove", "remove a document of the first month"),
        ("verify", "verify all files"),
    ):
        step = changes[name]
        yield [name, description, *_seconds(step), f"{step['load']:.0f}"]


def timeline_rows() -> Iterator[list[str]]:
    """Cells of the timeline of memory and disk while the archive was loaded."""
    figure = read_largest(ARCHIVE)
    if figure is None:
        return
    yield ["after", "documents", "private memory", "with mapped files", "index on disk", "load"]
    yield ["---:"] * 6
    for sample in figure["timeline"]:
        sizes = (format_value(sample[name], "B") for name in ("own", "resident", "bytes"))
        after = f"{sample['seconds'] / 60:.1f} min"
        yield [after, f"{sample['documents']:,}", *sizes, f"{sample['load']:.0f}"]


def _seconds(step: dict[str, float]) -> list[str]:
    return [format_value(step[name], "s") for name in ("seconds", "processor_seconds")]


def _pair(times: dict[str, float], suffix: str) -> str:
    return " and ".join(format_value(times[f"p{percent}{suffix}"] / 1000, "s") for percent in (50, 95))


def _memory(figure: dict[str, Any]) -> str:
    loader, searching = figure["load"]["memory"], figure["search"]["memory"]["end"]["own"]
    return f"{format_value(loader * 1e6, 'B')} and {format_value(searching * 1e6, 'B')}"
