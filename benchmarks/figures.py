"""Figures of a comparison, by collection, ranking and source of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from esr.evaluation.significance import compare_systems, correct_p_values

BASELINE = "tfisf"


class Figures:
    """What `esr compare` wrote, to be asked for."""

    def __init__(self, cells: Sequence[Mapping[str, Any]]) -> None:
        self._cells: dict[tuple[str, str, str], dict[str, Any]] = {}
        for cell in cells:  # the same ranking may stand there twice, with other measures
            at = (cell["collection"], cell["ranking"], cell["parameters"])
            known = self._cells.setdefault(at, {**cell, "measures": {}, "values": {}})
            known["measures"].update(cell["measures"])
            known["values"].update(cell["values"])

    def mean(self, collection: str, ranking: str, source: str = "tuned", measure: str = "AP") -> float:
        return float(self._cells[collection, ranking, source]["measures"][measure])

    def values(self, collection: str, ranking: str, source: str, measure: str) -> dict[str, float]:
        return dict(self._cells[collection, ranking, source]["values"][measure])

    def parameter(self, collection: str, ranking: str, name: str) -> list[float]:
        """What each fold chose."""
        return [float(setting[name]) for setting in self._cells[collection, ranking, "tuned"]["settings"]]

    def p(self, collection: str, one: str, other: str, source: str = "tuned", measure: str = "AP") -> float:
        """The p-value of the paired t-test, uncorrected; 1 where nothing differs."""
        first = self.values(collection, one, source, measure)
        second = self.values(collection, other, source, measure)
        found = compare_systems(first, second, resamples=1).t_test
        return 1.0 if found is None or np.isnan(found) else float(found)

    def marks(self, collection: str, rankings: Sequence[str], source: str, measure: str) -> dict[str, str]:
        """Differences from the baseline, as stars that Markdown shows as they are."""
        against = self.values(collection, BASELINE, source, measure)
        others = [name for name in rankings if name != BASELINE]
        tests = [
            compare_systems(self.values(collection, name, source, measure), against, resamples=1)
            for name in others
        ]
        found = {name: test.mark for name, test in zip(others, correct_p_values(tests), strict=True)}
        return {name: found.get(name, "").replace("*", "\\*") for name in rankings}
