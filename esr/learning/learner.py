"""The interface of learners, and their registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from esr.learning import lambdamart, linear
from esr.learning.signal_table import SignalTable
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal


class LearnedModel(Protocol):
    """A learned model: it scores candidates (T, D), rates each signal (S,), and becomes a ranking."""

    @property
    def signals(self) -> tuple[RankingSignal, ...]: ...
    @property
    def importance(self) -> Array: ...
    def scores(self, table: SignalTable) -> Array: ...
    def ranking(self, base: Ranking, depth: int) -> Ranking: ...


Learner = Callable[[SignalTable, Sequence[RankingSignal], int], LearnedModel]
LEARNERS: dict[str, Learner] = {"linear": linear.fit, "lambdamart": lambdamart.fit}
"""By name, from topics, their signals and a seed to a model."""
