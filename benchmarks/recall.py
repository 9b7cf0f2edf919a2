"""The pictures of docs/results.md: precision at eleven points of recall, as in the third paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figures
from esr.evaluation.report.picture import to_svg
from esr.evaluation.report.precision_recall import RECALL, Curves, build_picture

MEASURES = tuple(f"IPrec@{recall}" for recall in RECALL)


def write(figures: Figures, collection: str, names: Sequence[str], folder: Path) -> Path:
    """Draw the curves of one collection as an SVG file in the folder."""
    folder.mkdir(exist_ok=True)
    path = folder / f"recall-{collection}.svg"
    path.write_bytes(to_svg(build_picture(_curves(figures, collection, names))))
    return path


def _curves(figures: Figures, collection: str, names: Sequence[str]) -> Curves:
    return {
        name: tuple(figures.mean(collection, name, measure=measure) for measure in MEASURES) for name in names
    }
