"""Static scores, which are added to a sentence's score for any query: priors, and features by their forms.

A prior is the probability of a sentence before any query is known. The priors are sentence importance p(d|s),
how specific a sentence's terms are to its document, and length, by which a sentence's probability is
proportional to its length.

An adjustment is a feature in a ranking, with the form in which its values add to scores. Forms with
parameters are linear, log, satu (a saturation), sigm (a saturation with a slow start) and step. The forms
floe and indep are curves trained from judgements: the weight of a feature, minus the part that the ranking
already accounts for (FLOE), or as if the feature were independent of the query (indep). Source: Fernández &
Losada 2012; docs/formulas.md, section B.

Curves go through points by PCHIP, a cubic interpolation that preserves the shape of its points: no peak or
dip appears between two of them (docs/formulas.md, B.7). SciPy has the same interpolation, but searches need
nothing else of SciPy, which would make up a third of the installation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct, field
from msgspec.structs import force_setattr

from esr.errors import UsageError, unknown
from esr.plans.evaluate import Array
from esr.plans.plan import FEATURE_PREFIX, CollectionStatistics, Curve, StaticScore, StaticScoreForm
from esr.registry import Parameter, Registry, check_parameters, parse_values

# Priors


class Prior(Struct, frozen=True):
    """A log prior: weight * ( form(column) + constant(collection) )."""

    name: str
    description: str
    source: str
    column: str
    form: Literal["linear", "log"] = "linear"
    constant: Callable[[CollectionStatistics], float] = lambda collection: 0.0

    def static_score(self, weight: float, collection: CollectionStatistics) -> StaticScore:
        """The prior as a static score of a plan."""
        return StaticScore(self.column, self.form, weight, weight * self.constant(collection), required=True)

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "description": self.description, "source": self.source}


PRIORS: Registry[Prior] = Registry("prior", "priors", Prior)


def check_weight(name: str, value: Any) -> float:
    """Check the weight of a prior. Raises UsageError unless it is a finite number."""
    try:
        weight = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not math.isfinite(weight):
        raise UsageError(f"the weight of prior {name!r} must be a finite number, not {value!r}")
    return weight


_HARM = "made for ranking within few documents; much worse over a whole collection"

for _prior in (
    Prior(
        "importance",
        f"log p(d|s), terms of the sentence in its document against the collection ({_HARM})",
        "Fernández, Losada & Azzopardi 2011, eqs. 4-7; docs/formulas.md, A.4",
        "importance",
    ),
    Prior(
        "importance-surrounding",
        f"log p(d|s) with the surrounding sentences in the document's place ({_HARM})",
        "docs/formulas.md, A.4, second reading",
        "importance_surrounding",
    ),
    Prior(
        "length",
        "log( c(s) / collection length ); sentences without terms are left out",
        "Fernández, Losada & Azzopardi 2011, Table 9; docs/formulas.md, A.8",
        "length",
        "log",
        lambda collection: -math.log(max(collection.occurrences, 1)),
    ),
):
    PRIORS.register(_prior)


# Forms and curves

WEIGHT = Parameter(
    "w",
    "weight",
    1.0,
    low=-math.inf,
    high=math.inf,
    open_low=True,
    open_high=True,
    grid=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
)
HALFWAY = Parameter(
    "k", "value that gets half of the weight", 1.0, high=math.inf, open_low=True, open_high=True
)
CRASWELL = "Craswell, Robertson, Zaragoza & Taylor 2005; docs/formulas.md, B.9"
FERNANDEZ = "Fernández & Losada 2012, section 5.2.1; docs/formulas.md, B.9"


class Form(Struct, frozen=True):
    """How a value I becomes an addition: w times a function of I, or a curve trained from judgements.

    `function` names the function for the engines. A trained form has a curve instead of parameters.
    """

    name: str
    description: str
    source: str
    function: StaticScoreForm
    parameters: tuple[Parameter, ...] = ()

    @property
    def is_trained(self) -> bool:
        return self.function == "curve"

    def check(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return these parameters as numbers. Raises UsageError for a bad name or value."""
        if values and not self.parameters:
            raise UsageError(f"form {self.name!r} takes no parameters: leave out {', '.join(values)}")
        checked = check_parameters(f"form {self.name}", self.parameters, values)
        return {name: float(checked[name]) for name in values}

    def to_static_score(self, column: str, values: Mapping[str, Any], curve: Curve | None) -> StaticScore:
        """The form over a column as a static score of a plan, with defaults filled in."""
        params = {p.name: float(p.check(values.get(p.name, p.default))) for p in self.parameters}
        weight = params.pop("w", 1.0)
        return StaticScore(column, self.function, weight, curve=curve, **params)  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "trained": self.is_trained,
            "parameters": [parameter.as_dict() for parameter in self.parameters],
        }


FORMS: Registry[Form] = Registry("form", "forms", Form)
get_form = FORMS.find

_SHIFT = Parameter("shift", "added to I; use 0 for features above 0", 1.0, high=math.inf, open_high=True)
_STEEPNESS = Parameter("a", "steepness", 1.0, high=math.inf, open_low=True, open_high=True)

