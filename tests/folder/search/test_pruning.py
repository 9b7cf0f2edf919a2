"""Pruning gives the answer that scoring everything gives, whatever the corpus, the plan and the filter."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from esr.enrichment.recipe import Recipe
from esr.folder.format.files import save_array
from esr.folder.format.segment import POSTINGS
from esr.folder.index import EmbeddedIndex
from esr.folder.search.candidates import TopK, search_exhaustive
from esr.folder.search.kernel_loader import KERNEL, LOADER
from esr.folder.search.pruned_search import search_pruned
from esr.folder.write.segment_writer import FULL_TERMS
from esr.index.filters import Filters
from esr.plans.plan import CANDIDATES, Affine, Condition, Plan, StaticScore, Unprunable
from esr.ranking.ranking import Ranking
from esr.text.document import Document, Located
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from tests.support.folder_index import corpus, document, forget_checksums, with_other_ids
from tests.support.pruning import (
    CONDITIONS,
    EXTREME_RANKINGS,
    FILTERS,
    FIRST_STAGES,
    QUERIES,
    SETTINGS,
    WORDS,
    adverse_documents,
    documents,
    make_plan,
    numbered_document,
    plain_documents,
    plans,
)
from tests.support.runs import examples, need

KS = (1, 2, 7, 100_000)


def check_pruned(index: EmbeddedIndex, plan: Plan, k: int, filters: Filters) -> TopK | Unprunable:
    """Hold the pruned answer to the exhaustive one, and return it."""
    cache = index.cache
    answer = search_pruned(LOADER.kernel, plan, cache, k, filters)
    if not isinstance(answer, Unprunable):
        expected = search_exhaustive(plan, cache, k, filters)
        assert answer.ordinals.tolist() == expected.ordinals.tolist(), (plan, k, filters)
        assert answer.scores.tolist() == expected.scores.tolist()
        assert answer.total == expected.total
        assert len(answer.ordinals) <= answer.scored <= expected.scored
    return answer


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is loaded, however few searches there were."""
    monkeypatch.setattr(LOADER, "kernel", need(KERNEL))


@pytest.mark.slow
@given(
    loads=st.lists(documents(), min_size=1, max_size=2),
    full=st.sampled_from([0, 60, FULL_TERMS]),
    drawn_plans=st.lists(plans(tiny=True), min_size=8, max_size=8),
    k=st.sampled_from(KS),
    filters=st.sampled_from(FILTERS),
    condition=st.sampled_from(CONDITIONS),
)
@settings(max_examples=examples(50))
def test_any_plan_is_pruned_exactly(
    loads: list[list[Located]],
    full: int,
    drawn_plans: list[Plan],
    k: int,
    filters: Filters,
    condition: Condition | None,
) -> None:
    with corpus(loads[0], *map(with_other_ids, loads[1:]), full=full) as index:
        for plan in drawn_plans:
            check_pruned(index, replace(plan, condition=condition), k, filters)


@pytest.fixture(scope="module", params=[1500, FULL_TERMS], ids=["segments", "segment"])
def adverse(request: pytest.FixtureRequest) -> Iterator[EmbeddedIndex]:
    """An index of `adverse_documents`, of two loads."""
    documents = adverse_documents()
    with corpus(documents[:50], documents[50:], full=request.param) as index:
        yield index


@pytest.mark.slow
@pytest.mark.parametrize("model, context", FIRST_STAGES)
def test_plans_of_every_model_are_pruned_exactly(
    adverse: EmbeddedIndex, model: str, context: str | None
) -> None:
    for n, (rule, settings_, query) in enumerate(product(CANDIDATES, SETTINGS, QUERIES)):
        ranking = Ranking.from_dict({"model": model, "context": context, "candidates": rule, **settings_})
        plan = make_plan(adverse, query, ranking)
        plan = replace(plan, condition=CONDITIONS[n % len(CONDITIONS)])
        answer = check_pruned(adverse, plan, KS[n % len(KS)], FILTERS[n % len(FILTERS)])
        assert not isinstance(answer, Unprunable), answer


@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_numbers_of_other_widths_are_read_the_same(width: type[np.integer[Any]]) -> None:
    with corpus(adverse_documents()) as index:
        (segment,) = index.cache.snapshot.segments
        rankings = [Ranking(candidates=rule) for rule in CANDIDATES]
        query_plans = [make_plan(index, query, ranking) for query in QUERIES for ranking in rankings]
        answers = [check_pruned(index, plan, 50, Filters()) for plan in query_plans]
        narrow = [name for name, column in segment.columns.items() if column.dtype.kind == "u"]
        assert {"document_numbers", "document", "length", "document_counts"} <= {*narrow}
        forget_checksums(Path(index.where))
        for name in [*narrow, POSTINGS]:
            save_array(segment.folder / f"{name}.npy", segment.columns[name].astype(width))
        wider = EmbeddedIndex(index.where)
        for plan, expected in zip(query_plans, answers, strict=True):
            answer = check_pruned(wider, plan, 50, Filters())
            assert not isinstance(answer, Unprunable) and not isinstance(expected, Unprunable)
            assert answer.ordinals.tolist() == expected.ordinals.tolist()
            assert answer.scores.tolist() == expected.scores.tolist()


