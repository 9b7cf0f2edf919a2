"""Upper bounds hold for every sentence, are exact for a single one, and are refused where there are none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.plans.bounds import EPS, Bound, DocumentPostings, SentencePostings
from esr.plans.evaluate import Evidence, score_sentences
from esr.plans.plan import Affine, Mixture, Plan, PlanTerm, Saturation, Smoothing, StaticScore

NOTHING = Affine()
MIXTURE = Mixture(6.0, Affine(0.5, -0.5), Affine(0.2, -0.2), Affine(0.3, -0.3), Affine(0.0, 1.0))
SATURATION = Saturation(1.2, Smoothing(0.5, 0.3, 4.0), Smoothing(0.3, 0.2, 9.0), Smoothing(0.2, 0.1, 20.0))
LOGARITHM = Saturation(None, Smoothing(0.5, 0.0, 4.0), Smoothing(0.0, 0.2, 9.0), Smoothing(0.5, 1.0, 20.0))
TRANSFORMS = [
    MIXTURE,
    Mixture(0.0, Affine(0.6), Affine(0.1), Affine(0.2), Affine(0.1)),
    Mixture(6.0, Affine(1.0, -1.0), NOTHING, NOTHING, Affine(0.0, 1.0)),
    Mixture(6.0, Affine(0.2), NOTHING, Affine(0.3, 0.3), Affine(0.5, -0.3)),
    SATURATION,
    LOGARITHM,
    Saturation(0.5, Smoothing(), Smoothing(1.0, 1.0, 9.0), Smoothing()),
]
Document = list[tuple[int, int]]
"""Of each sentence, c(t,s) and the number of its other terms."""


def plan_of(transform: Mixture | Saturation, *terms: PlanTerm, scores: int = 0) -> Plan:
    static_scores = (StaticScore("importance", "linear"),) * scores
    return Plan(terms, transform, "all", "surrounding", static_scores)


def evidence_of(documents: list[Document]) -> Evidence:
    """The evidence of all sentences for one term."""
    counts: list[list[int]] = [[], [], []]
    lengths: list[list[int]] = [[], [], []]
    for document in documents:
        own = [count for count, _ in document]
        size = [count + others for count, others in document]
        for numbers, rows in ((own, counts), (size, lengths)):
            rows[0] += numbers
            rows[1] += [sum(numbers[max(0, n - 1) : n + 2]) for n in range(len(numbers))]
            rows[2] += [sum(numbers)] * len(numbers)
    names = ("sentence", "surrounding", "document")
    return Evidence(
        {name: np.array([row], float) for name, row in zip(names, counts, strict=True)},  # type: ignore[misc]
        {name: np.array(row, float) for name, row in zip(names, lengths, strict=True)},  # type: ignore[misc]
        {},
    )


def bound_documents(transform: Mixture | Saturation, term: PlanTerm, documents: list[Document]) -> Any:
    """The bound of each document that has the term, as searches add it up."""
    evidence, bound = evidence_of(documents), Bound(transform, 1000)
    of_sentence = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    has_term = evidence.counts["sentence"][0] > 0
    group, starts = np.unique(of_sentence[has_term], return_index=True)
    sizes = [[count + others for count, others in document] for document in documents]
    shortest, longest = (np.array([end(size) for size in sizes], float) for end in (min, max))
    sentences = SentencePostings(
        {name: counts[0][has_term] for name, counts in evidence.counts.items()},
        {name: lengths[has_term] for name, lengths in evidence.lengths.items()},
        starts,
        group,
    )
    postings = DocumentPostings(
        np.array([sum(count for count, _ in document) for document in documents], float),
        np.array([*map(sum, sizes)], float),
        shortest,
        longest,
    )
    adds = term.weight * bound.upper_bounds(term, sentences, postings)
    constant, positive, negative = bound.termless_score([term])
    high, low = bound.log_collection_range(shortest, longest)
    return constant + positive * high + negative * low + adds


def best_scores(transform: Mixture | Saturation, term: PlanTerm, documents: list[Document]) -> Any:
    scores = score_sentences(plan_of(transform, term), evidence_of(documents))
    ends = np.cumsum([len(document) for document in documents])[:-1]
    return np.array([part.max() for part in np.split(scores, ends)])


sentences_of_terms = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 30)), min_size=1, max_size=5
).filter(lambda document: any(count for count, _ in document) and all(map(sum, document)))


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("is_own", [True, False])
@given(
    documents=st.lists(sentences_of_terms, min_size=1, max_size=4),
    weight=st.sampled_from([-2.0, -0.5, 0.5, 3.0]),
)
def test_no_sentence_scores_more_than_the_bound_of_its_document(
    transform: Mixture | Saturation, is_own: bool, documents: list[Document], weight: float
) -> None:
    term = PlanTerm("t", weight, 0.01, is_own)
    margin = 1e-9
    best = best_scores(transform, term, documents)
    assert (bound_documents(transform, term, documents) >= best - margin).all()


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("is_own", [True, False])
@given(sentence=st.tuples(st.integers(1, 4), st.integers(0, 30)))
def test_the_bound_of_a_single_sentence_is_its_score(
    transform: Mixture | Saturation, is_own: bool, sentence: tuple[int, int]
) -> None:
    documents, term = [[sentence]], PlanTerm("t", 2.0, 0.01, is_own)
    assert bound_documents(transform, term, documents) == pytest.approx(
        best_scores(transform, term, documents), rel=1e-9
    )


# Whether there are bounds


@pytest.mark.parametrize(
    ("saturation", "is_bounded"),
    [
        (SATURATION, True),
        (LOGARITHM, True),
        (Saturation(0.0, Smoothing(0.0, 0.0, 1e-9), Smoothing(), Smoothing(1.0, 1.0, 5.0)), True),
        (Saturation(-0.1, Smoothing(1.0), Smoothing(), Smoothing()), False),
        (Saturation(math.inf, Smoothing(1.0), Smoothing(), Smoothing()), False),
        (Saturation(1.0, Smoothing(-0.1), Smoothing(), Smoothing()), False),
        (Saturation(1.0, Smoothing(1.0, -0.1), Smoothing(), Smoothing()), False),
        (Saturation(1.0, Smoothing(1.0, 1.1), Smoothing(), Smoothing()), False),
        (Saturation(1.0, Smoothing(1.0, 0.5, 0.0), Smoothing(), Smoothing()), False),
        (Saturation(1.0, Smoothing(1.0), Smoothing(), Smoothing(1.0, 0.5, math.inf)), False),
    ],
)
def test_a_saturation_has_bounds_if_it_rises_with_the_evidence(
    saturation: Saturation, is_bounded: bool
) -> None:
    reason = Bound(saturation, 30).unavailable_reason([PlanTerm("t", 1.0)])
    assert reason == (None if is_bounded else "the saturation need not rise with the evidence")


def test_a_mixture_has_bounds_unless_a_share_may_be_negative() -> None:
    negative = Mixture(6.0, Affine(0.5, -0.6), NOTHING, NOTHING, Affine(0.5))
    assert Bound(negative, 30).unavailable_reason([]) == "a share of the mixture is negative"
    at_the_longest = Mixture(6.0, NOTHING, NOTHING, Affine(-0.125, 0.5), Affine(0.5))
    assert Bound(at_the_longest, 18).unavailable_reason([]) is None
    assert Bound(at_the_longest, 19).unavailable_reason([]) == "a share of the mixture is negative"


@pytest.mark.parametrize("weight", [math.inf, -math.inf, math.nan])
def test_a_weight_that_is_no_finite_number_has_no_bound(weight: float) -> None:
    terms = [PlanTerm("a", 1.0, 0.1), PlanTerm("b", weight, 0.1)]
    for transform in (MIXTURE, SATURATION):
        assert Bound(transform, 30).unavailable_reason(terms) == "a weight is not a finite number"


def test_a_mixture_without_the_part_of_the_collection_has_no_bound() -> None:
    alone = Mixture(0.0, Affine(1.0), NOTHING, NOTHING, Affine(0.0))
    missing = "the mixture may be 0 without the collection's part"
    assert Bound(alone, 30).unavailable_reason([PlanTerm("a", 1.0, 0.1)]) == missing
    assert Bound(MIXTURE, 30).unavailable_reason([PlanTerm("a", 1.0, 1e-300)]) == missing
    assert Bound(MIXTURE, 30).unavailable_reason([PlanTerm("a", 1.0, 1e-280), PlanTerm("b", 1.0)]) == missing
    assert Bound(MIXTURE, 30).unavailable_reason([PlanTerm("a", 1.0, 1e-280)]) is None


# The parts of bounds, by hand


def test_the_margin_grows_with_terms_and_static_scores_and_where_the_evidence_is_least() -> None:
    term = PlanTerm("t", 2.0, 0.01)
    for number, plan in (
        (1, plan_of(SATURATION, term)),
        (2, plan_of(SATURATION, term, scores=1)),
        (3, plan_of(SATURATION, term, term, scores=1)),
    ):
        margin = Bound(SATURATION, 30).rounding_margin(plan, 5.0)
        assert margin == pytest.approx(64 * EPS * (number + 4) * (number + 1) * 5.0)
    least = 0.01 * 6 / 36
    total = 1.0 + 0.4 + 0.6 + 1.0
    lost = 16 * EPS * total / least + 64 * EPS * 6 * (1 - math.log(least))
    with_mixture = Bound(MIXTURE, 30).rounding_margin(plan_of(MIXTURE, term, scores=1), 5.0)
    assert with_mixture == pytest.approx(64 * EPS * 6 * 3 * 5.0 + 2.0 * lost)


def test_a_sentence_without_terms_scores_what_the_collection_gives() -> None:
    terms = [
        PlanTerm("a", 2.0, 0.1),
        PlanTerm("b", -1.0, 0.2),
        PlanTerm("c", 0.5, 0.3),
        PlanTerm("d", 9.0, 0.4, own=False),
    ]
    constant = 2 * math.log(0.1) - math.log(0.2) + 0.5 * math.log(0.3)
    assert Bound(MIXTURE, 30).termless_score(terms) == pytest.approx((constant, 2.5, -1.0))
    assert Bound(SATURATION, 30).termless_score(terms) == (0.0, 0.0, 0.0)


def test_the_weight_of_the_collection_is_between_those_of_the_shortest_and_the_longest_sentence() -> None:
    shortest, longest = np.array([2.0, 4.0]), np.array([14.0, 4.0])
    high, low = Bound(MIXTURE, 30).log_collection_range(shortest, longest)
    assert high == pytest.approx([math.log(6 / 8), math.log(6 / 10)])
    assert low == pytest.approx([math.log(6 / 20), math.log(6 / 10)])
    for part in Bound(SATURATION, 30).log_collection_range(shortest, longest):
        assert part.tolist() == [0.0, 0.0]


def test_the_table_of_lengths_has_what_an_occurrence_is_worth() -> None:
    table = Bound(MIXTURE, 2).length_table()
    beta = np.array([1.0, 6 / 7, 6 / 8])
    rest = 1 - beta
    assert table[:, 0] == pytest.approx(0.5 * rest / [1, 1, 2] / beta)
    assert table[:, 1] == pytest.approx(0.2 * rest / beta)
    assert table[:, 2] == pytest.approx(0.3 * rest / beta)
    assert table[:, 3] == pytest.approx(np.log(beta))
    assert Bound(SATURATION, 2).length_table().tolist() == [[0.0] * 4]


def test_the_table_of_evidence_has_the_inputs_of_bounds() -> None:
    beta = np.array([1.0, 6 / 7, 6 / 8])
    rest = 1 - beta
    expected = np.stack([0.5 * rest / [1, 1, 2], 0.2 * rest, 0.3 * rest, beta], axis=1)
    assert Bound(MIXTURE, 2).evidence_table() == pytest.approx(expected)
    lengths = np.array([0.0, 1.0, 2.0])
    expected = np.zeros((3, 4))
    expected[:, 0] = 0.5 / (1 - 0.3 + 0.3 * lengths / 4)
    expected[:, 1] = (1 - 0.2) / 2 + 0.2 * lengths / 9
    assert Bound(SATURATION, 2).evidence_table() == pytest.approx(expected)
    assert Bound(LOGARITHM, 2).evidence_table()[:, 1].tolist() == [0.0, 0.0, 0.0]
