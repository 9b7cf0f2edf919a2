"""Write the tables of docs/capacity.md and, of an archive, docs/periods.md: `python -m benchmarks.capacity`.

They are made from `esr/lab/measurements.json`, whose figures come from `benchmarks.scale` and
`benchmarks.scale_elasticsearch`, and from docs/capacity.jsonl. The text around them is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import archive_table
from esr.lab.commands.capacity import (
    QUANTITIES,
    CapacityEstimate,
    Growth,
    elasticsearch_growth,
    estimate_elasticsearch,
    estimate_folder,
    format_need,
    format_value,
    growth,
    read_elasticsearch,
    read_points,
)

PAGE = Path(__file__).resolve().parents[1] / "docs" / "capacity.md"
PAGES = (PAGE, archive_table.PAGE)
SIZES = (1e7, 1e8, 1e9)
QUERIES_PER_SECOND = 50
_TABLE = re.compile(r"(<!-- (\w+): python -m benchmarks.capacity -->\n)(?:\|.*\n)*")


def fill(page: str) -> str:
    """The page, with each table after its mark."""
    return _TABLE.sub(lambda match: match[1] + "".join(TABLES[match[2]]()), page)


def _measured() -> Iterator[str]:
    points = read_points()
    yield _row(["a folder", *(f"{point.sentences:,} sentences" for point in points)])
    yield _row(["---", *("---:" for _ in points)])
    for quantity in QUANTITIES.values():
        values = (format_value(point.values[quantity.name], quantity.unit) for point in points)
        yield _row([quantity.description, *values])


def _growth() -> Iterator[str]:
    points = read_points()
    largest = points[-1]
    yield _row(["", "growth", f"predicted for {largest.sentences:,}", "measured", "ratio"])
    yield _row(["---", "---", "---:", "---:", "---:"])
    for quantity in QUANTITIES.values():
        predicted = growth(quantity.name, points[:-1]).at(largest.sentences)
        measured = largest.values[quantity.name]
        yield _row(
            [
                quantity.description,
                _describe(growth(quantity.name)),
                format_value(predicted, quantity.unit),
                format_value(measured, quantity.unit),
                f"{predicted / measured:.2f}",
            ]
        )


def _plans(estimate: Callable[[float, float], CapacityEstimate]) -> Iterator[str]:
    sizes = [f"{size:,.0f} sentences" for size in SIZES]
    yield _row(["", *sizes])
    yield _row(["---", *("---:" for _ in sizes)])
    for needs in zip(*(estimate(size, QUERIES_PER_SECOND).needs for size in SIZES), strict=True):
        yield _row([needs[0].name, *map(format_need, needs)])


def _shards() -> Iterator[str]:
    *smaller, largest = read_elasticsearch().points
    yield _row(["one shard of one node", "sentences", "bytes a sentence", "search, median"])
    yield _row(["---", *["---:"] * 3])
    for point in (*smaller, largest):
        size = f"{point.values['bytes'] / point.sentences:,.0f}"
        seconds = format_value(point.values["search_p50"], "s")
        yield _row(["measured", f"{point.sentences:,}", size, seconds])
    predicted, median = (
        elasticsearch_growth(name, tuple(smaller)).at(largest.sentences) for name in ("bytes", "search_p50")
    )
    size, seconds = f"{predicted / largest.sentences:,.0f}", format_value(median, "s")
    cells = [f"{largest.sentences:,}", size, seconds]
    yield _row(["predicted by the smaller ones", *cells])


def _describe(growth: Growth) -> str:
    return "linear" if growth.exponent == 1 else f"power {growth.exponent:.2f}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "measured": _measured,
    "growth": _growth,
    "folder": lambda: _plans(estimate_folder),
    "elasticsearch": lambda: _plans(estimate_elasticsearch),
    "shards": _shards,
    "archive": lambda: map(_row, archive_table.archive_rows()),
    "server": lambda: map(_row, archive_table.server_rows()),
    "timeline": lambda: map(_row, archive_table.timeline_rows()),
}
"""The tables by the name in their marks."""


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(fill(page.read_text("utf-8")), "utf-8")
