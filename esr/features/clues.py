"""The rule of Riloff & Wiebe (EMNLP 2003) by which OpinionFinder labels sentences, from counts of clues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from esr.documents.annotation import Annotation
from esr.features.lexicon import Lexicon

SUBJECTIVE, UNDECIDED, OBJECTIVE = 1.0, 0.5, 0.0


class ClueCounts(NamedTuple):
    strong: int
    weak: int


def label_sentences(sentences: Sequence[Annotation | None], lexicon: Lexicon) -> list[float | None]:
    """SUBJECTIVE: at least two strong clues. OBJECTIVE: no strong clue, at most one strong clue in the
    sentences before and after together, and at most two weak ones in all three. UNDECIDED otherwise."""
    counts = [None if sentence is None else count_clues(sentence, lexicon) for sentence in sentences]
    none = ClueCounts(0, 0)
    padded = [none, *(own or none for own in counts), none]
    return [None if own is None else _label(own, padded[n], padded[n + 2]) for n, own in enumerate(counts)]


def count_clues(sentence: Annotation, lexicon: Lexicon) -> ClueCounts:
    """The clues among the content words of a tagged sentence."""
    clues = [lexicon.clue(token.text.lower(), token.tag) for token in sentence.tokens]
    strong = sum(clue is not None and clue.strong for clue in clues)
    return ClueCounts(strong, sum(clue is not None for clue in clues) - strong)


def _label(own: ClueCounts, before: ClueCounts, after: ClueCounts) -> float:
    if own.strong >= 2:
        return SUBJECTIVE
    few_around = before.strong + after.strong <= 1 and own.weak + before.weak + after.weak <= 2
    return OBJECTIVE if own.strong == 0 and few_around else UNDECIDED
