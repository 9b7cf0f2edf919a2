"""The queries of the benchmarks."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from benchmarks.speed.workspace import ANALYZER, TERM_COUNTS, Setup
from esr.text.analyzer import get_analyzer
from esr.topics.topic_files import read_topics


def sample(setup: Setup) -> list[str]:
    """`number` queries of 2 to 6 terms, sampled with a seed."""
    return all_queries(setup)[: setup.number]


def all_queries(setup: Setup) -> list[str]:
    """All distinct queries of the file with 2 to 6 terms, shuffled with a seed."""
    distinct = dict.fromkeys(topic.query() for topic in read_topics(setup.queries))
    queries = [query for query in distinct if len(distinct_terms(query)) in TERM_COUNTS]
    random.Random(1).shuffle(queries)
    return queries


def headlines(setup: Setup) -> list[str]:
    """`number` queries of any length, evenly spread over the file."""
    distinct = list(dict.fromkeys(topic.query() for topic in read_topics(setup.queries)))
    searchable = [query for query in distinct if distinct_terms(query)]
    return searchable[:: max(1, len(searchable) // setup.number)][: setup.number]


def distinct_terms(query: str) -> frozenset[str]:
    return frozenset(get_analyzer(ANALYZER).terms(query))


def group_disjoint(queries: Iterable[str]) -> list[list[str]]:
    """The queries in few groups. No two queries of a group share a term."""
    groups: list[tuple[set[str], list[str]]] = []
    for query in queries:
        terms = distinct_terms(query)
        group = next((group for group in groups if not group[0] & terms), None)
        if group is None:
            groups.append(group := (set(), []))
        group[0].update(terms)
        group[1].append(query)
    return [members for _, members in groups]


def find_unrelated(group: Sequence[str], candidates: Iterable[str]) -> str | None:
    """The first candidate that shares no term with the group."""
    terms = frozenset(term for query in group for term in distinct_terms(query))
    return next((query for query in candidates if not terms & distinct_terms(query)), None)
