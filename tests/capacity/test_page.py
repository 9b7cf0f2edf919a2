"""docs/capacity.md, and sizes as people read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.capacity.formatting import format_value
from esr.capacity.page import build_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "capacity.md"


def test_the_page_is_that_of_the_measurements() -> None:
    assert PAGE.read_text("utf-8") == build_page(), "run: python -m esr.capacity.page > docs/capacity.md"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00035, "s", "0.35 ms"),
        (12.0, "s", "12 s"),
        (5400.0, "s", "1.5 h"),
        (2.3e9, "B", "2.3 GB"),
        (1.2e13, "B", "12 TB"),
        (34.0, "", "34"),
    ],
)
def test_values_have_two_or_three_digits(value: float, unit: str, text: str) -> None:
    assert format_value(value, unit) == text
