"""A feature in a ranking: its name, its form, and the form's parameters or curve."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import force_setattr

from esr.adjustments import curves
from esr.adjustments.form import get
from esr.errors import UsageError, unknown
from esr.parameter import parse_values
from esr.plans.plan import FEATURE_PREFIX, Curve, Static

BUILTIN_FEATURES = {"len": "length", "position": "position"}
"""Features that every index has of every sentence, and their columns."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def feature_column(feature: str) -> str:
    """The column that holds a feature. Raises UsageError for an invalid feature name."""
    if not _NAME.fullmatch(feature):
        raise UsageError(f"a feature name is a letter, then letters, digits and underscores, not {feature!r}")
    return BUILTIN_FEATURES.get(feature, FEATURE_PREFIX + feature)


class Adjustment(Struct, frozen=True):
    """A feature, a form and its parameters; those missing from `params` have their defaults.

    Raises UsageError for an unknown form or parameter, with the nearest name, or a value out of range.
    """

    feature: str
    form: str
    params: Mapping[str, float] = field(default_factory=dict)
    curve: Curve | None = None

    def __post_init__(self) -> None:
        feature_column(self.feature)
        form = get(self.form)
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

    def static(self) -> Static:
        """The adjustment as the part of a plan that engines execute."""
        return get(self.form).to_static(self.column, self.params, self.curve)

    def as_dict(self) -> dict[str, Any]:
        """As in a ranking file, with every default filled in."""
        params = {p.name: self.params.get(p.name, p.default) for p in get(self.form).parameters}
        data: dict[str, Any] = {"feature": self.feature, "form": self.form, **params}
        return data if self.curve is None else data | {"curve": curves.as_dict(self.curve)}


def from_dict(data: Any) -> Adjustment:
    """From JSON: `{"feature": "subj", "form": "linear", "w": 0.5}`."""
    if not isinstance(data, Mapping):
        raise UsageError(
            f'a feature must be a JSON object such as {{"feature": "subj", "form": "linear"}}, not {data!r}'
        )
    for key in ("feature", "form"):
        if not isinstance(data.get(key), str):
            raise UsageError(f"a feature's {key!r} must be a name, not {data.get(key)!r}")
    form = get(data["form"])
    params = {key: value for key, value in data.items() if key not in ("feature", "form", "curve")}
    allowed = {"curve"} if form.is_trained else {p.name for p in form.parameters}
    for name in params:
        if name not in allowed:
            raise unknown(f"key of a feature with form {form.name}", str(name), allowed | {"feature", "form"})
    curve = None if data.get("curve") is None else curves.from_dict(data["curve"])
    return Adjustment(data["feature"], data["form"], params, curve)


def parse(text: str) -> Adjustment:
    """From `NAME:FORM[:WEIGHT][:PARAMETER=VALUE...]`, as `subj:linear:0.5` or `len:log:0.1:shift=0`."""
    feature, _, rest = text.partition(":")
    form, *parts = rest.split(":")
    if not form:
        raise UsageError(f"--feature must be NAME:FORM[:WEIGHT], such as subj:linear:0.5, not {text!r}")
    params: Mapping[str, Any] = parse_values("--feature", text, parts)
    return Adjustment(feature, form, params)
