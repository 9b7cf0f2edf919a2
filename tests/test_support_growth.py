"""The helper of the tests against quadratic time tells it from linear time."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tests.support import growth


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets processor time pass."""
    now = 0.0

    def take(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(growth, "time", SimpleNamespace(thread_time=lambda: now))
    return take


def test_quadratic_time_fails(takes: Callable[[float], None]) -> None:
    with pytest.raises(AssertionError, match="8 times as much took 64 times as long"):
        growth.check_linear(lambda size: takes(size**2), 80)


def test_linear_time_passes_even_if_it_is_often_interrupted(takes: Callable[[float], None]) -> None:
    interruptions = iter([0, 5, 5, 500, 500, 0])  # three times for each size
    growth.check_linear(lambda size: takes(size + next(interruptions)), 80)


def test_work_too_short_to_be_measured_passes(takes: Callable[[float], None]) -> None:
    growth.check_linear(lambda size: takes(size**2 * 1e-6), 80)
