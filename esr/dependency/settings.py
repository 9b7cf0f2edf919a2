"""The parameters of a model of term dependence, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esr.errors import unknown
from esr.parameter import Parameter, Value


def checked(model: str, parameters: Sequence[Parameter], values: Mapping[str, Any]) -> dict[str, Value]:
    """All parameters by name, defaults filled in. Raises UsageError for a bad name or value."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in known:
            raise unknown(f"parameter of {model}", name, known)
    return {name: parameter.check(values.get(name, parameter.default)) for name, parameter in known.items()}
