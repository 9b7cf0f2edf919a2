"""Pruning gives the answer that scoring everything gives, whatever the corpus, the plan and the filter."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.documents import Document, Located, Sentence
from esr.documents.annotation import Entity
from esr.documents.enrichment import SentenceEnrichment
from esr.engines.embedded.index import EmbeddedIndex
from esr.engines.embedded.search.exhaustive import search_exhaustive
from esr.engines.embedded.search.kernel_loader import KERNEL, LOADER
from esr.engines.embedded.search.pruning import search_pruned
from esr.engines.embedded.search.top_k import TopK
from esr.engines.index import Filters
from esr.engines.segments.store.arrays import save_array
from esr.engines.segments.writer import segment_builder
from esr.enrichment.recipe import Recipe
from esr.plans.bounds import Unprunable
from esr.plans.plan import (
    CANDIDATES,
    Affine,
    Plan,
    Static,
)
from esr.ranking.ranking import Ranking
from tests.support.folder_index import document, load
from tests.support.pruning import (
    ENDS,
    FILTERS,
    FIRST_STAGES,
    QUERIES,
    SETTINGS,
    WORDS,
    adverse_documents,
    documents,
    made,
    planned,
    plans,
)

KS = (1, 2, 7, 100_000)


def same(index: EmbeddedIndex, plan: Plan, k: int, filters: Filters) -> TopK | Unprunable:
    """Holds the pruned answer to the exhaustive one, and gives it."""
    cache = index._latest()
    got = search_pruned(plan, cache, k, filters)
    if not isinstance(got, Unprunable):
        right = search_exhaustive(plan, cache.snapshot, k, filters)
        assert got.ordinals.tolist() == right.ordinals.tolist(), (plan, k, filters)
        assert got.scores.tolist() == right.scores.tolist()
        assert got.total == right.total
        assert len(got.ordinals) <= got.scored <= right.scored
    return got


@contextmanager
def corpus(*loads: Sequence[Located], full: int = segment_builder.FULL_TERMS) -> Iterator[EmbeddedIndex]:
    """These documents, one load after another; a segment is full with so many terms."""
    with tempfile.TemporaryDirectory() as folder, mock.patch("os.fsync"):
        where = Path(folder, "index")
        with mock.patch.object(segment_builder, "FULL_TERMS", full):
            for number, documents in enumerate(loads):
                load(where, documents, if_exists="append" if number else "fail")
        yield EmbeddedIndex(str(where))


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded, however many searches there were."""
    monkeypatch.setattr(LOADER, "kernel", pytest.importorskip(KERNEL, reason="needs numba"))


@pytest.mark.slow
@given(
    loads=st.lists(documents(), min_size=1, max_size=2),
    full=st.sampled_from([0, 60, segment_builder.FULL_TERMS]),
    asked=st.lists(plans(tiny=True), min_size=8, max_size=8),
    k=st.sampled_from(KS),
    filters=st.sampled_from(FILTERS),
)
@settings(max_examples=50)
def test_any_plan(loads: list[list[Located]], full: int, asked: list[Plan], k: int, filters: Filters) -> None:
    second = [Located(f"more:{n}", d.document) for n, (d) in enumerate(_renamed(loads[1:]))]
    with corpus(loads[0], *([second] if second else []), full=full) as index:
        for plan in asked:
            same(index, plan, k, filters)


def _renamed(loads: list[list[Located]]) -> Iterator[Located]:
    for found in (found for some in loads for found in some):
        sentences = (Sentence("e" + s.id, s.text, s.features) for s in found.document.sentences)
        yield document("e" + found.document.id, *sentences, source=found.document.source)


@pytest.fixture(scope="module", params=[1500, segment_builder.FULL_TERMS], ids=["segments", "segment"])
def adverse(request: pytest.FixtureRequest) -> Iterator[EmbeddedIndex]:
    """Equal documents, a term 300 times, one sentence and a thousand, none, empty ones, two loads."""
    found = adverse_documents()
    with corpus(found[:50], found[50:], full=request.param) as index:
        yield index


@pytest.mark.slow
@pytest.mark.parametrize("model, context", FIRST_STAGES)
def test_models(adverse: EmbeddedIndex, model: str, context: str | None) -> None:
    for n, (rule, more, query) in enumerate(product(CANDIDATES, SETTINGS, QUERIES)):
        ranking = Ranking.from_dict({"model": model, "context": context, "candidates": rule, **more})
        found = same(adverse, planned(adverse, query, ranking), KS[n % len(KS)], FILTERS[n % len(FILTERS)])
        assert not isinstance(found, Unprunable), found


