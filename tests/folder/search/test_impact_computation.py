"""The kernel computes the impacts that numpy computes, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from esr.folder.index import EmbeddedIndex
from esr.folder.search.impacts import ImpactComputation
from esr.folder.search.kernel_loader import KERNEL, LOADER
from esr.folder.write.segment_writer import FULL_TERMS
from esr.plans.plan import Plan
from esr.ranking.ranking import Ranking
from esr.text.document import Located
from tests.support.loaded_corpus import corpus, with_other_ids
from tests.support.needed import need
from tests.support.pruning import (
    EXTREME_RANKINGS,
    FIRST_STAGES,
    QUERIES,
    adverse_documents,
    documents,
    make_plan,
    plans,
)


@pytest.fixture(autouse=True)
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


@pytest.mark.slow
@given(
    loads=st.lists(documents(), min_size=1, max_size=2),
    full=st.sampled_from([0, 60, FULL_TERMS]),
    drawn_plans=st.lists(plans(tiny=True), min_size=8, max_size=8),
)
@settings(max_examples=50)
def test_impacts_of_any_plan_are_those_of_numpy(
    loads: list[list[Located]], full: int, drawn_plans: list[Plan]
) -> None:
    with corpus(loads[0], *map(with_other_ids, loads[1:]), full=full) as index:
        for plan in drawn_plans:
            check_impacts(index, plan)


def test_impacts_of_extreme_parameters_are_those_of_numpy() -> None:
    with corpus(adverse_documents()) as index:
        rankings = [Ranking(model, context) for model, context in FIRST_STAGES]
        for ranking in [*rankings, *map(Ranking.from_dict, EXTREME_RANKINGS)]:
            for query in QUERIES:
                plan = make_plan(index, query, ranking)
                falling = tuple(term._replace(weight=-2.0, own=False) for term in plan.terms)
                check_impacts(index, replace(plan, terms=plan.terms + falling))
