"""Adjustments: every form by hand, the curves, and what makes no adjustment."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from esr.errors import UsageError
from esr.models.adjustments import Adjustment, adjustment_from_dict, feature_column, parse_adjustment
from esr.models.curves import fit_curve, pchip_slopes
from esr.models.forms import FORMS
from esr.plans.evaluate import apply_static_score, evaluate_curve

NAN = math.nan
CURVE = {"values": [0, 1, 3], "adds": [0.5, -0.5, 2.0]}
numbers = st.floats(-100, 100).map(lambda x: round(x, 2))


def added(value: float, form: str, **params: Any) -> float:
    adjustment = adjustment_from_dict({"feature": "subj", "form": form, **params})
    return float(apply_static_score(adjustment.static_score(), np.array([value]))[0])


@pytest.mark.parametrize(
    ("form", "params", "value", "adds"),
    [
        ("linear", {"w": 0.5}, 3, 1.5),
        ("linear", {"w": 0.5}, -3, -1.5),
        ("linear", {}, 3, 3),
        ("log", {"w": 0.5}, 3, 0.5 * math.log(4)),
        ("log", {"w": 0.5}, 0, 0),
        ("log", {"w": 2, "shift": 0}, 3, 2 * math.log(3)),
        ("log", {"w": 2, "shift": 0}, 0, 0),
        ("log", {"w": 2}, -1, 0),
        ("log", {"w": 2}, -5, 0),
        ("step", {"w": 0.5}, 1e-9, 0.5),
        ("step", {"w": 0.5}, 0, 0),
        ("step", {"w": 0.5}, -1, 0),
        ("satu", {"w": 0.5, "k": 2}, 3, 0.5 * 3 / 5),
        ("satu", {"w": 0.5, "k": 2}, 0, 0),
        ("satu", {"w": 0.5, "k": 2}, -2, 0),
        ("satu", {"w": 0.5, "k": 2}, 1.7e308, 0.5),
        ("sigm", {"w": 0.5, "k": 2, "a": 3}, 3, 0.5 * 27 / (8 + 27)),
        ("sigm", {"w": 0.5, "k": 2, "a": 3}, 0, 0),
        ("sigm", {"w": 0.5, "k": 2, "a": 3}, -3, 0),
        ("sigm", {"w": 0.5, "k": 2, "a": 3}, 1e200, 0.5),
        ("floe", {"curve": CURVE}, 1, -0.5),
        ("indep", {"curve": CURVE}, 3, 2.0),
    ],
)
def test_a_form_adds_what_is_computed_by_hand(
    form: str, params: dict[str, Any], value: float, adds: float
) -> None:
    assert added(value, form, **params) == pytest.approx(adds, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("form", FORMS)
def test_a_feature_that_is_not_known_adds_nothing(form: str) -> None:
    params = {"curve": CURVE} if FORMS[form].is_trained else {"w": 2.5}
    assert added(NAN, form, **params) == 0.0


def test_what_no_double_holds_adds_nothing() -> None:
    assert added(1.7e308, "linear", w=10) == 0.0


@given(st.dictionaries(numbers, numbers, min_size=1, max_size=8), st.lists(numbers, min_size=1))
def test_a_curve_is_scipys_pchip_and_exact_at_its_values(points: dict[float, float], at: list[float]) -> None:
    values = sorted(points)
    adds = [points[value] for value in values]
    curve = fit_curve(values, adds)
    assert evaluate_curve(curve, np.array(values)).tolist() == adds
    clamped = np.clip(at, values[0], values[-1])
    expected = PchipInterpolator(values, adds)(clamped) if len(values) > 1 else np.full(len(at), adds[0])
    assert evaluate_curve(curve, np.array(at)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_between_two_values_a_curve_stays_between_what_they_add() -> None:
    curve = fit_curve([0, 1, 2, 10], [0, 0, 5, 5.1])
    assert evaluate_curve(curve, np.linspace(0, 1, 50)) == pytest.approx(0)
    assert (np.diff(evaluate_curve(curve, np.linspace(0, 10, 500))) >= -1e-12).all()


def test_outside_its_values_a_curve_adds_what_it_says() -> None:
    at = np.array([-1.0, 0.0, 3.0, 3.1])
    assert evaluate_curve(fit_curve([0, 3], [1, 2]), at).tolist() == [1, 1, 2, 2]
    assert evaluate_curve(fit_curve([0, 3], [1, 2], 0.25), at).tolist() == [0.25, 1, 2, 0.25]
    assert evaluate_curve(fit_curve([1], [2], 0.25), at).tolist() == [0.25] * 4


def test_the_features_that_need_no_enrichment_have_columns_of_their_own() -> None:
    columns = [feature_column(name) for name in ("len", "position", "subj")]
    assert columns == ["length", "position", "features.subj"]


@pytest.mark.parametrize(
    ("text", "feature", "form", "params"),
    [
        ("subj:linear", "subj", "linear", {}),
        ("subj:linear:0.5", "subj", "linear", {"w": 0.5}),
        ("len:log:0.1:shift=0", "len", "log", {"w": 0.1, "shift": 0.0}),
        ("len:log:shift=0:w=-1", "len", "log", {"w": -1.0, "shift": 0.0}),
    ],
)
def test_a_feature_is_read_from_text(text: str, feature: str, form: str, params: Any) -> None:
    assert parse_adjustment(text) == Adjustment(feature, form, params)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("subj", "must be NAME:FORM"),
        ("subj:", "must be NAME:FORM"),
        ("subj:liner:1", "unknown form 'liner': did you mean 'linear'"),
        ("subj:linear:much", "'w' must be a number in .*not 'much'"),
        ("subj:linear:1:2", "give each parameter once"),
        ("subj:linear:1:w=2", "give each parameter once"),
        ("subj:linear:inf", "'w' must be a number"),
        ("subj:linear:shift=1", "unknown parameter of form linear 'shift'"),
        ("subj:satu:k=0", "'k' must be a number in"),
        ("len:log:shift=-1", "'shift' must be a number in"),
        ("no name:linear", "a feature name is a letter"),
        ("pos:floe", "no curve: train one with esr tune --train floe:pos"),
        ("pos:floe:1", "takes no parameters"),
    ],
)
def test_text_that_is_no_feature_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_adjustment(text)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("subj:linear", "a feature must be a JSON object"),
        ({"form": "linear"}, "'feature' must be a name, not None"),
        ({"feature": "subj"}, "'form' must be a name, not None"),
        ({"feature": "subj", "form": "linear", "weight": 1}, "unknown key of a feature with form linear"),
        ({"feature": "subj", "form": "satu", "K": 1}, "unknown key"),
        ({"feature": "subj", "form": "linear", "w": True}, "'w' must be a number"),
        ({"feature": "subj", "form": "linear", "w": math.inf}, "'w' must be a number"),
        ({"feature": "subj", "form": "linear", "curve": CURVE}, "takes no curve"),
        ({"feature": "subj", "form": "floe"}, "has no curve"),
        ({"feature": "subj", "form": "floe", "w": 1, "curve": CURVE}, "unknown key"),
        ({"feature": "subj", "form": "floe", "curve": []}, "a curve must be a JSON object"),
        ({"feature": "subj", "form": "floe", "curve": {"values": [0]}}, "'adds' must be a list of numbers"),
        ({"feature": "subj", "form": "floe", "curve": {**CURVE, "add": []}}, "did you mean 'adds'"),
        ({"feature": "subj", "form": "floe", "curve": {**CURVE, "values": [0, 1]}}, "3 and 2"),
        (
            {"feature": "subj", "form": "floe", "curve": {**CURVE, "values": [0, 3, 1]}},
            "strictly increasing order",
        ),
        ({"feature": "subj", "form": "floe", "curve": {**CURVE, "values": [0, 1, NAN]}}, "finite"),
        ({"feature": "subj", "form": "floe", "curve": {**CURVE, "values": [0, 1, 10**400]}}, "finite"),
        (
            {"feature": "subj", "form": "floe", "curve": {**CURVE, "outside": "x"}},
            "'outside' must be a number",
        ),
        ({"feature": "subj", "form": "floe", "curve": {**CURVE, "values": [0, 1, 1.7e308]}}, "too far"),
        (
            {"feature": "subj", "form": "floe", "curve": {**CURVE, "values": [-1.7e308, 1, 1.7e308]}},
            "too far",
        ),
        ({"feature": "subj", "form": "floe", "curve": {"values": [0, 5e-324], "adds": [0, 1]}}, "too far"),
    ],
)
def test_data_that_is_no_feature_is_refused(data: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        adjustment_from_dict(data)


@pytest.mark.parametrize(
    "data",
    [
        {"feature": "subj", "form": "sigm", "w": 0.5, "k": 2.0, "a": 3.0},
        {"feature": "pos", "form": "floe", "curve": {"values": [0.0, 1.0], "adds": [0.1, 1.1]}},
        {"feature": "pos", "form": "indep", "curve": {"values": [0.0], "adds": [0.1], "outside": -1.0}},
    ],
)
def test_a_saved_feature_keeps_its_meaning(data: dict[str, Any]) -> None:
    adjustment = adjustment_from_dict(data)
    assert json.loads(json.dumps(adjustment.as_dict())) == data
    assert adjustment_from_dict(adjustment.as_dict()) == adjustment


# The slopes of curves are SciPy's, to the last bit.


increasing_numbers = st.one_of(
    st.integers(-5, 5).map(float),
    st.floats(-1000, 1000),
    st.floats(allow_nan=False, allow_infinity=False),
)
points = st.lists(
    st.tuples(increasing_numbers, increasing_numbers),
    min_size=2,
    max_size=12,
    unique_by=lambda point: point[0],
)


def scipy_slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(PchipInterpolator(x, y).derivative()(x))
        except ValueError:  # it finds no finite slope
            return np.full(len(x), np.nan)


@given(points)
def test_slopes_are_the_doubles_of_scipy(points: list[tuple[float, float]]) -> None:
    x, y = np.array(sorted(points)).T
    expected = scipy_slopes(x, y)
    slopes = pchip_slopes(x, y)
    assert np.isfinite(slopes).all() == np.isfinite(expected).all()
    if np.isfinite(expected).all():
        assert slopes.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("x", "y", "slopes"),
    [
        ([0, 2], [1, 5], [2, 2]),  # two points: a line
        ([0, 1, 2], [0, 1, 0], [2, 0, -2]),  # a peak is level, and its ends keep their direction
        ([0, 1, 2], [0, 1, 3], [0.5, 4 / 3, 2.5]),  # the harmonic mean of 1 and 2
        ([0, 1, 2], [0, 0, 1], [0, 0, 1.5]),  # level on one side, level at the point
        ([0, 1, 2], [0, 1, -9], [3, 0, -10 - 5.5]),  # an end is limited to three times its secant
    ],
)
def test_slopes_are_those_computed_by_hand(x: list[float], y: list[float], slopes: list[float]) -> None:
    assert pchip_slopes(np.array(x, float), np.array(y, float)) == pytest.approx(slopes, abs=1e-12)
