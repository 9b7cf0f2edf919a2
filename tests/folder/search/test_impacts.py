"""Impacts are computed once, are rounded to the safe side, and do not take all memory."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from esr.folder.format import manifest
from esr.folder.format.postings import read_postings
from esr.folder.format.snapshot import CommitStatistics, Snapshot
from esr.folder.index import EmbeddedIndex
from esr.folder.search import impacts
from esr.folder.search.impacts import ImpactCache, ImpactComputation, Impacts
from esr.folder.search.kernel_loader import KERNEL, LOADER
from esr.folder.write.segment_writer import FULL_TERMS
from esr.index.limits import SearchMemory
from esr.plans.plan import Affine, Mixture, Plan, PlanTerm
from esr.ranking.ranking import Ranking
from esr.text.document import Located
from tests.support.folder_index import corpus, document, load, with_other_ids
from tests.support.processes import holds_in_threads
from tests.support.pruning import (
    EXTREME_RANKINGS,
    FIRST_STAGES,
    QUERIES,
    adverse_documents,
    documents,
    make_plan,
    plans,
)
from tests.support.runs import need

WORDS = ["bank", "flood", "river", "vote", "court"]
TERMS = [PlanTerm(word, 1.0, 1e-3) for word in WORDS]


def mixture(mu: float = 30.0) -> Mixture:
    return Mixture(mu, Affine(0.5, -0.5), Affine(0.2, -0.2), Affine(0.3, -0.3), Affine(0.0, 1.0))


@pytest.fixture
def statistics(tmp_path: Path) -> CommitStatistics:
    rng = random.Random(1)
    texts = [[" ".join(rng.choices(WORDS, k=6)) for _ in range(1 + n % 5)] for n in range(40)]
    where = tmp_path / "index"
    load(where, [document(f"d{n}", *sentences) for n, sentences in enumerate(texts)])
    return Snapshot(where, manifest.read_manifest(where)).statistics


@pytest.fixture
def cache(statistics: CommitStatistics) -> ImpactCache:
    return ImpactCache(statistics, SearchMemory(1 << 28))


def values(cached: Impacts, statistics: CommitStatistics, terms: Sequence[PlanTerm]) -> list[list[float]]:
    """The impacts of each term."""
    array, starts, _ = cached.get(terms)
    sizes = [statistics.find(term.term).statistics.df for term in terms]
    return [array[start : start + size].tolist() for start, size in zip(starts, sizes, strict=True)]


@pytest.mark.parametrize("weight", [2.0, -2.0])
def test_they_are_rounded_to_the_side_where_they_stay_bounds(
    statistics: CommitStatistics, cache: ImpactCache, weight: float
) -> None:
    cached, term = cache.get(mixture()), PlanTerm("flood", weight, 0.003)
    postings = read_postings(statistics, "flood", {"sentence", "surrounding", "document"})
    exact = cached.bound.upper_bounds(term, *postings)
    (rounded,) = values(cached, statistics, [term])
    assert (weight * np.array(rounded) >= weight * exact).all()
    np.testing.assert_allclose(rounded, exact, rtol=1e-6)
    assert cached.get([term]).greatest == abs(weight) * max(map(abs, rounded))


def test_they_are_computed_once_for_each_background_and_sign(
    cache: ImpactCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []

    def count(statistics: CommitStatistics, term: str, fields: Any) -> Any:
        computed.append(term)
        return read_postings(statistics, term, fields)

    monkeypatch.setattr(impacts, "read_postings", count)
    cached = cache.get(mixture())
    term = PlanTerm("flood", 1.0, 1e-3)
    equal_terms = [term, term._replace(weight=3.5)]
    other_terms = [term._replace(background=1e-4), term._replace(weight=-1.0), term._replace(own=False)]
    for variant in [*equal_terms, *equal_terms, *other_terms, *other_terms]:
        cached.get([variant])
    assert computed == ["flood"] * 4
    assert cache.get(mixture()) is cached


def test_beyond_the_limit_they_are_computed_again(statistics: CommitStatistics, cache: ImpactCache) -> None:
    expected = values(cache.get(mixture()), statistics, TERMS)
    limit = 4 * (len(expected[0]) + len(expected[1]))
    cached = Impacts(ImpactComputation(mixture(), statistics), limit)
    for term, term_impacts in zip([*TERMS, *TERMS], [*expected, *expected], strict=True):
        assert values(cached, statistics, [term]) == [term_impacts]
    assert len(cached.entries) <= 2
    assert cached.values.nbytes <= limit
    assert values(cached, statistics, TERMS) == expected  # a query may need more than the limit


def test_the_least_recently_used_transform_is_dropped_first(
    statistics: CommitStatistics, cache: ImpactCache
) -> None:
    first, second = cache.get(mixture(1.0)), cache.get(mixture(2.0))
    for cached in (first, second):
        cached.get(TERMS)
    assert cache.get(mixture(1.0)) is first
    cache.memory.limit = first.nbytes + second.nbytes - 1
    cache.get(mixture(3.0))
    assert cache.get(mixture(1.0)) is first
    assert cache.get(mixture(2.0)) is not second


def test_threads_get_the_same(statistics: CommitStatistics) -> None:
    expected = dict(
        zip(
            WORDS,
            values(Impacts(ImpactComputation(mixture(), statistics), 1 << 20), statistics, TERMS),
            strict=True,
        )
    )
    cached = Impacts(
        ImpactComputation(mixture(), statistics), 600
    )  # so that they are computed again and again

    def are_equal(seed: int) -> bool:
        terms = random.Random(seed).sample(TERMS, 2)
        return values(cached, statistics, terms) == [expected[term.term] for term in terms]

    assert holds_in_threads(are_equal, range(400))


# The kernel computes the impacts that numpy computes, to the last bit.


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOADER, "kernel", need(KERNEL))


def check_impacts(index: EmbeddedIndex, plan: Plan) -> None:
    """Hold the kernel to numpy, for a plan that has bounds."""
    cache = index.cache
    statistics = cache.snapshot.statistics
    by_numpy = ImpactComputation(plan.transform, statistics)
    if by_numpy.bound.unavailable_reason(plan.terms) is not None:
        return
    by_kernel = ImpactComputation(plan.transform, statistics, lambda: cache.kernel_tables)
    sizes = [statistics.find(term.term).statistics.df for term in plan.terms]
    computed, expected = (np.full(sum(sizes), np.nan, np.float32) for _ in range(2))
    greatest = by_kernel.compute(plan.terms, sizes, computed)
    assert greatest == by_numpy.compute(plan.terms, sizes, expected), plan
    assert computed.tolist() == expected.tolist(), plan


@pytest.mark.usefixtures("kernel")
@pytest.mark.slow
@given(
    loads=st.lists(documents(), min_size=1, max_size=2),
    full=st.sampled_from([0, 60, FULL_TERMS]),
    drawn_plans=st.lists(plans(tiny=True), min_size=8, max_size=8),
)
@settings(max_examples=20)
def test_impacts_of_any_plan_are_those_of_numpy(
    loads: list[list[Located]], full: int, drawn_plans: list[Plan]
) -> None:
    with corpus(loads[0], *map(with_other_ids, loads[1:]), full=full) as index:
        for plan in drawn_plans:
            check_impacts(index, plan)


@pytest.mark.usefixtures("kernel")
def test_impacts_of_extreme_parameters_are_those_of_numpy() -> None:
    with corpus(adverse_documents()) as index:
        rankings = [Ranking(model, context) for model, context in FIRST_STAGES]
        for ranking in [*rankings, *map(Ranking.from_dict, EXTREME_RANKINGS)]:
            for query in QUERIES:
                plan = make_plan(index, query, ranking)
                falling = tuple(term._replace(weight=-2.0, own=False) for term in plan.terms)
                check_impacts(index, replace(plan, terms=plan.terms + falling))
