"""From an answer's hits to what the page lists: folded, sorted, grouped, and cut to the wanted number.

The first n entries stay the same whatever number is wanted, so that "more" moves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from esr.analysis import Analyzer
from esr.documents import dates
from esr.engines.index import Hit
from esr.errors import EsrError
from esr.ranking.answers import record
from webui.folding import Folded, fold

Sort = Literal["score", "date"]
SORTS: dict[Sort, str] = {"score": "best first", "date": "newest first"}

_SPARE = 3
"""Hits fetched for each one shown, so that folded ones do not leave the page short."""


@dataclass(frozen=True)
class Wish:
    """How results are arranged. `group` puts those of a document together; `fold` folds near-repeats."""

    sort: Sort = "score"
    group: bool = False
    fold: bool = True

    @property
    def plain(self) -> bool:
        """Whether the order is that of the scores, so that more can follow."""
        return not self.group and self.sort == "score"


@dataclass(frozen=True)
class Entry:
    """What has one number on the page: a sentence, or a document's sentences, best first."""

    folded: tuple[Folded, ...]

    @property
    def best(self) -> Hit:
        return self.folded[0].hit


def needed(wish: Wish, k: int, max_k: int) -> int:
    """How many hits to ask for. Sorting and grouping go over a fixed number, so that nothing shifts."""
    if not wish.plain:
        return 2 * max_k
    return k * _SPARE if wish.fold else k


def arrange(hits: Sequence[Hit], wish: Wish, analyzer: Analyzer) -> list[Entry]:
    """All entries, in the order of the page."""
    folded = fold(hits, analyzer) if wish.fold else [Folded(hit) for hit in hits]
    if wish.group:
        by_document: dict[str, list[Folded]] = {}
        for each in folded:
            by_document.setdefault(record(each.hit).document_id, []).append(each)
        entries = [Entry(tuple(group)) for group in by_document.values()]
    else:
        entries = [Entry((each,)) for each in folded]
    return sorted(entries, key=_newest_first) if wish.sort == "date" else entries


def cut(entries: Sequence[Entry], k: int) -> list[Entry]:
    """The first k entries."""
    return list(islice(entries, k))


def _newest_first(entry: Entry) -> tuple[bool, int]:
    """Without a date last; equal ones stay in the order of their scores."""
    text = record(entry.best).date
    try:
        moment = None if text is None else dates.parse_date_start(text)
    except (ValueError, OverflowError, EsrError):
        moment = None
    return (moment is None, -(moment or 0))
