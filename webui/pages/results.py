"""The answers of a search as the page lists them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from esr.engines.index import Hit
from esr.errors import EsrError
from esr.ranking.searcher import Answer, PreparedQuery, Searcher
from webui.answers import entries as arranging
from webui.answers.entries import Entry
from webui.arguments import search_request as arguments
from webui.arguments.query_check import check_terms
from webui.arguments.search_request import Search
from webui.pages import facets as narrowing
from webui.pages.evidence_bars import Drawn, evidence_bars
from webui.pages.facets import Facet
from webui.running.settings import Settings

_WORD = re.compile(r"\w+")
GROUPED = 3
"""Sentences that are shown of a document, where those of a document stand together."""


@dataclass(frozen=True)
class Results:
    """What a search found. `more`: how many to ask for next, or None. `common`: stop words of the query."""

    found: Answer
    entries: Sequence[Entry]
    facets: Sequence[Facet]
    bars: Drawn
    more: int | None
    common: Sequence[str] = ()

    @property
    def folded(self) -> int:
        """Sentences that are folded away."""
        return sum(len(each.similar) for entry in self.entries for each in entry.folded)


class Arranged(NamedTuple):
    """An answer, its query, and all entries that it makes."""

    found: Answer
    prepared: PreparedQuery
    entries: list[Entry]


def arranged(now: Searcher, asked: Search, limits: Settings) -> Arranged:
    """Search and arrange."""
    found, prepared = answer(now, asked, arranging.needed(asked.wish, asked.k, limits.max_k), limits)
    return Arranged(found, prepared, arranging.arrange(found.hits, asked.wish, now.index.analyzer))


def listed(searcher: Searcher, asked: Search, limits: Settings) -> tuple[Sequence[Hit], str | None]:
    """The sentences that the page lists, for a file, and what is missing from them."""
    found, _, entries = arranged(searcher.snapshot(), asked, limits)
    shown = arranging.cut(entries, asked.k)
    return [each.hit for entry in shown for each in entry.folded], found.incomplete


def look(searcher: Searcher, asked: Search, limits: Settings) -> Results:
    """Search, arrange, count."""
    now = searcher.snapshot()
    found, prepared, entries = arranged(now, asked, limits)
    growing = asked.wish.plain and found.total > len(found.hits)
    left = len(entries) > asked.k or growing
    more = min(asked.k + limits.more_k, limits.max_k) if left and asked.k < limits.max_k else None
    plan = prepared.plan
    searched = plan.terms or plan.candidates == "all"
    facets = narrowing.facets(now.index, plan, asked.filters) if searched else []
    shown = arranging.cut(entries, asked.k)
    best = [each.hit for entry in shown for each in entry.folded[:GROUPED]]
    common = [word for word in _WORD.findall(asked.query) if not now.index.analyzer.terms(word)]
    return Results(found, shown, facets, _bars(prepared, best), more, list(dict.fromkeys(common)))


def _bars(prepared: PreparedQuery, hits: Sequence[Hit]) -> Drawn:
    try:
        return evidence_bars(prepared, hits)
    except EsrError:  # pictures beside an answer are not worth an error
        return {}


def answer(searcher: Searcher, asked: Search, k: int, limits: Settings) -> tuple[Answer, PreparedQuery]:
    """The best k for a search, and the query as it was planned; what is wrong with it names its argument."""
    check_terms(searcher, asked.query, limits)
    with arguments.blaming("feature"):
        searcher.check_features(each.feature for each in asked.ranking.features)
    with arguments.blaming(None):
        prepared = searcher.prepare(asked.query, asked.ranking)
        return prepared.search(k, asked.filters), prepared