@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_numbers_of_other_widths_are_read_the_same(width: type[np.integer[Any]]) -> None:
    with corpus(adverse_documents()) as index:
        (segment,) = index._snapshot().segments
        asked = [planned(index, query, Ranking(candidates=rule)) for query in QUERIES for rule in CANDIDATES]
        right = [same(index, plan, 50, Filters()) for plan in asked]
        narrow = [name for name, column in segment.columns.items() if column.dtype.kind == "u"]
        assert {"document_numbers", "document", "length", "sentence_counts"} <= {*narrow}
        for name in narrow:
            save_array(segment.folder / f"{name}.npy", segment.columns[name].astype(width))
        wider = EmbeddedIndex(index.where)
        for plan, best in zip(asked, right, strict=True):
            assert not isinstance(best, Unprunable)
            found = same(wider, plan, 50, Filters())
            assert [each.tolist() for each in found[:2]] == [each.tolist() for each in best[:2]]


@pytest.mark.parametrize("count, bytes", [(256, 1), (257, 2)])
def test_documents_are_found_up_to_the_last_number_that_a_column_holds(count: int, bytes: int) -> None:
    with corpus([document(f"d{n}", "A flood.", "A bank.") for n in range(count)]) as index:
        (segment,) = index._snapshot().segments
        assert segment.column("document").itemsize == segment.column("document_numbers").itemsize == bytes
        found = index.search(planned(index, "flood", Ranking()), 2 * count, Filters(), records=False)
        assert [hit.sentence_id for hit in found.hits] == [f"d{n}.s{s}" for s in (0, 1) for n in range(count)]


@pytest.mark.parametrize(
    "ranking",
    ENDS,
    ids=str,
)
def test_parameters_at_their_ends(adverse: EmbeddedIndex, ranking: dict[str, Any]) -> None:
    for (n, query), filters in product(enumerate(QUERIES), FILTERS[1:4]):
        same(adverse, planned(adverse, query, Ranking.from_dict(ranking)), KS[n % len(KS)], filters)


@pytest.mark.slow
def test_layers_of_enrichment_and_filters_by_entity() -> None:
    """What is stored later counts: a bound made before it must not stand."""
    chance = random.Random(3)
    found = [
        made(n, [" ".join(chance.choices(WORDS, k=5)) for _ in range(n % 7)], [None] * (n % 7), None)
        for n in range(40)
    ]
    recipe = Recipe(("features", "entities"), {"model": "none"})
    with corpus(found[:25], found[25:]) as index:
        for some in (found[:13], found[8:33]):
            for query, rule, k in product(QUERIES, CANDIDATES, (2, 5)):
                ranking = Ranking(candidates=rule, priors={"importance": 0.2})
                plan = planned(index, query, ranking)
                required = (Static("features.x", "linear", 1.5, required=True),)
                for statics in (plan.statics, *((*plan.statics, s) for s in LAYERED), required):
                    for filters in (Filters(), Filters(entities=("Ann",)), Filters(entities=("Bo", "Ann"))):
                        same(index, replace(plan, statics=statics), k, filters)
            with index.enrichment() as stored:
                stored.store(recipe, [(d.document.id, _enriched(d.document, chance)) for d in some])


LAYERED = [Static("features.x", "linear", -2.0), Static("features.x", "satu", 3.0, required=True)]


def _enriched(document: Document, chance: random.Random) -> list[SentenceEnrichment]:
    return [
        SentenceEnrichment(
            {"x": chance.choice([-5.0, 0.1, 9.0])} if chance.random() < 0.7 else {},
            tuple(Entity(name, "PERSON") for name in ("Ann", "Bo") if chance.random() < 0.3),
            None,
        )
        for _ in document.sentences
    ]


def test_most_candidates_of_a_plain_query_are_not_scored() -> None:
    chance = random.Random(5)
    texts = [[" ".join(chance.choices(WORDS, k=8)) for _ in range(5)] for _ in range(200)]
    with corpus([made(n, each, [None] * 5, None) for n, each in enumerate(texts)]) as index:
        found = same(index, planned(index, "rare stone", Ranking()), 2, Filters())
    assert not isinstance(found, Unprunable) and found.scored < found.total / 4


def test_a_plan_without_a_bound_is_answered_in_full_and_says_so(adverse: EmbeddedIndex) -> None:
    plan = planned(adverse, "rare stone", Ranking())
    odd = replace(plan, transform=replace(plan.transform, collection=Affine(1e-295)))
    found = adverse.search(odd, 3, Filters())
    assert found.exhaustive == "the mixture may be 0 without the collection's part"
    assert found.scored == adverse.search(plan, 3, Filters()).total
    usual = adverse.search(plan, 3, Filters())
    assert usual.exhaustive is None and usual.scored is not None