for _form in (
    Form(
        "floe",
        "log P(I|R) / P(I|T), a curve trained from judgements: T are the sentences ranked first",
        "Craswell et al. 2005; Fernández & Losada 2012, eqs. 8-9; docs/formulas.md, B.6",
        "curve",
    ),
    Form(
        "indep",
        "log P(I|R) / P(I), a curve trained from judgements: R are the relevant sentences",
        "Fernández & Losada 2012, eqs. 6-7; docs/formulas.md, B.4-B.5",
        "curve",
    ),
    Form("linear", "w * I", FERNANDEZ, "linear", (WEIGHT,)),
    Form("log", "w * log(shift + I); nothing where I is -shift or less", FERNANDEZ, "log", (WEIGHT, _SHIFT)),
    Form("satu", "w * I / (k + I); a negative I counts as 0", CRASWELL, "satu", (WEIGHT, HALFWAY)),
    Form(
        "sigm",
        "w * I^a / (k^a + I^a); a negative I counts as 0",
        CRASWELL,
        "sigm",
        (WEIGHT, HALFWAY, _STEEPNESS),
    ),
    Form("step", "w if I > 0, else 0", FERNANDEZ, "step", (WEIGHT,)),
):
    FORMS.register(_form)


def pchip_slopes(x: Array, y: Array) -> Array:
    """The slope at each of two or more points with increasing `x`. Not finite where undefined.

    Slopes at interior points follow Fritsch & Carlson 1980 and Fritsch & Butland 1984 (doi:10.1137/0905021),
    those at the ends Moler 2004 (Numerical Computing with MATLAB, section 3.6).

    The results equal `scipy.interpolate.PchipInterpolator(x, y).derivative()(x)` bit for bit, on which stored
    rankings depend: at the last point, that is the derivative of the last piece at its end.
    """
    with np.errstate(all="ignore"):
        widths = np.diff(x)
        secants = np.diff(y) / widths
        if len(x) == 2:
            at_points = np.repeat(secants, 2)
        else:
            at_points = np.zeros(len(x))
            at_points[1:-1] = _interior(widths, secants)
            at_points[0] = _end(widths[0], widths[1], secants[0], secants[1])
            at_points[-1] = _end(widths[-1], widths[-2], secants[-1], secants[-2])
        return _derivatives(widths, secants, at_points)


def _interior(widths: Array, secants: Array) -> Array:
    """Weighted harmonic means of the secants on both sides; 0 where their signs differ or one is 0."""
    before, after = secants[:-1], secants[1:]
    is_flat = (np.sign(before) != np.sign(after)) | (before == 0) | (after == 0)
    weight_before, weight_after = 2 * widths[1:] + widths[:-1], widths[1:] + 2 * widths[:-1]
    inverse = (weight_before / before + weight_after / after) / (weight_before + weight_after)
    return np.where(is_flat, 0.0, 1.0 / inverse)


def _end(width: float, next_width: float, secant: float, next_secant: float) -> float:
    """The three-point estimate, limited so that the curve keeps the direction of its first secant."""
    slope = ((2 * width + next_width) * secant - width * next_secant) / (width + next_width)
    if np.sign(slope) != np.sign(secant):
        return 0.0
    if np.sign(secant) != np.sign(next_secant) and abs(slope) > 3.0 * abs(secant):
        return 3.0 * secant
    return slope


def _derivatives(widths: Array, secants: Array, at_points: Array) -> Array:
    """The derivative at each point of the piece that begins there; at the last point, of the last piece."""
    excess = (at_points[:-1] + at_points[1:] - 2 * secants) / widths
    cubic = excess / widths
    square = (secants - at_points[:-1]) / widths - excess
    offsets = np.append(np.zeros(len(widths)), widths[-1])
    pieces = np.append(np.arange(len(widths)), len(widths) - 1)
    derivatives: Array = 0.0 + at_points[pieces]  # no negative zero
    derivatives += 2 * square[pieces] * offsets
    derivatives += 3 * cubic[pieces] * (offsets * offsets)
    return derivatives


_KEYS = ("values", "adds", "outside")


def fit_curve(values: Sequence[float], adds: Sequence[float], outside: float | None = None) -> Curve:
    """Fit a curve through these points. Raises UsageError if there is none.

    Values outside the range of the points add `outside` or, if it is None, as much as the nearest point.
    """
    if not len(values) or len(values) != len(adds):
        raise UsageError(
            f"a curve must have as many adds as values, at least one, not {len(adds)} and {len(values)}"
        )
    x, y = np.array(values, float), np.array(adds, float)
    if not (np.isfinite(x).all() and np.isfinite(y).all() and math.isfinite(outside or 0.0)):
        raise UsageError("a curve's values and adds must be finite numbers")
    if (x[1:] <= x[:-1]).any():
        raise UsageError("a curve's values must be in strictly increasing order")
    with np.errstate(all="ignore"):
        slopes = pchip_slopes(x, y) if len(x) > 1 else np.zeros(1)
        bends = np.diff(y) / np.diff(x) / np.diff(x)
    if not (np.isfinite(slopes).all() and np.isfinite(bends).all()):
        raise UsageError("a curve's values are too far apart or too close together for a curve through them")
    return Curve(tuple(x.tolist()), tuple(y.tolist()), tuple(slopes.tolist()), outside)


