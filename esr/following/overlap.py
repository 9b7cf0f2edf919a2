"""How much of a sentence earlier ones contain. It decides what is new and what is folded.

Source: docs/formulas.md, G.1. Sentences are sets of terms here; nothing is known of an index.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from esr.errors import UsageError

Terms = frozenset[str]
Weigh = Callable[[Collection[str]], Mapping[str, float]]
"""From terms to their weights, all greater than 0."""
DEFAULT_THRESHOLD = 0.8
MIN_THRESHOLD = 0.5
"""Less is no repeat: half of the terms must be shared in any case."""
FEW_TERMS = 8
"""A sentence with fewer terms must contain the earlier one as well: few terms are shared by chance."""


class Overlap(Struct, frozen=True):
    """The earlier sentence that has most of a sentence, by its place in the list, and the share it has."""

    place: int
    share: float


def check_threshold(threshold: float) -> float:
    """The threshold. Raises UsageError for one that is out of range."""
    if not MIN_THRESHOLD <= threshold <= 1.0:
        raise UsageError(f"the overlap must be from {MIN_THRESHOLD:g} to 1, not {threshold:g}")
    return threshold


def parse_threshold(text: str) -> float:
    """The threshold that a text gives. Raises UsageError."""
    try:
        return check_threshold(float(text))
    except ValueError:
        raise UsageError(f"the overlap must be a number from {MIN_THRESHOLD:g} to 1, not {text!r}") from None


def contain(sentence: Terms, earlier: Terms, weights: Mapping[str, float]) -> float:
    """The share of the sentence that the earlier one has; for few terms, the lesser of both shares."""
    share = _share(sentence, earlier, weights)
    return share if len(sentence) >= FEW_TERMS else min(share, _share(earlier, sentence, weights))


def find_overlaps(sentences: Sequence[Terms], weigh: Weigh) -> list[Overlap | None]:
    """For each sentence, the earlier one that contains most of it.

    Of equal ones, it is one with the same terms, else the first. None where no
    earlier one has half of its terms. `weigh` is called at most once.
    """
    pairs = list(_share_half(sentences))
    needed = {term for pair in pairs for place in pair for term in sentences[place]}
    weights = weigh(sorted(needed)) if needed else {}
    best: list[Overlap | None] = [None] * len(sentences)
    for place, earlier in pairs:
        share = contain(sentences[place], sentences[earlier], weights)
        known = best[place]
        if known is None or (-share, earlier) < (-known.share, known.place):
            best[place] = Overlap(earlier, share)
    return best


def group_repeats(overlaps: Sequence[Overlap | None], threshold: float) -> list[list[int]]:
    """The places of the sentences in groups: a new one with those that repeat it, or a repeat of it.

    Groups are in the order of their first sentences. A sentence that follows changes no group before it,
    but may join one.
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
    """Sums are exact, so that they do not depend on the order of the terms."""
    shared = math.fsum(weights[term] for term in sentence & earlier)
    return shared / math.fsum(weights[term] for term in sentence)


def _share_half(sentences: Sequence[Terms]) -> Iterator[tuple[int, int]]:
    """The pairs of a sentence and an earlier one that has at least half of its terms.

    Of sentences with the same terms, only the first counts as an earlier one. A sentence that has half of n
    terms has one of any n // 2 + 1 of them: those that the fewest have are looked up.
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
            needed = len(terms) if len(terms) >= FEW_TERMS else max(len(terms), len(sentences[earlier]))
            if 2 * len(terms & sentences[earlier]) >= needed:
                yield place, earlier
        first[terms] = place
        for term in terms:
            with_term.setdefault(term, []).append(place)
