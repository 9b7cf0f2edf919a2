"""The signals for learning, from the registries: models in their contexts, priors, features, term dependence
and meaning, all with default parameters."""

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
"""The forms of features that are not linear in a linear ranking, because their values vary widely."""
GROUPS = ("models", "priors", "features", "term dependence", "meaning")


def list_signals(index: Index, base: Ranking) -> tuple[RankingSignal, ...]:
    """All signals that an index has values of, except the features and priors that the base already uses."""
    stored = {*BUILTIN_FEATURES, *index.features()}
    names = [*signal_types(), *(FEATURE + name for name in features.FEATURES if name in stored)]
    used = {FEATURE + feature.feature for feature in base.features} | {PRIOR + name for name in base.priors}
    signals = (RankingSignal(name) for name in names if name not in used)
    return tuple(signal for signal in signals if signal.type.has_values(index))


def select_signals(signals: Sequence[RankingSignal], texts: Sequence[str]) -> tuple[RankingSignal, ...]:
    """The signals with these names or groups; all signals if there are no texts. Raises UsageError."""
    names = [signal.signal for signal in signals]
    selected: set[str] = set()
    for text in texts:
        matches = [signal.signal for signal in signals if text in (signal.signal, signal.type.group)]
        if not matches:
            raise unknown("signal of the index", text, [*GROUPS, *names])
        selected.update(matches)
    return tuple(signal for signal in signals if not texts or signal.signal in selected)


def to_adjustment(signal: RankingSignal, weight: float = 1.0) -> Adjustment:
    """A feature's signal as an adjustment of the first stage."""
    feature = signal.signal.removeprefix(FEATURE)
    return Adjustment(feature, FORMS.get(feature, "linear"), {"w": weight})


def is_feature(signal: RankingSignal) -> bool:
    return signal.signal.startswith(FEATURE)


def is_prior(signal: RankingSignal) -> bool:
    return signal.signal.startswith(PRIOR)
