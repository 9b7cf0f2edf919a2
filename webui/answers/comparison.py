"""One query under two rankings: both lists, and what moved between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from esr.engines.index import Hit
from esr.ranking import answers
from esr.ranking.prepared_query import Answer
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.answers.ranked_answer import rank_sentences
from webui.arguments.search_request import SearchRequest
from webui.running.settings import Settings


@dataclass(frozen=True)
class ComparedHit:
    """A hit of one list. `other_rank`: its rank in the other list, None if that does not have it."""

    hit: Hit
    rank: int
    other_rank: int | None

    @property
    def moved(self) -> int | None:
        """How many ranks higher it is here than there."""
        return None if self.other_rank is None else self.other_rank - self.rank

    def as_dict(self) -> dict[str, Any]:
        ranks = {"rank": self.rank, "other": self.other_rank, "moved": self.moved}
        return {**ranks, **answers.hit_dict(self.hit)}


@dataclass(frozen=True)
class Side:
    """One ranking and its list."""

    ranking: Ranking
    answer: Answer
    hits: Sequence[ComparedHit]

    def as_dict(self) -> dict[str, Any]:
        answer = answers.answer_dict(self.answer) | {"hits": [hit.as_dict() for hit in self.hits]}
        return {"ranking": self.ranking.as_dict(), **answer}


@dataclass(frozen=True)
class Comparison:
    """Two rankings of one query."""

    left: Side
    right: Side

    @property
    def shared(self) -> int:
        """Sentences that are in both lists."""
        return sum(hit.other_rank is not None for hit in self.left.hits)

    @property
    def moved(self) -> int:
        """Sentences of both lists whose ranks differ."""
        return sum(bool(hit.moved) for hit in self.left.hits)

    def as_dict(self) -> dict[str, Any]:
        return {
            "shared": self.shared,
            "moved": self.moved,
            "left": self.left.as_dict(),
            "right": self.right.as_dict(),
        }


def compare_rankings(
    searcher: Searcher, search: SearchRequest, versus: Ranking, settings: Settings
) -> Comparison:
    """The best k of both rankings, over one snapshot of the index."""
    snapshot = searcher.snapshot()
    left = rank_sentences(snapshot, search, search.k, settings).answer
    right = rank_sentences(snapshot, structs.replace(search, ranking=versus), search.k, settings).answer
    return Comparison(
        Side(search.ranking, left, compare_hits(left.hits, right.hits)),
        Side(versus, right, compare_hits(right.hits, left.hits)),
    )


def compare_hits(hits: Sequence[Hit], other_hits: Sequence[Hit]) -> list[ComparedHit]:
    """Hits with their ranks in both lists."""
    other_ranks = {hit.sentence_id: rank for rank, hit in enumerate(other_hits, 1)}
    return [ComparedHit(hit, rank, other_ranks.get(hit.sentence_id)) for rank, hit in enumerate(hits, 1)]
