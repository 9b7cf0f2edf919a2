"""Adjustments: a feature in a ranking, with the form in which its values add to scores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import force_setattr

from esr.errors import UsageError, unknown
from esr.models.curves import as_dict, curve_from_dict
from esr.models.forms import get_form
from esr.plans.plan import FEATURE_PREFIX, Curve, StaticScore
from esr.registry import parse_values

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
