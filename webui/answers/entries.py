"""Entries of a list: passages, in which repeats are folded and neighbours joined, or documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from esr.following.passages import hits_to_fold, list_passages
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.ranking.answers import Passage, require_record
from esr.ranking.prepared_query import PreparedQuery
from webui.arguments.request import (
    Arrangement,
)


@dataclass(frozen=True)
class Entry:
    """A numbered item of the list: a passage, or the sentences of a document, best first."""

    passages: tuple[Passage, ...]

    @property
    def best(self) -> Hit:
        return self.passages[0].best


def hits_to_fetch(arrangement: Arrangement, k: int, max_k: int) -> int:
    """The number of hits to fetch for k entries. It is constant for grouping, so that entries do not move."""
    if arrangement.group:
        return 2 * max_k
    is_short = arrangement.fold or arrangement.joins or arrangement.limit is not None
    return hits_to_fold(k) if is_short and not arrangement.novel else k


def arrange_hits(
    hits: Sequence[Hit], arrangement: Arrangement, prepared: PreparedQuery, filters: Filters = NO_FILTERS
) -> list[Passage]:
    """The hits as passages, folded and joined as the arrangement says."""
    overlap = arrangement.overlap if arrangement.fold else None
    return list_passages(
        prepared, hits, filters, overlap=overlap, joins=arrangement.joins, per_document=arrangement.limit
    )


def build_entries(passages: Iterable[Passage], arrangement: Arrangement) -> list[Entry]:
    """All entries, in the order of the list."""
    if arrangement.group:
        by_document: dict[str, list[Passage]] = {}
        for passage in passages:
            by_document.setdefault(require_record(passage.best).document_id, []).append(passage)
        return [Entry(tuple(group)) for group in by_document.values()]
    return [Entry((passage,)) for passage in passages]
