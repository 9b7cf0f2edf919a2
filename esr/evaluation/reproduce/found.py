"""All that was computed, as the targets and the tables ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from esr.evaluation import significance
from esr.evaluation.reproduce.laboratory import Tested, Trained
from esr.evaluation.reproduce.protocol import Protocol
from esr.evaluation.reproduce.shares import Shape
from esr.evaluation.reproduce.year import Findings
from esr.evaluation.significance import Comparison

_RESAMPLES = 1  # it is the t-test that the papers used


@dataclass(frozen=True)
class Found:
    """`trained` by training year and system; `tested` by training year, test year and system.

    `readings` holds the AP of tfisf by year and reading of the protocol.
    """

    protocol: Protocol
    absent: list[str]
    shapes: Mapping[str, Shape]
    findings: Mapping[str, Findings]
    trained: Mapping[str, Mapping[str, Trained]]
    tested: Mapping[tuple[str, str], Mapping[str, Tested]]
    readings: Mapping[str, Mapping[str, float]]

    def of(self, train: str, test: str, system: str) -> Tested | None:
        """A system's figures, or None if there are none for these years."""
        return self.tested.get((train, test), {}).get(system)

    def untrained(self, test: str, system: str) -> Tested | None:
        """The figures of a system without parameters, from whatever training."""
        places = (place for place in self.tested if place[1] == test)
        return next((self.tested[place][system] for place in places), None)

    def setting(self, train: str, system: str) -> Mapping[str, object]:
        """The parameters that training chose; empty if it was not done."""
        chosen = self.trained.get(train, {}).get(system)
        return {} if chosen is None else chosen.ranking.params

    def compared(self, train: str, test: str, system: str, other: str, measure: str) -> Comparison | None:
        """A system against another one."""
        ours, theirs = self.of(train, test, system), self.of(train, test, other)
        if ours is None or theirs is None:
            return None
        return significance.compare(ours.values[measure], theirs.values[measure], resamples=_RESAMPLES)
