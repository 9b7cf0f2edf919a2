"""What a learner is, and those that there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from esr.learning import lambdamart, linear
from esr.learning.table import Table
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal


class Learned(Protocol):
    """What was learned: scores of candidates (T, D), the worth of each signal (S,), a ranking to save."""

    @property
    def signals(self) -> tuple[RankingSignal, ...]: ...
    @property
    def importance(self) -> Array: ...
    def scores(self, table: Table) -> Array: ...
    def ranking(self, base: Ranking, depth: int) -> Ranking: ...


Learner = Callable[[Table, Sequence[RankingSignal], int], Learned]
LEARNERS: dict[str, Learner] = {"linear": linear.fit, "lambdamart": lambdamart.fit}
"""By name: from topics, their signals and a seed to what was learned."""
