"""The pictures of docs/results.md: precision at eleven points of recall, as in the third paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figures
from esr.lab.report.page import to_svg
from esr.lab.report.rankings import RECALL, Curves, build_precision_recall

MEASURES = tuple(f"IPrec@{recall}" for recall in RECALL)


def write(figures: Figures, collection: str, names: Sequence[str], folder: Path) -> Path:
    """Draw the curves of one collection as an SVG file in the folder."""
    folder.mkdir(exist_ok=True)
    path = folder / f"recall-{collection}.svg"
    path.write_bytes(to_svg(build_precision_recall(_curves(figures, collection, names))))
    return path


def _curves(figures: Figures, collection: str, names: Sequence[str]) -> Curves:
    return {
        name: tuple(figures.mean(collection, name, measure=measure) for measure in MEASURES) for name in names
    }
