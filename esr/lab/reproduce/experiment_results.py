"""The results of an experiment that the claims of the papers are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from esr.lab.curves import Estimates
from esr.lab.reproduce.protocol import Protocol, SystemFigures, TrainedSystem
from esr.lab.reproduce.second_task import SecondTask
from esr.lab.reproduce.year import Findings, YearStatistics
from esr.lab.significance import SystemComparison, compare_systems

_RESAMPLES = 0  # the papers use only the t-test


class Example(NamedTuple):
    """A sentence of a topic, and its rank under systems of a training year; None if it is not ranked."""

    train: str
    topic: str
    sentence: str
    ranks: Mapping[str, int | None]


class Promotion(NamedTuple):
    """Mean ranks of a topic's subjective and objective sentences under tfisf, and under linear(subj).

    A sentence counts if both systems rank it.
    """

    topic: str
    subjective: tuple[float, float]
    objective: tuple[float, float]


@dataclass(frozen=True)
class ExperimentResults:
    """All results: `trained` by training year and system, `tested` by training and test year and system.

    `pooled` has the systems of the fourth paper over the topics of both years, by CROSSED and the reading of
    the collection. `curves` are by training year, base and feature; `kinds` are those of topics.
    `interpretations` has the AP of tfisf by year and interpretation of the protocol. `second_task` has only
    the years with judgements of new sentences. `absent` has the years without data.
    """

    protocol: Protocol
    absent: list[str]
    statistics: Mapping[str, YearStatistics]
    findings: Mapping[str, Findings]
    trained: Mapping[str, Mapping[str, TrainedSystem]]
    tested: Mapping[tuple[str, str], Mapping[str, SystemFigures]]
    interpretations: Mapping[str, Mapping[str, float]]
    second_task: Mapping[str, SecondTask] = field(default_factory=dict)
    pooled: Mapping[tuple[str, str], Mapping[str, SystemFigures]] = field(default_factory=dict)
    curves: Mapping[tuple[str, str, str], Estimates] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    examples: Mapping[str, Sequence[Example]] = field(default_factory=dict)
    promotions: Mapping[tuple[str, str], Sequence[Promotion]] = field(default_factory=dict)
    _compared: dict[tuple[str | None, ...], SystemComparison | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def figures(self, train: str, test: str, system: str) -> SystemFigures | None:
        """A system's figures, or None without figures for these years."""
        both = self.tested if (train, test) in self.tested else self.pooled
        return both.get((train, test), {}).get(system)

    def untrained_figures(self, test: str, system: str) -> SystemFigures | None:
        """The figures of a system without parameters. They are the same for every training year."""
        pairs = (pair for pair in self.tested if pair[1] == test)
        return next((self.tested[pair][system] for pair in pairs), None)

    def parameters(self, train: str, system: str) -> Mapping[str, object]:
        """The trained parameters; empty if the system was not trained."""
        trained = self.trained.get(train, {}).get(system)
        return {} if trained is None else trained.ranking.params

    def values(
        self, train: str, test: str, system: str, measure: str, kind: str | None = None
    ) -> dict[str, float] | None:
        """A system's values by topic, of all topics or of one kind; None without any."""
        figures = self.figures(train, test, system)
        if figures is None:
            return None
        by_topic = figures.values[measure]
        return {t: v for t, v in by_topic.items() if kind in (None, self.kinds.get(t))} or None

    def compare(
        self, train: str, test: str, system: str, other: str, measure: str, kind: str | None = None
    ) -> SystemComparison | None:
        """A system compared with another one, or None if either has no figures."""
        key = train, test, system, other, measure, kind
        if key not in self._compared:
            self._compared[key] = self._compare(*key)
        return self._compared[key]

    def _compare(
        self, train: str, test: str, system: str, other: str, measure: str, kind: str | None
    ) -> SystemComparison | None:
        ours = self.values(train, test, system, measure, kind)
        theirs = self.values(train, test, other, measure, kind)
        if ours is None or theirs is None:
            return None
        return compare_systems(ours, theirs, resamples=_RESAMPLES)
