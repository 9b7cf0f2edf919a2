"""The results of the experiment, with the queries of targets and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from esr.evaluation.reproduce.protocol import Protocol
from esr.evaluation.reproduce.second_task import SecondTask
from esr.evaluation.reproduce.year import Findings
from esr.evaluation.reproduce.year_experiment import SystemFigures, TrainedSystem
from esr.evaluation.reproduce.year_statistics import YearStatistics
from esr.evaluation.significance import SystemComparison, compare_systems

_RESAMPLES = 1  # the papers used the t-test only


@dataclass(frozen=True)
class ExperimentResults:
    """`trained` by training year and system; `tested` by training year, test year and system.

    `interpretations` has the AP of tfisf by year and interpretation of the protocol.
    `second_task` has the years with judgements of what is new.
    """

    protocol: Protocol
    absent: list[str]
    statistics: Mapping[str, YearStatistics]
    findings: Mapping[str, Findings]
    trained: Mapping[str, Mapping[str, TrainedSystem]]
    tested: Mapping[tuple[str, str], Mapping[str, SystemFigures]]
    interpretations: Mapping[str, Mapping[str, float]]
    second_task: Mapping[str, SecondTask] = field(default_factory=dict)

    def figures(self, train: str, test: str, system: str) -> SystemFigures | None:
        """A system's figures, or None if there are none for these years."""
        return self.tested.get((train, test), {}).get(system)

    def untrained_figures(self, test: str, system: str) -> SystemFigures | None:
        """The figures of a system without parameters, which no training year affects."""
        pairs = (pair for pair in self.tested if pair[1] == test)
        return next((self.tested[pair][system] for pair in pairs), None)

    def parameters(self, train: str, system: str) -> Mapping[str, object]:
        """The trained parameters; empty without training."""
        trained = self.trained.get(train, {}).get(system)
        return {} if trained is None else trained.ranking.params

    def compare(
        self, train: str, test: str, system: str, other: str, measure: str
    ) -> SystemComparison | None:
        """A system compared with another one, or None without figures."""
        ours, theirs = self.figures(train, test, system), self.figures(train, test, other)
        if ours is None or theirs is None:
            return None
        return compare_systems(ours.values[measure], theirs.values[measure], resamples=_RESAMPLES)
