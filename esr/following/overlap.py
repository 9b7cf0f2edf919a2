"""Overlaps: the share of a sentence's terms that an earlier one has, by their rarity (docs/formulas.md, G).

Novelty and the folding of result lists use the same overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from esr.errors import UsageError

Terms = frozenset[str]
Weigh = Callable[[Collection[str]], Mapping[str, float]]
"""Maps terms to their weights, all above 0."""
DEFAULT_THRESHOLD = 0.8
MIN_THRESHOLD = 0.5
"""The minimum threshold: repeats always share at least half of the terms."""
FEW_TERMS = 5
"""A repeat with fewer terms must also contain the earlier sentence: few terms may be shared by chance."""
FEW_TERMS_IN_LISTS = 8
"""The same for folded lists, so that a short sentence is not folded into a long one on the same event."""


class Overlap(Struct, frozen=True):
    """The earlier sentence that contains most of a sentence: its position in the list, and the share."""

    place: int
    share: float


def check_threshold(threshold: float) -> float:
    """Return the threshold. Raises UsageError if it is out of range."""
    if not MIN_THRESHOLD <= threshold <= 1.0:
        raise UsageError(f"the overlap must be from {MIN_THRESHOLD:g} to 1, not {threshold:g}")
    return threshold


def parse_threshold(text: str) -> float:
    """Read a threshold. Raises UsageError."""
    try:
        return check_threshold(float(text))
    except ValueError:
        raise UsageError(f"the overlap must be a number from {MIN_THRESHOLD:g} to 1, not {text!r}") from None


def contain(
    sentence: Terms, earlier: Terms, weights: Mapping[str, float], few_terms: int = FEW_TERMS
) -> float:
    """The share of the sentence in the earlier one; below `few_terms`, the minimum of both shares."""
    share = _share(sentence, earlier, weights)
    return share if len(sentence) >= few_terms else min(share, _share(earlier, sentence, weights))


def find_overlaps(
    sentences: Sequence[Terms], weigh: Weigh, few_terms: int = FEW_TERMS
) -> list[Overlap | None]:
    """For each sentence, find the earlier one that contains most of it.

    Ties go to an earlier sentence with the same terms, then to the first. None if no earlier sentence has
    half of the terms. `weigh` is called at most once.
    """
    pairs = list(_share_half(sentences, few_terms))
    needed = {term for pair in pairs for place in pair for term in sentences[place]}
    weights = weigh(sorted(needed)) if needed else {}
    best: list[Overlap | None] = [None] * len(sentences)
    for place, earlier in pairs:
        share = contain(sentences[place], sentences[earlier], weights, few_terms)
        known = best[place]
        if known is None or (-share, earlier) < (-known.share, known.place):
            best[place] = Overlap(earlier, share)
    return best


def group_repeats(overlaps: Sequence[Overlap | None], threshold: float) -> list[list[int]]:
    """Group the positions of sentences: each new sentence with those that repeat it, or repeat a repeat.

    Groups are in the order of their first sentences. Appending sentences can only add to groups.
    """
    groups: list[list[int]] = []
    group_of: list[int] = []
    for place, overlap in enumerate(overlaps):
        if overlap is not None and overlap.share >= threshold:
            group_of.append(group_of[overlap.place])
            groups[group_of[place]].append(place)
        else:
            group_of.append(len(groups))
            groups.append([place])
    return groups


def _share(sentence: Terms, earlier: Terms, weights: Mapping[str, float]) -> float:
    """The weighted share of the sentence's terms in the earlier one, as an exact sum."""
    shared = math.fsum(weights[term] for term in sentence & earlier)
    return shared / math.fsum(weights[term] for term in sentence)


def _share_half(sentences: Sequence[Terms], few_terms: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a sentence and an earlier one that has at least half of its terms.

    Of sentences with the same terms, only the first counts as earlier. A sentence with half of n terms has at
    least one of any n // 2 + 1 of them, so only the rarest are looked up.
    """
    with_term: dict[str, list[int]] = {}
    first: dict[Terms, int] = {}
    for place, terms in enumerate(sentences):
        if not terms:
            continue
        if terms in first:
            yield place, first[terms]
            continue
        rarest = sorted(terms, key=lambda term: len(with_term.get(term, ())))[: len(terms) // 2 + 1]
        candidates = {earlier for term in rarest for earlier in with_term.get(term, ())}
        for earlier in sorted(candidates):
            needed = len(terms) if len(terms) >= few_terms else max(len(terms), len(sentences[earlier]))
            if 2 * len(terms & sentences[earlier]) >= needed:
                yield place, earlier
        first[terms] = place
        for term in terms:
            with_term.setdefault(term, []).append(place)