def test_without_the_kernel_everything_is_scored(
    adverse: EmbeddedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(adverse, "rare stone", Ranking())
    pruned = adverse.search(plan, 3, Filters())
    monkeypatch.setattr(LOADER, "kernel", None)
    full = adverse.search(plan, 3, Filters())
    assert full.exhaustive == LOADER.reason and full.scored == full.total
    assert (full.hits, full.total) == (pruned.hits, pruned.total)


def test_a_static_that_32_bits_do_not_hold_is_not_pruned(adverse: EmbeddedIndex) -> None:
    plan = planned(adverse, "rare stone", Ranking())
    for weight, reason in ((9e29, None), (1.1e30, "a prior or a feature adds more than 1e+30")):
        large = replace(plan, statics=(Static("position", "step", weight),))
        same(adverse, large, 3, Filters())
        assert adverse.search(large, 3, Filters()).exhaustive == reason


@pytest.mark.parametrize(
    ("model", "params", "best", "other"),
    [
        ("2si", {"lambda": 1.0}, ["flood", "bank " * 40], "flood " + "bank " * 99),
        ("bm25f", {"alpha": 0.0, "b_context": 1.0}, ["bank " * 80, "flood", "bank"], "flood " + "bank " * 9),
    ],
)
def test_the_best_sentence_may_have_the_term_beside_it_only(
    model: str, params: dict[str, float], best: list[str], other: str
) -> None:
    bodies = [best, [other], *([["court " * 40]] * 50)]
    with corpus([made(n, body, [None] * len(body), None) for n, body in enumerate(bodies)]) as index:
        plan = planned(index, "flood", Ranking(model, "surrounding", params))
        found = same(index, plan, 1, Filters())
    assert not isinstance(found, Unprunable) and found.ordinals.tolist() == [len(best) - 1]


def test_sentences_far_from_the_terms_are_among_the_best() -> None:
    """Of a document they have what it gives and what their own length gives: the short and the long ones."""
    bodies = []
    for n in range(30):
        held = " ".join(["flood"] * (1 + n % 7) + ["bank"] * (n % 5 == 0) + ["stone"] * (n % 11))
        bodies.append([held, "relief", "court", "vote " * (1 + n % 3), "court", "vote " * (9 + n), "relief"])
    with corpus([made(n, body, [None] * len(body), None) for n, body in enumerate(bodies)]) as index:
        for query, context in product(("flood", "flood bank", "bank flood flood"), ("both", "document")):
            plan = planned(index, query, Ranking("2si", context))
            for k in (1, 3, 10, 20, 31, 40, 50, 60, 75, 90, 110, 150, 190):
                same(index, plan, k, Filters())


@pytest.mark.slow
def test_huge_counts_and_long_queries() -> None:
    """Counts of two and of four bytes, products of evidence beyond what a float holds, 300 terms."""
    many = [f"w{n}" for n in range(300)]
    bodies = [["bank " * 70_000, "bank flood"], ["flood " * 300], ["flood"], [" ".join(many)] * 3, many]
    bodies += [[" ".join(many[n : n + 20]), "bank"] for n in range(0, 280, 7)]
    with corpus([made(n, body, [None] * len(body), None) for n, body in enumerate(bodies)]) as index:
        for query, model in product(("bank", "flood bank", " ".join(many)), ("2si", "bm25f", "2s")):
            plan = planned(index, query, Ranking(model))
            for k in KS:
                same(index, plan, k, Filters())
            terms = tuple(term._replace(background=1e-90) for term in plan.terms)
            same(index, replace(plan, terms=terms), 3, Filters())


@pytest.mark.slow
def test_threads_search_at_once(adverse: EmbeddedIndex) -> None:
    plans = [
        planned(adverse, query, Ranking(candidates=rule)) for query, rule in product(QUERIES, CANDIDATES)
    ]
    right = [adverse.search(plan, 5, Filters()) for plan in plans]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda plan: adverse.search(plan, 5, Filters()), plans * 20))
    assert found == right * 20


def test_an_index_without_documents_has_no_candidates() -> None:
    with corpus([made(0, [], [], "river")]) as index:
        for rule in CANDIDATES:
            plan = planned(index, "river flood", Ranking(candidates=rule))
            assert index.search(plan, 3, Filters()).total == 0
