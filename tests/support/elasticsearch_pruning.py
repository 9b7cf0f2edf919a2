"""Compares what pruning on Elasticsearch finds with what scoring everything finds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from esr.elastic.index import ElasticsearchIndex
from esr.elastic.lifts import find_widening
from esr.elastic.search import pruned_search
from esr.elastic.search.sentence_search import Search
from esr.index.factory import open_writer
from esr.index.filters import Filters
from esr.index.hits import SearchResult
from esr.index.writer import LoadOptions
from esr.plans.plan import CANDIDATES, Plan, Unprunable
from esr.text.document import Located
from tests.support.pruning import FILTERS, QUERIES, SETTINGS

KS = (1, 2, 7, 1000)
LONGEST = 150
"""Sentences of the longest document where a test loads an index of its own."""


def load(where: str, documents: list[Located], **options: Any) -> None:
    options.setdefault("if_exists", "fail")
    open_writer(where, LoadOptions(analyzer="plain", **options)).load(documents)


def pairwise_cases(number: int) -> Iterator[tuple[str, dict[str, Any], str, int, Filters]]:
    """Rules, options, queries, k and filters for the ranking of this number.

    Each ranking has every pair of a query with options, and of each with a rule. Other rankings have them
    with another rule, k and filter.
    """
    rules = sorted(CANDIDATES)
    for (o, options), (q, query) in product(enumerate(SETTINGS), enumerate(QUERIES)):
        turn = o + q + number
        filters = FILTERS[(q + q // 2 * 2 + number // 2) % len(FILTERS)]
        yield rules[turn % len(rules)], options, query, KS[turn % len(KS)], filters


def exhaustive(index: ElasticsearchIndex, plan: Plan, k: int, filters: Filters) -> SearchResult:
    return Search(index.cluster, plan, index.bounded_collection(plan), filters, False).exhaustive(k, None)


def check_pruned(
    index: ElasticsearchIndex, plan: Plan, k: int, filters: Filters
) -> SearchResult | Unprunable:
    """Compares the pruned result with the exhaustive one, and returns it."""
    statistics = index.statistics(plan.candidate_terms)
    widening = find_widening(index.opened.lifts, plan, statistics)
    search = Search(index.cluster, plan, index.bounded_collection(plan), filters, False, widening)
    result = pruned_search.search_pruned(search, k, statistics)
    if not isinstance(result, Unprunable):
        expected = exhaustive(index, plan, k, filters)
        assert result.hits == expected.hits, (plan, k, filters)
        assert result.total == expected.total
        assert result.incomplete is None and result.exhaustive is None
        assert result.scored is not None and min(k, expected.total) <= result.scored <= expected.total
    return result
