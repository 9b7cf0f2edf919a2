"""What the form of an adjustment is, and the registry of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esr.errors import UsageError, unknown
from esr.parameter import Parameter
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


@dataclass(frozen=True)
class Form:
    """How a value I becomes what is added: w times a function of I, or a curve trained from judgements.

    `static` names the function for the engines. A trained form has a curve in the place of parameters.
    """

    name: str
    description: str
    source: str
    static: StaticForm
    parameters: tuple[Parameter, ...] = ()

    @property
    def trained(self) -> bool:
        return self.static == "curve"

    def check(self, values: Mapping[str, Any]) -> dict[str, float]:
        """These parameters as numbers. Raises UsageError for a bad name or value."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in values:
            if name not in known:
                if not known:
                    raise UsageError(f"form {self.name!r} takes no parameter, and has {name!r}: leave it out")
                raise unknown(f"parameter of form {self.name}", name, known)
        return {name: float(known[name].check(value)) for name, value in values.items()}

    def make(self, column: str, values: Mapping[str, Any], curve: Curve | None) -> Static:
        """The form over a column as the part of a plan that engines execute; defaults are filled in."""
        full = {p.name: float(p.check(values.get(p.name, p.default))) for p in self.parameters}
        weight = full.pop("w", 1.0)
        return Static(column, self.static, weight, curve=curve, **full)  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "trained": self.trained,
            "parameters": [parameter.as_dict() for parameter in self.parameters],
        }


FORMS: Registry[Form] = Registry("form")
register = FORMS.register
get = FORMS.find
