"""From the hits of an answer to the entries of a list: folded, grouped.

The first n entries stay the same however many are requested, so that "Show more" moves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from esr.analysis import Analyzer
from esr.engines.index import Hit
from esr.ranking.answers import require_record
from webui.answers.near_duplicates import FoldedHit, fold_near_duplicates
from webui.arguments.arrangement import Arrangement

_HITS_PER_ENTRY = 3
"""Hits fetched for each entry, so that folded ones do not leave the page short."""


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
    return k * _HITS_PER_ENTRY if arrangement.fold else k


def arrange_hits(hits: Sequence[Hit], arrangement: Arrangement, analyzer: Analyzer) -> list[Entry]:
    """All entries, in the order of the list."""
    folded = fold_near_duplicates(hits, analyzer) if arrangement.fold else [FoldedHit(hit) for hit in hits]
    if arrangement.group:
        by_document: dict[str, list[FoldedHit]] = {}
        for hit in folded:
            by_document.setdefault(require_record(hit.hit).document_id, []).append(hit)
        return [Entry(tuple(group)) for group in by_document.values()]
    return [Entry((hit,)) for hit in folded]
