"""Rankings with a name, for users who do not want to set one up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from esr import adjustments
from esr.documents.enrichment import VECTORS
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from webui.arguments.ranking_arguments import parse_ranking


@dataclass(frozen=True)
class Preset:
    """A ranking as arguments of an address, with a label and a short explanation.

    `needs`: features of which the index must have at least one, or a part of enrichment.
    """

    label: str
    help: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()

    def fits(self, index_features: Collection[str]) -> bool:
        """Whether an index with these features can answer it."""
        text = self.arguments.get("feature")
        needs = self.needs | ({adjustments.parse(text).feature} if text else set())
        return not needs or not needs.isdisjoint(index_features)


def _as_text(signal: RankingSignal) -> str:
    settings = signal.settings()
    values = [f"{name}={value:g}" for name, value in settings.items() if name != "w"]
    return ":".join([signal.signal, f"{signal.weight:g}", *values])


_ANSWER_FEATURES = frozenset({"pers", "loc", "org", "numbers"})
_HYBRID = Ranking.from_file("hybrid")
BY_MEANING = {"rerank": _as_text(_HYBRID.rerank[0]), "depth": str(_HYBRID.depth)}
"""The arguments that rank by words and meaning."""
PRESETS = (
    Preset("Balanced", "the sentence, its neighbours and its document"),
    Preset("Words alone", "the sentence alone, with BM25", {"model": "bm25"}),
    Preset(
        "Words and meaning",
        "also sentences that say it in other words",
        BY_MEANING,
        frozenset({VECTORS}),
    ),
    Preset("Passage", "the sentence and its neighbours", {"context": "surrounding"}),
    Preset("Long sentences", "longer sentences rank higher", {"prior.length": "1"}),
    Preset(
        "Leads first",
        "sentences near the top of their story rank higher",
        {"feature": "position:satu:-4:k=2"},
    ),
    Preset("Questions", "answers to who, where, when, how many", {"boost": "answer_type"}, _ANSWER_FEATURES),
    Preset("Reports first", "sentences without opinions rank higher", {"feature": "subj:step:-2"}),
    Preset("Opinions first", "sentences with opinions rank higher", {"feature": "subj:step:2"}),
)


def available_presets(index_features: Collection[str]) -> list[Preset]:
    """The presets that an index with these features and parts of enrichment can answer."""
    return [preset for preset in PRESETS if preset.fits(index_features)]


def ranking_label(ranking: Ranking) -> str | None:
    """The label of the preset that ranks so, if there is one."""
    return next((label for label, of_preset in _preset_rankings() if of_preset == ranking), None)


@cache
def _preset_rankings() -> list[tuple[str, Ranking]]:
    """The labels of the presets and what their arguments ask for, which never changes."""
    arguments = ((p.label, {name: [value] for name, value in p.arguments.items()}) for p in PRESETS)
    return [(label, parse_ranking(of_preset)) for label, of_preset in arguments]


def preset_label(arguments: Sequence[tuple[str, str]]) -> str | None:
    """The label of the preset with exactly these arguments of a ranking, if there is one."""
    return next((p.label for p in PRESETS if sorted(p.arguments.items()) == sorted(arguments)), None)
