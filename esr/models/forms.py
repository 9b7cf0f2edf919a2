"""Forms: how the values of a feature add to scores.

Forms with parameters are linear, log, satu (a saturation), sigm (a saturation with a slow start) and
step. The forms floe and indep are curves trained from judgements: the weight of a feature, minus the part
that the ranking already accounts for (FLOE), or as if the feature were independent of the query (indep).
Source: Fernández & Losada 2012; docs/formulas.md, section B.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from esr.errors import UsageError
from esr.plans.plan import Curve, StaticScore, StaticScoreForm
from esr.registry import Parameter, Registry, check_parameters

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
get_form: Callable[[str], Form] = FORMS.find

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
