"""The same query under two rankings: both lists, and what moved between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from esr.engines.index import Hit
from esr.ranking import answers
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Answer, Searcher
from webui.arguments.search_request import Search
from webui.pages.results import answer
from webui.running.settings import Settings


@dataclass(frozen=True)
class Placed:
    """A hit of one list. `other`: its rank in the other list, or None if it is not among its best."""

    hit: Hit
    rank: int
    other: int | None

    def as_dict(self) -> dict[str, Any]:
        return {"rank": self.rank, "other": self.other, "moved": self.moved, **answers.hit_dict(self.hit)}

    @property
    def moved(self) -> int | None:
        """Places that it stands higher here than there."""
        return None if self.other is None else self.other - self.rank


@dataclass(frozen=True)
class Side:
    """One ranking and its list."""

    ranking: Ranking
    found: Answer
    hits: Sequence[Placed]

    def as_dict(self) -> dict[str, Any]:
        answer = answers.answer_dict(self.found) | {"hits": [each.as_dict() for each in self.hits]}
        return {"ranking": self.ranking.as_dict(), **answer}


@dataclass(frozen=True)
class Comparison:
    """Two rankings of one query."""

    left: Side
    right: Side

    def as_dict(self) -> dict[str, Any]:
        return {
            "shared": self.shared,
            "moved": self.moved,
            "left": self.left.as_dict(),
            "right": self.right.as_dict(),
        }

    @property
    def shared(self) -> int:
        """Sentences that both lists have."""
        return sum(placed.other is not None for placed in self.left.hits)

    @property
    def moved(self) -> int:
        """Sentences of both lists that have another rank."""
        return sum(bool(placed.moved) for placed in self.left.hits)


def compare(searcher: Searcher, asked: Search, versus: Ranking, limits: Settings) -> Comparison:
    """The best k of both rankings, over the index as it is now."""
    now = searcher.snapshot()
    left = answer(now, asked, asked.k, limits)[0]
    right = answer(now, replace(asked, ranking=versus), asked.k, limits)[0]
    return Comparison(
        Side(asked.ranking, left, placed(left.hits, right.hits)),
        Side(versus, right, placed(right.hits, left.hits)),
    )


def placed(hits: Sequence[Hit], others: Sequence[Hit]) -> list[Placed]:
    """Hits with their ranks in two lists."""
    ranks = {hit.sentence_id: rank for rank, hit in enumerate(others, 1)}
    return [Placed(hit, rank, ranks.get(hit.sentence_id)) for rank, hit in enumerate(hits, 1)]
