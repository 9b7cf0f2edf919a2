"""The plan of each model for one query: its terms and its transform are those of docs/formulas.md."""

from __future__ import annotations

import math
from typing import Any

import pytest

from esr.dependency.tdsr import TDSR_PARAMETERS
from esr.errors import UsageError
from esr.models import get
from esr.models.adjustments import adjustment_from_dict
from esr.models.curves import curve_from_dict, fit_curve
from esr.models.model import Query, check_at_most_one
from esr.models.term_dependence import F_I
from esr.plans.plan import (
    Affine,
    CollectionStatistics,
    Mixture,
    PlanTerm,
    Saturation,
    Smoothing,
    Statistics,
    TermStatistics,
)

COLLECTION = CollectionStatistics(
    sentences=10,
    documents=4,
    occurrences=60,
    document_length=68,
    surrounding_length=150,
    weighted_document_length=210,
    document_terms=40,
)
"""The averages: 6 terms a sentence, 15 a surrounding, 17 a document, 21 a sentence's document."""
STATISTICS = Statistics(COLLECTION, {"rare": TermStatistics(2, 1, 4), "often": TermStatistics(7, 3, 9)})
QUERY = Query({"rare": 1, "often": 3}, 5, STATISTICS)
"""Its fifth term is not in the collection."""
EMPTY = Query({"rare": 1}, 1, Statistics(CollectionStatistics(), {"rare": TermStatistics(0, 1, 0)}))
NO = Smoothing()


def plan(model: str, context: str | None = None, query: Query = QUERY, **values: Any) -> Any:
    found = get(model)
    return found.plan(found.settings(values, context), query)


def weights(terms: tuple[PlanTerm, ...]) -> dict[str, float]:
    return {term.term: term.weight for term in terms}


def both(sentence: Any, surrounding: Any, document: Any, collection: Any, mu: float = 0.0) -> Mixture:
    return Mixture(mu, *(Affine(*pair) for pair in (sentence, surrounding, document, collection)))


