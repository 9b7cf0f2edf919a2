"""Figures of a comparison, by collection, ranking and source of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from esr.lab.measures import compare_systems, correct_p_values

BASELINE = "tfisf"


class Figures:
    """Access to the cells that `esr compare` writes."""

    def __init__(self, cells: Sequence[Mapping[str, Any]]) -> None:
        self._cells: dict[tuple[str, str, str], dict[str, Any]] = {}
        for cell in cells:  # a ranking may have several cells, with different measures
            key = (cell["collection"], cell["ranking"], cell["parameters"])
            merged = self._cells.setdefault(key, {**cell, "measures": {}, "values": {}})
            merged["measures"].update(cell["measures"])
            merged["values"].update(cell["values"])

    def mean(self, collection: str, ranking: str, source: str = "tuned", measure: str = "AP") -> float:
        return float(self._cells[collection, ranking, source]["measures"][measure])

    def values(self, collection: str, ranking: str, source: str, measure: str) -> dict[str, float]:
        return dict(self._cells[collection, ranking, source]["values"][measure])

    def parameter(self, collection: str, ranking: str, name: str) -> list[float]:
        """The tuned value of a parameter in each fold."""
        return [float(setting[name]) for setting in self._cells[collection, ranking, "tuned"]["settings"]]

    def p_value(
        self, collection: str, ranking: str, other: str, source: str = "tuned", measure: str = "AP"
    ) -> float:
        """The p-value of the paired t-test, uncorrected; 1 if the rankings do not differ."""
        ours = self.values(collection, ranking, source, measure)
        theirs = self.values(collection, other, source, measure)
        p = compare_systems(ours, theirs, resamples=1).t_test
        return 1.0 if np.isnan(p) else p

    def marks(self, collection: str, rankings: Sequence[str], source: str, measure: str) -> dict[str, str]:
        """Significance marks of differences from the baseline, escaped for Markdown."""
        baseline = self.values(collection, BASELINE, source, measure)
        others = [name for name in rankings if name != BASELINE]
        tests = [
            compare_systems(self.values(collection, name, source, measure), baseline, resamples=1)
            for name in others
        ]
        marks = {name: test.mark for name, test in zip(others, correct_p_values(tests), strict=True)}
        return {name: marks.get(name, "").replace("*", "\\*") for name in rankings}
