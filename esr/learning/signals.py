"""The signals that a learner looks at, from the registries: models in their contexts, priors, features,
term dependence, all with their default parameters."""

from __future__ import annotations

from collections.abc import Sequence

from esr import features
from esr.adjustments import Adjustment
from esr.adjustments.adjustment import BUILTIN_FEATURES
from esr.engines.index import Index
from esr.errors import unknown
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from esr.ranking.signal_types import FEATURE, PRIOR, signal_types

FORMS = {"len": "log", "position": "log"}
"""What a linear ranking adds for a feature, where it is not the number itself: both are of many sizes."""
GROUPS = ("models", "priors", "features", "term dependence")


def known(index: Index, base: Ranking) -> tuple[RankingSignal, ...]:
    """All signals that an index has, but for the features and priors that the base ranking uses already."""
    stored = {*BUILTIN_FEATURES, *index.features()}
    names = [*signal_types(), *(FEATURE + name for name in features.FEATURES if name in stored)]
    used = {FEATURE + each.feature for each in base.features} | {PRIOR + name for name in base.priors}
    return tuple(RankingSignal(name) for name in names if name not in used)


def chosen(every: Sequence[RankingSignal], texts: Sequence[str]) -> tuple[RankingSignal, ...]:
    """Those that are named, by name or by group; all if nothing is. Raises UsageError for an unknown name."""
    names = [each.signal for each in every]
    wanted: set[str] = set()
    for text in texts:
        found = [each.signal for each in every if text in (each.signal, each.type.group)]
        if not found:
            raise unknown("signal of the index", text, [*GROUPS, *names])
        wanted.update(found)
    return tuple(each for each in every if not texts or each.signal in wanted)


def adjustment(signal: RankingSignal, weight: float = 1.0) -> Adjustment:
    """A feature's signal as a part of the first stage."""
    feature = signal.signal.removeprefix(FEATURE)
    return Adjustment(feature, FORMS.get(feature, "linear"), {"w": weight})


def is_feature(signal: RankingSignal) -> bool:
    return signal.signal.startswith(FEATURE)


def is_prior(signal: RankingSignal) -> bool:
    return signal.signal.startswith(PRIOR)