def curve_from_dict(data: Any) -> Curve:
    """Read a curve from JSON: `{"values": [...], "adds": [...]}`, with `"outside"` if it has one."""
    if not isinstance(data, Mapping):
        raise UsageError(f"a curve must be a JSON object, not {data!r}")
    for key in data:
        if key not in _KEYS:
            raise unknown("key of a curve", str(key), _KEYS)
    for key in ("values", "adds"):
        if not isinstance(data.get(key), list) or not all(map(_is_number, data[key])):
            raise UsageError(f"a curve's {key!r} must be a list of numbers, not {data.get(key)!r}")
    outside = data.get("outside")
    if outside is not None and not _is_number(outside):
        raise UsageError(f"a curve's 'outside' must be a number, not {outside!r}")
    try:
        return fit_curve([float(v) for v in data["values"]], [float(v) for v in data["adds"]], outside)
    except OverflowError as error:
        raise UsageError("a curve's values and adds must be finite numbers") from error


def as_dict(curve: Curve) -> dict[str, Any]:
    """The curve as `curve_from_dict` reads it, which recomputes the slopes."""
    data: dict[str, Any] = {"values": list(curve.values), "adds": list(curve.adds)}
    return data if curve.outside is None else data | {"outside": curve.outside}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# Adjustments

BUILTIN_FEATURES = {"len": "length", "position": "position"}
"""Features that every index has for every sentence, and their columns."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def feature_column(feature: str) -> str:
    """The column of a feature. Raises UsageError for an invalid feature name."""
    if not _NAME.fullmatch(feature):
        raise UsageError(f"a feature name is a letter, then letters, digits and underscores, not {feature!r}")
    return BUILTIN_FEATURES.get(feature, FEATURE_PREFIX + feature)


class Adjustment(Struct, frozen=True):
    """A feature, a form and its parameters. Parameters missing from `params` have their defaults.

    Raises UsageError for an unknown form or parameter, with the nearest name, or a value out of range.
    """

    feature: str
    form: str
    params: Mapping[str, float] = field(default_factory=dict)
    curve: Curve | None = None

    def __post_init__(self) -> None:
        feature_column(self.feature)
        form = get_form(self.form)
        force_setattr(self, "params", form.check(self.params))
        if form.is_trained and self.curve is None:
            raise UsageError(
                f"form {self.form!r} of feature {self.feature!r} has no curve: "
                f"train one with esr tune --train {self.form}:{self.feature}"
            )
        if self.curve is not None and not form.is_trained:
            raise UsageError(f"form {self.form!r} of feature {self.feature!r} takes no curve: leave it out")

    @property
    def column(self) -> str:
        return feature_column(self.feature)

    def static_score(self) -> StaticScore:
        """The adjustment as a static score of a plan."""
        return get_form(self.form).to_static_score(self.column, self.params, self.curve)

    def as_dict(self) -> dict[str, Any]:
        """The adjustment as in a ranking file, with every default filled in."""
        params = {p.name: self.params.get(p.name, p.default) for p in get_form(self.form).parameters}
        data: dict[str, Any] = {"feature": self.feature, "form": self.form, **params}
        return data if self.curve is None else data | {"curve": as_dict(self.curve)}


def adjustment_from_dict(data: Any) -> Adjustment:
    """Read an adjustment from JSON: `{"feature": "subj", "form": "linear", "w": 0.5}`."""
    if not isinstance(data, Mapping):
        raise UsageError(
            f'a feature must be a JSON object such as {{"feature": "subj", "form": "linear"}}, not {data!r}'
        )
    for key in ("feature", "form"):
        if not isinstance(data.get(key), str):
            raise UsageError(f"a feature's {key!r} must be a name, not {data.get(key)!r}")
    form = get_form(data["form"])
    params = {key: value for key, value in data.items() if key not in ("feature", "form", "curve")}
    allowed = {"curve"} if form.is_trained else {p.name for p in form.parameters}
    for name in params:
        if name not in allowed:
            raise unknown(f"key of a feature with form {form.name}", str(name), allowed | {"feature", "form"})
    curve = None if data.get("curve") is None else curve_from_dict(data["curve"])
    return Adjustment(data["feature"], data["form"], params, curve)


def parse_adjustment(text: str) -> Adjustment:
    """Read an adjustment, written as `NAME:FORM[:WEIGHT][:PARAMETER=VALUE...]`.

    Examples: `subj:linear:0.5`, `len:log:0.1:shift=0`.
    """
    feature, _, rest = text.partition(":")
    form, *parts = rest.split(":")
    if not form:
        raise UsageError(f"--feature must be NAME:FORM[:WEIGHT], such as subj:linear:0.5, not {text!r}")
    params: Mapping[str, Any] = parse_values("--feature", text, parts)
    return Adjustment(feature, form, params)
