"""From the hits of an answer to the entries of a list: folded, grouped.

The first n entries stay the same however many are requested, so that "Show more" moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from esr.engines.index import Hit, Index
from esr.following.novelty import group_hits, hits_to_fold
from esr.ranking.answers import require_record
from webui.arguments.arrangement import Arrangement


@dataclass(frozen=True)
class FoldedHit:
    """A hit and those after it that repeat what it says."""

    hit: Hit
    similar: Sequence[Hit] = ()


@dataclass(frozen=True)
class Entry:
    """What has one number in the list: a sentence, or the sentences of a document, best first."""

    folded: tuple[FoldedHit, ...]

    @property
    def best(self) -> Hit:
        return self.folded[0].hit


def hits_to_fetch(arrangement: Arrangement, k: int, max_k: int) -> int:
    """How many hits k entries need. Grouping covers a fixed number, so that nothing shifts."""
    if arrangement.group:
        return 2 * max_k
    return hits_to_fold(k) if arrangement.fold and not arrangement.novel else k


def fold_hits(hits: Sequence[Hit], arrangement: Arrangement, index: Index) -> list[FoldedHit]:
    """The hits, with those that repeat what one before them says below it."""
    if not arrangement.fold:
        return [FoldedHit(hit) for hit in hits]
    return [FoldedHit(first, rest) for first, *rest in group_hits(hits, index, arrangement.overlap)]


def build_entries(folded: Iterable[FoldedHit], arrangement: Arrangement) -> list[Entry]:
    """All entries, in the order of the list."""
    if arrangement.group:
        by_document: dict[str, list[FoldedHit]] = {}
        for hit in folded:
            by_document.setdefault(require_record(hit.hit).document_id, []).append(hit)
        return [Entry(tuple(group)) for group in by_document.values()]
    return [Entry((hit,)) for hit in folded]
