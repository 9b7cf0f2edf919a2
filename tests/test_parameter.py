from __future__ import annotations

from typing import Any

import pytest

from esr.errors import UsageError
from esr.parameter import Parameter

CLOSED = Parameter("b", "", 0.5)
OPEN = Parameter("lambda", "", 0.5, open_low=True, open_high=True)
ENDLESS = Parameter("mu", "", 30.0, high=float("inf"), open_low=True)
CHOICE = Parameter("form", "", "flat", choices=("flat", "nested"))


@pytest.mark.parametrize(
    ("parameter", "value", "checked"),
    [
        (CLOSED, 0, 0.0),
        (CLOSED, "1", 1.0),
        (CLOSED, "1e-3", 0.001),
        (OPEN, 0.0001, 0.0001),
        (ENDLESS, 1e300, 1e300),
        (CHOICE, "nested", "nested"),
    ],
)
def test_a_value_in_range_is_taken(parameter: Parameter, value: Any, checked: Any) -> None:
    result = parameter.check(value)
    assert result == checked and type(result) is type(checked)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (CLOSED, -1e-9),
        (CLOSED, 1.0000001),
        (OPEN, 0),
        (OPEN, 1),
        (ENDLESS, 0),
        (ENDLESS, float("inf")),
        (ENDLESS, "inf"),
        pytest.param(ENDLESS, 10**400, id="too large for a float"),
        *((CLOSED, bad) for bad in (float("nan"), "nan", "", "half", None, True, [0.5], {}, "0,5")),
        *((CHOICE, bad) for bad in ("Flat", "", None, 1, ["flat"], {})),
    ],
)
def test_a_value_out_of_range_is_refused_with_what_is_allowed(parameter: Parameter, value: Any) -> None:
    with pytest.raises(UsageError) as caught:
        parameter.check(value)
    assert f"parameter {parameter.name!r} must be" in str(caught.value)
    assert parameter.range in str(caught.value)


@pytest.mark.parametrize(
    ("parameter", "written"),
    [(CLOSED, "[0, 1]"), (OPEN, "(0, 1)"), (ENDLESS, "(0, inf)"), (CHOICE, "flat | nested")],
)
def test_a_range_is_written_as_in_mathematics(parameter: Parameter, written: str) -> None:
    assert parameter.range == written
    assert parameter.as_dict()["range"] == written
