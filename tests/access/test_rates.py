"""Rates are read as people write them."""

from __future__ import annotations

import pytest

from esr.access.rates import Rate, parse_rate
from esr.errors import UsageError


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1/second", Rate(1, 1)),
        ("60/minute", Rate(60, 60)),
        ("5 per hour", Rate(5, 3_600)),
        ("1000 / day", Rate(1000, 86_400)),
        ("10/2 Minutes", Rate(10, 120)),
        (" 999999999/999999seconds ", Rate(999_999_999, 999_999)),
    ],
)
def test_a_rate_is_a_number_of_requests_within_a_time(text: str, rate: Rate) -> None:
    assert parse_rate(text) == rate
    assert parse_rate("") is None


@pytest.mark.parametrize(
    "text", ["often", "60", "60/", "60/week", "1000000000/day", "1/1000000days", "-1/day", "5/0 days"]
)
def test_another_rate_is_refused_with_the_setting_that_has_it(text: str) -> None:
    with pytest.raises(UsageError, match=f"cannot read ESR_RATE '{text}': give a rate such as 60/minute"):
        parse_rate(text)
    with pytest.raises(UsageError, match="cannot read the limit"):
        parse_rate(text, "the limit")