@pytest.mark.parametrize("count, bytes", [(256, 1), (257, 2)])
def test_documents_are_found_up_to_the_largest_number_of_a_column(count: int, bytes: int) -> None:
    with corpus([document(f"d{n}", "A flood.", "A bank.") for n in range(count)]) as index:
        (segment,) = index.cache.snapshot.segments
        assert segment.column("document").itemsize == segment.column("document_numbers").itemsize == bytes
        plan = make_plan(index, "flood", Ranking())
        hits = index.search(plan, 2 * count, Filters(), records=False).hits
        assert [hit.sentence_id for hit in hits] == [f"d{n}.s{s}" for s in (0, 1) for n in range(count)]


@pytest.mark.parametrize("ranking", EXTREME_RANKINGS, ids=str)
def test_parameters_at_the_ends_of_their_ranges(adverse: EmbeddedIndex, ranking: dict[str, Any]) -> None:
    for (n, query), filters in product(enumerate(QUERIES), FILTERS[1:4]):
        plan = make_plan(adverse, query, Ranking.from_dict(ranking))
        check_pruned(adverse, plan, KS[n % len(KS)], filters)


@pytest.mark.slow
def test_layers_of_enrichment_and_filters_by_entity() -> None:
    """What is stored later counts: a bound from before it must not be used."""
    rng = random.Random(3)
    documents = plain_documents([" ".join(rng.choices(WORDS, k=5)) for _ in range(n % 7)] for n in range(40))
    recipe = Recipe(("features", "entities"), {"model": "none"})
    with corpus(documents[:25], documents[25:]) as index:
        for enriched in (documents[:13], documents[8:33]):
            for query, rule, k in product(QUERIES, CANDIDATES, (2, 5)):
                ranking = Ranking(candidates=rule, priors={"importance": 0.2})
                plan = make_plan(index, query, ranking)
                required = (StaticScore("features.x", "linear", 1.5, required=True),)
                for static_scores in (
                    plan.static_scores,
                    *((*plan.static_scores, s) for s in LAYERED),
                    required,
                ):
                    for filters in (Filters(), Filters(entities=("Ann",)), Filters(entities=("Bo", "Ann"))):
                        check_pruned(index, replace(plan, static_scores=static_scores), k, filters)
            with index.enrichment() as enrichment:
                enrichment.store(recipe, [(d.document.id, _enrichment(d.document, rng)) for d in enriched])


LAYERED = [StaticScore("features.x", "linear", -2.0), StaticScore("features.x", "satu", 3.0, required=True)]


def _enrichment(document: Document, rng: random.Random) -> list[SentenceEnrichment]:
    return [
        SentenceEnrichment(
            {"x": rng.choice([-5.0, 0.1, 9.0])} if rng.random() < 0.7 else {},
            tuple(Entity(name, "PERSON") for name in ("Ann", "Bo") if rng.random() < 0.3),
            None,
        )
        for _ in document.sentences
    ]


def test_most_candidates_of_a_plain_query_are_not_scored() -> None:
    rng = random.Random(5)
    bodies = [[" ".join(rng.choices(WORDS, k=8)) for _ in range(5)] for _ in range(200)]
    with corpus(plain_documents(bodies)) as index:
        answer = check_pruned(index, make_plan(index, "rare stone", Ranking()), 2, Filters())
    assert not isinstance(answer, Unprunable) and answer.scored < answer.total / 4


def test_a_search_for_a_plan_without_a_bound_is_exhaustive_and_says_why(adverse: EmbeddedIndex) -> None:
    plan = make_plan(adverse, "rare stone", Ranking())
    unbounded = replace(plan, transform=replace(plan.transform, collection=Affine(1e-295)))
    result = adverse.search(unbounded, 3, Filters())
    assert result.exhaustive == "the mixture may be 0 without the collection's part"
    pruned = adverse.search(plan, 3, Filters())
    assert result.scored == pruned.total
    assert pruned.exhaustive is None and pruned.scored is not None


