"""What the form of an adjustment is, and the registry of forms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from esr.errors import UsageError
from esr.parameter import Parameter, check_parameters
from esr.plans.plan import Curve, Static, StaticForm
from esr.registry import Registry

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
    """What a value I adds: w times a function of I, or a curve trained from judgements.

    `static` names the function for the engines. A trained form has a curve instead of parameters.
    """

    name: str
    description: str
    source: str
    static: StaticForm
    parameters: tuple[Parameter, ...] = ()

    @property
    def is_trained(self) -> bool:
        return self.static == "curve"

    def check(self, values: Mapping[str, Any]) -> dict[str, float]:
        """These parameters as numbers. Raises UsageError for a bad name or value."""
        if values and not self.parameters:
            raise UsageError(f"form {self.name!r} takes no parameters: leave out {', '.join(values)}")
        checked = check_parameters(f"form {self.name}", self.parameters, values)
        return {name: float(checked[name]) for name in values}

    def to_static(self, column: str, values: Mapping[str, Any], curve: Curve | None) -> Static:
        """The form over a column as the part of a plan that engines execute; defaults are filled in."""
        params = {p.name: float(p.check(values.get(p.name, p.default))) for p in self.parameters}
        weight = params.pop("w", 1.0)
        return Static(column, self.static, weight, curve=curve, **params)  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "trained": self.is_trained,
            "parameters": [parameter.as_dict() for parameter in self.parameters],
        }


FORMS: Registry[Form] = Registry("form")
register = FORMS.register
get = FORMS.find
