"""Growth through measured points."""

from __future__ import annotations

import pytest

from esr.capacity.fit import fit


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 1.3])
def test_points_of_a_power_law_give_it_back(exponent: float) -> None:
    sizes = [500_000, 2_000_000, 10_000_000]
    law = fit("power", sizes, [3.0 * size**exponent for size in sizes])
    assert law.exponent == pytest.approx(exponent)
    assert law.at(1e9) == pytest.approx(3.0 * 1e9**exponent)


@pytest.mark.parametrize("fixed", [0.0, 7.0])
def test_points_of_a_line_give_it_back(fixed: float) -> None:
    sizes = [500_000, 2_000_000, 10_000_000]
    law = fit("linear", sizes, [fixed + 2e-6 * size for size in sizes])
    assert law.fixed == pytest.approx(fixed, abs=1e-9)
    assert law.at(1e9) == pytest.approx(fixed + 2000.0)


def test_what_lies_beyond_the_points_is_extrapolated() -> None:
    law = fit("power", [10, 100], [1.0, 2.0])
    assert [law.is_measured(size) for size in (9, 10, 100, 101)] == [False, True, True, False]


def test_a_line_that_falls_below_0_goes_to_0_from_the_smallest_point() -> None:
    law = fit("linear", [1000, 2000], [100.0, 300.0])
    assert law.fixed == pytest.approx(-100.0)
    assert [law.at(size) for size in (10, 500, 1000)] == pytest.approx([1.0, 50.0, 100.0])


def test_one_point_gives_no_growth() -> None:
    with pytest.raises(ValueError, match="two points"):
        fit("linear", [10], [1.0])