def test_without_the_kernel_everything_is_scored(
    adverse: EmbeddedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(adverse, "rare stone", Ranking())
    pruned = adverse.search(plan, 3, Filters())
    monkeypatch.setattr(LOADER, "kernel", None)
    full = adverse.search(plan, 3, Filters())
    assert full.exhaustive == LOADER.reason and full.scored == full.total
    assert (full.hits, full.total) == (pruned.hits, pruned.total)


def test_a_static_that_32_bits_do_not_hold_is_not_pruned(adverse: EmbeddedIndex) -> None:
    plan = make_plan(adverse, "rare stone", Ranking())
    for weight, reason in ((9e29, None), (1.1e30, "a prior or a feature adds more than 1e+30")):
        large = replace(plan, static_scores=(StaticScore("position", "step", weight),))
        check_pruned(adverse, large, 3, Filters())
        assert adverse.search(large, 3, Filters()).exhaustive == reason


@pytest.mark.parametrize(
    ("model", "params", "best", "other"),
    [
        ("2si", {"lambda": 1.0}, ["flood", "bank " * 40], "flood " + "bank " * 99),
        ("bm25f", {"alpha": 0.0, "b_context": 1.0}, ["bank " * 80, "flood", "bank"], "flood " + "bank " * 9),
    ],
)
def test_the_best_sentence_may_have_the_term_in_its_neighbour_only(
    model: str, params: dict[str, float], best: list[str], other: str
) -> None:
    bodies = [best, [other], *([["court " * 40]] * 50)]
    with corpus(plain_documents(bodies)) as index:
        plan = make_plan(index, "flood", Ranking(model, "surrounding", params))
        answer = check_pruned(index, plan, 1, Filters())
    assert not isinstance(answer, Unprunable) and answer.ordinals.tolist() == [len(best) - 1]


@pytest.mark.parametrize(("model", "context"), [("2si", "surrounding"), ("3mm", "document"), ("bm25", None)])
def test_terms_that_are_not_of_the_query_add_to_scores_and_make_no_candidates(
    model: str, context: str | None
) -> None:
    rng = random.Random(3)
    bodies = [[" ".join(rng.choices(WORDS, k=5)) for _ in range(3)] for _ in range(12)]
    with corpus(plain_documents(bodies), full=60) as index:
        for rule, query in product(CANDIDATES, ("flood bank vote", "only relief")):
            ranking = Ranking.from_dict({"model": model, "context": context, "candidates": rule})
            plan = make_plan(index, query, ranking)
            terms = tuple(term._replace(own=n == 0) for n, term in enumerate(plan.terms))
            for k in (1, 5, 100):
                answer = check_pruned(index, replace(plan, terms=terms), k, Filters())
                assert not isinstance(answer, Unprunable) and answer.total


def test_sentences_far_from_the_terms_are_among_the_best() -> None:
    """They get what their document adds and what their own length adds: the short ones and the long ones."""
    bodies = []
    for n in range(30):
        first = " ".join(["flood"] * (1 + n % 7) + ["bank"] * (n % 5 == 0) + ["stone"] * (n % 11))
        bodies.append([first, "relief", "court", "vote " * (1 + n % 3), "court", "vote " * (9 + n), "relief"])
    with corpus(plain_documents(bodies)) as index:
        for query, context in product(("flood", "flood bank", "bank flood flood"), ("both", "document")):
            plan = make_plan(index, query, Ranking("2si", context))
            for k in (1, 3, 10, 20, 31, 40, 50, 60, 75, 90, 110, 150, 190):
                check_pruned(index, plan, k, Filters())


@pytest.mark.slow
def test_huge_counts_and_long_queries_are_pruned_exactly() -> None:
    """Counts of two and of four bytes, products of evidence beyond what a float holds, 300 terms."""
    words = [f"w{n}" for n in range(300)]
    bodies = [["bank " * 70_000, "bank flood"], ["flood " * 300], ["flood"], [" ".join(words)] * 3, words]
    bodies += [[" ".join(words[n : n + 20]), "bank"] for n in range(0, 280, 7)]
    with corpus(plain_documents(bodies)) as index:
        for query, model in product(("bank", "flood bank", " ".join(words)), ("2si", "bm25f", "2s")):
            plan = make_plan(index, query, Ranking(model))
            for k in KS:
                check_pruned(index, plan, k, Filters())
            terms = tuple(term._replace(background=1e-90) for term in plan.terms)
            check_pruned(index, replace(plan, terms=terms), 3, Filters())


@pytest.mark.slow
def test_threads_search_at_once(adverse: EmbeddedIndex) -> None:
    plans = [
        make_plan(adverse, query, Ranking(candidates=rule)) for query, rule in product(QUERIES, CANDIDATES)
    ]
    expected = [adverse.search(plan, 5, Filters()) for plan in plans]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda plan: adverse.search(plan, 5, Filters()), plans * 20))
    assert results == expected * 20


def test_an_index_without_documents_has_no_candidates() -> None:
    with corpus([numbered_document(0, [], [], "river")]) as index:
        for rule in CANDIDATES:
            plan = make_plan(index, "river flood", Ranking(candidates=rule))
            assert index.search(plan, 3, Filters()).total == 0
