"""The rule of Riloff & Wiebe (EMNLP 2003) by which OpinionFinder labels sentences, from counts of clues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from esr.enrichment.annotation import Annotation
from esr.features.lexicon import Lexicon

SUBJECTIVE, UNKNOWN, OBJECTIVE = 1.0, 0.5, 0.0


class Counts(NamedTuple):
    strong: int
    weak: int


def labels(sentences: Sequence[Annotation | None], lexicon: Lexicon) -> list[float | None]:
    """SUBJECTIVE: two strong clues or more. OBJECTIVE: no strong clue, at most one strong clue in the
    sentences before and after together, and at most two weak ones in all three. Else UNKNOWN."""
    counted = [None if sentence is None else count(sentence, lexicon) for sentence in sentences]
    nothing = Counts(0, 0)
    padded = [nothing, *(counts or nothing for counts in counted), nothing]
    return [
        None if counts is None else _label(counts, padded[n], padded[n + 2])
        for n, counts in enumerate(counted)
    ]


def count(sentence: Annotation, lexicon: Lexicon) -> Counts:
    """The clues among the content words of a tagged sentence."""
    found = [lexicon.clue(word.text.lower(), word.tag) for word in sentence.words]
    strong = sum(clue is not None and clue.strong for clue in found)
    return Counts(strong, sum(clue is not None for clue in found) - strong)


def _label(own: Counts, before: Counts, after: Counts) -> float:
    if own.strong >= 2:
        return SUBJECTIVE
    few_around = before.strong + after.strong <= 1 and own.weak + before.weak + after.weak <= 2
    return OBJECTIVE if own.strong == 0 and few_around else UNKNOWN
