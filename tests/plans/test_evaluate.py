"""The scores of a plan and their parts, on generated evidence. Bounds rounded to 32 bits stay bounds."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.plans.evaluate import (
    Evidence,
    GroupedEvidence,
    concatenate,
    mixture_shares,
    no_evidence,
    round_outward,
    score_sentences,
    split_scores,
    top_k,
)
from esr.plans.plan import (
    FIELDS,
    Affine,
    CollectionStatistics,
    Mixture,
    Plan,
    PlanTerm,
    Saturation,
    Smoothing,
    StaticScore,
    TermStatistics,
)

share = st.floats(0, 1).map(lambda x: round(x, 3))
positive = st.floats(0.001, 1).map(lambda x: round(x, 3) or 0.001)


@st.composite
def evidences(draw: st.DrawFn, terms: int) -> Evidence:
    n = draw(st.integers(0, 5))
    count = st.integers(0, 4) | st.just(100)
    own = [[draw(count) for _ in range(n)] for _ in range(terms)]
    wider = [[[c + draw(count) for c in row] for row in own] for _ in range(2)]
    counts = [np.array(rows, float).reshape(terms, n) for rows in (own, *wider)]
    extra = draw(st.integers(0, 9))
    return Evidence(
        dict(zip(FIELDS, counts, strict=True)),
        {name: c.sum(axis=0) + extra * (c.sum(axis=0) > 0) for name, c in zip(FIELDS, counts, strict=True)},
        {"length": counts[0].sum(axis=0) + extra, "importance": np.linspace(-3.0, 5.0, n)},
    )


@st.composite
def plans(draw: st.DrawFn) -> tuple[Plan, Evidence]:
    transform: Mixture | Saturation
    if draw(st.booleans()):
        affine = st.builds(Affine, share, st.just(0.0)) | share.map(lambda x: Affine(x, -x))
        mu = draw(st.sampled_from([0.0, 0.5, 30.0]))
        transform = Mixture(mu, *(draw(affine) for _ in FIELDS), Affine(draw(positive)))
    else:
        smoothing = st.builds(Smoothing, share, share, st.floats(0.5, 20))
        k1 = draw(st.none() | st.sampled_from([0.0, 1.2, 50.0]))
        transform = Saturation(k1, Smoothing(1.0, 0.3, 4.0), draw(smoothing), draw(smoothing))
    terms = draw(st.lists(st.tuples(st.floats(-3, 9), positive), min_size=1, max_size=4))
    static_scores = draw(
        st.lists(st.sampled_from([StaticScore("importance", "linear", 0.5, -1.0, required=True)]), max_size=2)
    )
    if draw(st.booleans()):
        static_scores = [
            *static_scores,
            StaticScore("length", "log", draw(st.sampled_from([-1.0, 0.0, 2.0])), -3.0, required=True),
        ]
    plan = Plan(
        tuple(PlanTerm(f"t{n}", weight, p) for n, (weight, p) in enumerate(terms)),
        transform,
        "all",
        "document",
        tuple(static_scores),
    )
    return plan, draw(evidences(len(terms)))


@given(plans())
def test_the_parts_add_up_to_the_scores(case: tuple[Plan, Evidence]) -> None:
    plan, evidence = case
    split = split_scores(plan, evidence)
    total = (
        split.background.sum(axis=0) + split.length + sum(split.static_scores, np.zeros(len(split.length)))
    )
    for adds in split.fields.values():
        total = total + adds.sum(axis=0)
    assert total == pytest.approx(score_sentences(plan, evidence), rel=1e-9, abs=1e-9, nan_ok=True)


def test_a_term_that_is_not_the_querys_own_has_no_background() -> None:
    mixture = Mixture(0.0, Affine(0.5), Affine(), Affine(), Affine(0.5))
    terms = (PlanTerm("a", 2.0, 0.25), PlanTerm("b", 3.0, 0.5, own=False))
    plan = Plan(terms, mixture, "all", "document")
    evidence = Evidence({"sentence": np.array([[1.0], [2.0]])}, {"sentence": np.array([4.0])}, {})
    split = split_scores(plan, evidence)
    assert split.background.tolist() == [[2 * math.log(0.25)], [0.0]]
    assert split.length.tolist() == [2 * math.log(0.5)]
    assert split.fields["sentence"] == pytest.approx(np.array([[2 * math.log1p(1.0)], [3 * math.log1p(1.0)]]))


def test_the_worth_of_an_occurrence_in_an_empty_field_is_a_number() -> None:
    mixture = Mixture(0.0, Affine(0.5), Affine(0.2), Affine(), Affine(0.3))
    lengths = {"sentence": np.array([0.0, 2.0]), "surrounding": np.array([0.0, 4.0])}
    shares = mixture_shares(mixture, lengths)  # type: ignore[arg-type]
    assert {name: share.tolist() for name, share in shares.items()} == {
        "sentence": [0.5, 0.25],
        "surrounding": [0.2, 0.05],
    }


def test_no_sentences_have_evidence_that_can_be_scored() -> None:
    plan = Plan(
        (PlanTerm("a", 1.0, 0.1), PlanTerm("b", 1.0, 0.1)),
        Mixture(2.0, Affine(0.5), Affine(0.1), Affine(0.1), Affine(0.3)),
        "all",
        "document",
        (StaticScore("length", "linear"),),
    )
    nothing = no_evidence(2, ["length"])
    assert score_sentences(plan, nothing).shape == (0,)
    assert {array.shape for array in (*nothing.lengths.values(), *nothing.columns.values())} == {(0,)}
    assert {array.shape for array in nothing.counts.values()} == {(2, 0)}


@given(plans())
def test_packed_evidence_gets_the_same_bits(case: tuple[Plan, Evidence]) -> None:
    plan, evidence = case
    assert score_sentences(plan, evidence.pack()).tobytes() == score_sentences(plan, evidence).tobytes()


@pytest.mark.parametrize(
    ("number", "type"), [(255.0, np.uint8), (256.0, np.uint16), (70000.0, np.uint32), (0.5, np.float64)]
)
def test_counts_are_packed_in_the_smallest_type_that_holds_them(number: float, type: type) -> None:
    packed = Evidence({"sentence": np.array([[1.0, number]])}, {}, {}).pack()
    assert packed.counts["sentence"].dtype == type
    assert packed.counts["sentence"].tolist() == [[1.0, number]]


@given(plans())
def test_sentences_that_a_plan_cannot_tell_apart_get_the_same_bits(case: tuple[Plan, Evidence]) -> None:
    plan, evidence = case
    of_other_terms = Evidence(
        {field: counts[::-1] for field, counts in evidence.counts.items()}, evidence.lengths, evidence.columns
    )
    twice = concatenate([evidence, of_other_terms, evidence])
    assert GroupedEvidence(twice).score_sentences(plan).tobytes() == score_sentences(plan, twice).tobytes()


@given(plans())
def test_a_score_is_the_formula_of_the_plan(case: tuple[Plan, Evidence]) -> None:
    plan, evidence = case
    found = score_sentences(plan, evidence)
    for n, score in enumerate(found):
        assert score == pytest.approx(_by_hand(plan, evidence, n), rel=1e-9, abs=1e-9, nan_ok=True)


def _by_hand(plan: Plan, evidence: Evidence, n: int) -> float:
    transform, total = plan.transform, 0.0
    length = float(evidence.lengths["sentence"][n])
    for row, term in enumerate(plan.terms):
        x = 0.0
        for name in FIELDS:
            count, size = float(evidence.counts[name][row][n]), float(evidence.lengths[name][n])
            weights = getattr(transform, name)
            if isinstance(transform, Mixture):
                beta = transform.mu / (length + transform.mu) if transform.mu else 0.0
                x += (weights.constant + weights.slope * beta) * (count / size if size else 0.0)
            elif count:
                x += weights.share * count / (1 - weights.b + weights.b * size / weights.average)
        if isinstance(transform, Mixture):
            total += term.weight * math.log(x + transform.collection.constant * term.background)
        elif transform.k1 is None:
            total += term.weight * math.log(1 + x)
        elif x:
            total += term.weight * (transform.k1 + 1) * x / (transform.k1 + x)
    for static_score in plan.static_scores:
        value = float(evidence.columns[static_score.column][n])
        if static_score.form == "log":
            value = math.log(value) if value else -math.inf
        total += static_score.weight * value + static_score.constant
    return total


def test_a_field_that_the_plan_leaves_out_need_not_be_there() -> None:
    plan = Plan(
        (PlanTerm("storm", 2.0),),
        Saturation(None, Smoothing(1.0), Smoothing(), Smoothing()),
        "matching",
        "document",
    )
    evidence = Evidence({"sentence": np.array([[0.0, 1.0]])}, {"sentence": np.array([3.0, 4.0])}, {})
    assert score_sentences(plan, evidence).tolist() == pytest.approx([0.0, 2 * math.log(2)])
    assert list(split_scores(plan, evidence).fields) == ["sentence"]


def test_a_mixture_that_looks_at_no_field_is_all_background() -> None:
    zero = Affine()
    plan = Plan(
        (PlanTerm("storm", 2.0, 0.25),), Mixture(0.0, zero, zero, zero, Affine(1.0)), "all", "document"
    )
    evidence = Evidence({}, {"sentence": np.array([3.0, 0.0])}, {})
    assert score_sentences(plan, evidence) == pytest.approx(2 * math.log(0.25))
    split = split_scores(plan, evidence)
    assert (split.fields, split.background.tolist()) == ({}, [[2 * math.log(0.25)] * 2])


@pytest.mark.parametrize("up", [True, False])
def test_rounding_outward_moves_no_bound_inward(up: bool) -> None:
    values = np.concatenate([np.linspace(-2.0, 2.0, 1001), [0.0, 1e-60, -1e-60, 1 / 3, 16_777_217.0]])
    rounded = round_outward(values, up=up)
    assert rounded.dtype == np.float32
    assert (rounded >= values).all() if up else (rounded <= values).all()
    np.testing.assert_allclose(rounded, values, rtol=1e-6, atol=1e-44)
    exact = values.astype(np.float32) == values
    assert (rounded[exact] == values[exact]).all()


@given(
    scores=st.lists(st.sampled_from([-3.5, -1.0, -0.0, 0.0, 0.5, 2.0]) | st.floats(-9, 9), max_size=60),
    k=st.integers(1, 70),
)
def test_the_best_are_those_of_a_full_sort_and_ties_keep_their_order(scores: list[float], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    assert top_k(np.array(scores, float), k).tolist() == expected


MIXTURE = Mixture(30.0, Affine(0.5, -0.5), Affine(), Affine(0.0, 0.25), Affine(0.0, 1.0))


def test_a_plan_looks_at_the_fields_that_have_a_share() -> None:
    assert list(MIXTURE.fields()) == ["sentence", "document"]
    saturation = Saturation(1.2, Smoothing(), Smoothing(0.4), Smoothing(0.6))
    assert list(saturation.fields()) == ["surrounding", "document"]


def test_a_share_that_slopes_alone_is_a_share() -> None:
    assert Affine().is_zero and not Affine(0.0, 1.0).is_zero and not Affine(1.0).is_zero


def test_a_plan_is_plain_data() -> None:
    plan = Plan(
        (PlanTerm("storm", 2.0, 0.1), PlanTerm("flood", 0.5, 0.2)),
        MIXTURE,
        "context",
        "document",
        (StaticScore("length", "log", 1.0, -2.0, required=True),),
    )
    data = plan.as_dict()
    assert json.loads(json.dumps(data))["shape"] == "mixture"
    assert data["candidates"] == "context"
    assert plan.query_weight == 2.5


def test_a_term_in_a_title_alone_is_seen() -> None:
    assert TermStatistics(0, 1, 0).is_seen
    assert not TermStatistics(0, 0, 0).is_seen


def test_averages_of_nothing_are_nothing() -> None:
    empty = CollectionStatistics()
    averages = (
        empty.average_sentence,
        empty.average_document,
        empty.average_surrounding,
        empty.average_document_by_sentences,
    )
    assert averages == (0.0, 0.0, 0.0, 0.0)


def test_averages_are_over_sentences_or_over_documents() -> None:
    collection = CollectionStatistics(
        sentences=8,
        documents=3,
        occurrences=32,
        document_length=36,
        surrounding_length=80,
        weighted_document_length=104,
    )
    assert collection.average_sentence == 4.0
    assert collection.average_document == 12.0
    assert collection.average_surrounding == 10.0
    assert collection.average_document_by_sentences == 13.0
