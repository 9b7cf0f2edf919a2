"""Write the figures of docs/performance.md and its pictures, from the raw figures."""

from __future__ import annotations

from pathlib import Path

from benchmarks.speed import search_sections, server_sections, tables
from benchmarks.speed.figures import Figures
from benchmarks.speed.goals import GOALS

BEGIN, END = "<!-- figures: python -m benchmarks.speed -->", "<!-- end of figures -->"
SECTIONS = (
    search_sections.latency,
    search_sections.growth,
    search_sections.cold,
    search_sections.models,
    search_sections.recall,
    server_sections.elasticsearch,
    search_sections.rerank,
    server_sections.servers,
    server_sections.command,
    server_sections.loading,
    server_sections.opening,
)


def write(figures: Figures, page: Path) -> None:
    """Replace the part between the marks of the page."""
    before, rest = page.read_text("utf-8").split(BEGIN, 1)
    goals = [goal.row(figures) for goal in GOALS]
    lines = [BEGIN, "", *tables.table(("what", "goal", "measured", "met"), goals)]
    for section in SECTIONS:
        lines += section(figures, page.parent / "pictures")
    lines.append(END)
    page.write_text(before + "\n".join(lines) + rest.split(END, 1)[1], "utf-8")
