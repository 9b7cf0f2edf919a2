"""Rankings with a name, for those who do not want to set one up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from esr import adjustments


@dataclass(frozen=True)
class Preset:
    """Arguments of the address that rank so, and what they do in a few words."""

    label: str
    help: str
    arguments: Mapping[str, str] = field(default_factory=dict)

    needs: frozenset[str] = frozenset()
    """Features of which sentences must have one."""

    def fits(self, features: Collection[str]) -> bool:
        """Whether an index with these features can answer it."""
        text = self.arguments.get("feature")
        needs = self.needs | ({adjustments.parse(text).feature} if text else set())
        return not needs or not needs.isdisjoint(features)


ANSWERS = frozenset({"pers", "loc", "org", "numbers"})
PRESETS = (
    Preset("Balanced", "the sentence, those beside it and its document"),
    Preset("Words alone", "the sentence by itself, with BM25", {"model": "bm25"}),
    Preset("Passage", "the sentence and those beside it", {"context": "surrounding"}),
    Preset("Long sentences", "more words in a sentence count for it", {"prior.length": "1"}),
    Preset("Leads first", "sentences near the top of their story", {"feature": "position:satu:-4:k=2"}),
    Preset("Questions", "answers to who, where, when, how many", {"boost": "answer_type"}, ANSWERS),
    Preset("Reports first", "sentences that hold no opinion", {"feature": "subj:step:-2"}),
    Preset("Opinions first", "sentences that hold an opinion", {"feature": "subj:step:2"}),
)


def offered(features: Collection[str]) -> list[Preset]:
    """Those that an index with these features can answer."""
    return [preset for preset in PRESETS if preset.fits(features)]
