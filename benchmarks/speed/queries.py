"""Which queries are asked."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.speed.setup import ANALYZER, TERMS, Setup
from esr.analysis import get
from esr.evaluation import topics


def chosen(setup: Setup) -> list[str]:
    """`number` queries of 2 to 6 terms, drawn with a seed."""
    return every(setup)[: setup.number]


def every(setup: Setup) -> list[str]:
    """All queries of the file with so many distinct terms, each once, shuffled with a seed."""
    found = dict.fromkeys(topic.query() for topic in topics.read(setup.queries))
    fit = [query for query in found if len(terms(query)) in TERMS]
    random.Random(1).shuffle(fit)
    return fit


def terms(query: str) -> frozenset[str]:
    return frozenset(get(ANALYZER).terms(query))


def apart(queries: Iterable[str]) -> list[list[str]]:
    """The same queries in few groups. Within a group no two share a term."""
    groups: list[tuple[set[str], list[str]]] = []
    for query in queries:
        own = terms(query)
        fitting = next((each for each in groups if not each[0] & own), None)
        if fitting is None:
            groups.append(fitting := (set(), []))
        fitting[0].update(own)
        fitting[1].append(query)
    return [group for _, group in groups]


def foreign(group: Sequence[str], others: Iterable[str]) -> str | None:
    """The first of the others that shares no term with the group."""
    taken = Counter(term for query in group for term in terms(query))
    return next((other for other in others if not any(term in taken for term in terms(other))), None)