MIXTURES: dict[str, tuple[str, str | None, dict[str, Any], Mixture]] = {
    "jm": ("jm", None, {"lambda": 0.25}, both((0.75,), (), (), (0.25,))),
    "dir": ("dir", None, {"mu": 8}, both((1.0, -1.0), (), (), (0.0, 1.0), 8.0)),
    "kld": ("kld", None, {"mu": 8}, both((1.0, -1.0), (), (), (0.0, 1.0), 8.0)),
    "3mm flat": (
        "3mm",
        "both",
        {"lambda": 0.5, "gamma": 0.125, "nu": 0.25},
        both((0.5,), (0.25,), (0.125,), (0.125,)),
    ),
    "3mm flat of the surrounding": (
        "3mm",
        "surrounding",
        {"lambda": 0.5, "gamma": 0.125},
        both((0.5,), (0.125,), (), (0.375,)),
    ),
    "3mm flat_jm": (
        "3mm",
        "both",
        {"lambda": 0.5, "gamma": 0.125, "nu": 0.25, "form": "flat_jm"},
        both((0.125,), (0.25,), (0.125,), (0.5,)),
    ),
    "3mm nested": (
        "3mm",
        "both",
        {"lambda": 0.5, "gamma": 0.125, "nu": 0.25, "form": "nested"},
        both((0.3125,), (0.125,), (0.0625,), (0.5,)),
    ),
    "2s": (
        "2s",
        "both",
        {"mu": 8, "lambda": 0.5, "nu": 0.25},
        both((0.5, -0.5), (0.0, 0.125), (0.0, 0.375), (0.5,), 8.0),
    ),
    "2s of the surrounding": (
        "2s",
        "surrounding",
        {"mu": 8, "lambda": 0.5},
        both((0.5, -0.5), (0.0, 0.5), (), (0.5,), 8.0),
    ),
    "2si": (
        "2si",
        "both",
        {"mu": 8, "lambda": 0.5, "nu": 0.125},
        both((0.375, -0.375), (0.125, -0.125), (0.5, -0.5), (0.0, 1.0), 8.0),
    ),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_a_language_model_mixes_the_shares_of_its_formula(name: str) -> None:
    model, context, values, expected = MIXTURES[name]
    terms, transform = plan(model, context, **values)
    assert transform == expected
    scale = 1 / 5 if model == "kld" else 1.0
    assert terms == (PlanTerm("rare", scale, 4 / 60), PlanTerm("often", 3 * scale, 9 / 60))
    terms, _ = plan(model, context, background="documents", **values)
    assert [term.background for term in terms] == [1 / 40, 3 / 40]


def test_the_divergence_of_a_query_without_terms_is_finite() -> None:
    assert plan("kld", query=Query({}, 0, STATISTICS)).terms == ()


def idf(size: int, frequency: int) -> float:
    return math.log((size + 1) / (frequency + 0.5))


@pytest.mark.parametrize("model", ["tfisf", "tfmix"])
@pytest.mark.parametrize(
    ("level", "rare", "often"),
    [
        ("sentence", idf(10, 2), idf(10, 7)),
        ("document", idf(4, 1), idf(4, 3)),
        ("document_keep_n", idf(10, 1), idf(10, 3)),
    ],
)
def test_tfisf_counts_rarity_at_the_level_that_is_asked_for(
    model: str, level: str, rare: float, often: float
) -> None:
    terms, _ = plan(model, idf=level)
    assert weights(terms) == pytest.approx({"rare": math.log(2) * rare, "often": math.log(4) * often})


def test_the_saturations_have_the_shares_of_their_fields() -> None:
    assert plan("tfisf").transform == Saturation(None, Smoothing(1.0), NO, NO)
    assert plan("tfmix", "both", alpha=0.5, nu=0.125).transform == Saturation(
        None, Smoothing(0.5), Smoothing(0.125), Smoothing(0.375)
    )
    assert plan("tfmix", "surrounding", alpha=0.5).transform == Saturation(
        None, Smoothing(0.5), Smoothing(0.5), NO
    )
    assert plan("bm25", k1=2, b=0.25).transform == Saturation(2.0, Smoothing(1.0, 0.25, 6.0), NO, NO)
    values = {"alpha": 0.5, "nu": 0.125, "k1": 2, "b_sent": 0.25, "b_context": 0.75}
    fields = Smoothing(0.5, 0.25, 6.0), Smoothing(0.125, 0.75, 15.0)
    assert plan("bm25f", "both", **values).transform == Saturation(2.0, *fields, Smoothing(0.375, 0.75, 17.0))
    assert plan("bm25f", "both", **values, avcl="sentences").transform == Saturation(
        2.0, *fields, Smoothing(0.375, 0.75, 21.0)
    )


def test_the_averages_of_an_empty_collection_are_one() -> None:
    assert plan("bm25", query=EMPTY).transform.sentence.average == 1.0
    fields = plan("bm25f", "both", query=EMPTY).transform
    assert [fields.sentence.average, fields.surrounding.average, fields.document.average] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("model", ["bm25", "bm25f"])
def test_bm25_saturates_repeated_terms_of_a_query_by_k3(model: str) -> None:
    rare, often = math.log((10 - 2 + 0.5) / (2 + 0.5)), math.log((10 - 7 + 0.5) / (7 + 0.5))
    assert weights(plan(model).terms) == pytest.approx({"rare": rare, "often": often})
    assert weights(plan(model, k3=2).terms) == pytest.approx({"rare": rare, "often": often * 9 / 5})


@pytest.mark.parametrize(
    ("model", "values", "message"),
    [
        ("3mm", {"lambda": 0.5, "gamma": 0.25, "nu": 0.25}, r"lambda \+ gamma \+ nu must be below 1, not 1"),
        ("3mm", {"lambda": 0.5, "gamma": 0.25, "nu": 0.5, "form": "flat_jm"}, "must be at most 1, not 1.25"),
        ("3mm", {"lambda": 0.0, "gamma": 0.25, "nu": 0.25, "form": "flat_jm"}, "but the collection"),
        ("3mm", {"gamma": 0.75, "nu": 0.5, "form": "nested"}, r"gamma \+ nu must be at most 1, not 1.25"),
        ("2si", {"lambda": 0.75, "nu": 0.5}, r"lambda \+ nu must be at most 1, not 1.25"),
        ("tfmix", {"alpha": 0.75, "nu": 0.5}, r"alpha \+ nu must be at most 1, not 1.25"),
        ("bm25f", {"alpha": 0.75, "nu": 0.5}, r"alpha \+ nu must be at most 1, not 1.25"),
    ],
)
def test_shares_that_are_more_than_all_are_refused(model: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(model, "both", **values)


def test_a_sum_of_shares_may_be_one_but_for_rounding() -> None:
    check_at_most_one("shares", 1.0 + 1e-13)
    check_at_most_one("shares", 1.0 - 1e-11, strictly=True)
    with pytest.raises(UsageError, match="at most 1"):
        check_at_most_one("shares", 1.0 + 1e-11)
    with pytest.raises(UsageError, match="below 1"):
        check_at_most_one("shares", 1.0 - 1e-13, strictly=True)


def test_the_first_stages_of_term_dependence_sum_over_the_positions_of_the_query() -> None:
    settings = get("tfisf").settings({}, None)
    terms, transform = F_I["tfisf"](settings, QUERY)
    assert weights(terms) == pytest.approx({"rare": idf(10, 2), "often": 3 * idf(10, 7)})
    assert transform == Saturation(None, Smoothing(1.0), NO, NO)
    terms, transform = F_I["binary"](settings, QUERY)
    assert weights(terms) == {"rare": 1.0, "often": 3.0}
    assert transform == Saturation(0.0, Smoothing(1.0), NO, NO)
    assert TDSR_PARAMETERS and plan("tdsr").transform == Saturation(None, Smoothing(1.0), NO, NO)


@pytest.mark.parametrize(
    ("values", "adds", "outside", "message"),
    [
        ([], [], None, "at least one, not 0 and 0"),
        ([0, 1], [1], None, "not 1 and 2"),
        ([0, math.inf], [0, 1], None, "must be finite"),
        ([0, 1], [0, math.nan], None, "must be finite"),
        ([0, 1], [0, 1], math.inf, "must be finite"),
        ([0, 0], [0, 1], None, "strictly increasing"),
        ([0, 1e-300], [0, 1e300], None, "too close together"),
        ([0, 1e-200], [0, 1], None, "too close together"),
    ],
)
def test_points_without_a_curve_are_refused(
    values: list[float], adds: list[float], outside: float | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        fit_curve(values, adds, outside)


def test_a_line_has_its_own_slope_at_each_point() -> None:
    for slope in (-1.0, 1.0, 0.0):
        assert fit_curve([0, 1, 2], [0, slope, 2 * slope]).slopes == (slope,) * 3


def test_a_misspelt_key_of_a_feature_is_told_with_the_nearest() -> None:
    for key, nearest in (("formm", "form"), ("features", "feature")):
        with pytest.raises(UsageError, match=f"unknown key of a feature with form linear '{key}'") as raised:
            adjustment_from_dict({"feature": "subj", "form": "linear", key: 1})
        assert f"did you mean '{nearest}'" in str(raised.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "must be a JSON object"),
        ({"value": [1]}, "unknown key of a curve 'value': did you mean 'values'"),
        ({"values": [1]}, "'adds' must be a list of numbers"),
        ({"values": [True], "adds": [1]}, "'values' must be a list of numbers"),
        ({"values": [1], "adds": [1], "outside": "x"}, "'outside' must be a number"),
        ({"values": [10**400], "adds": [1]}, "must be finite numbers"),
    ],
)
def test_data_that_is_no_curve_is_refused(data: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        curve_from_dict(data)
