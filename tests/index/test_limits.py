from __future__ import annotations

import time

import pytest

from esr.errors import EngineUnreachable
from esr.index.limits import time_remaining, within


def test_without_a_deadline_the_limit_remains() -> None:
    assert time_remaining(30.0) == 30.0


def test_under_a_deadline_its_rest_remains_up_to_the_limit() -> None:
    with within(5.0):
        assert 4.0 < time_remaining(30.0) <= 5.0
        assert time_remaining(1.0) == 1.0
    assert time_remaining(30.0) == 30.0


def test_an_inner_deadline_does_not_extend_an_outer_one() -> None:
    with within(5.0):
        with within(60.0):
            assert time_remaining(30.0) <= 5.0
        with within(1.0):
            assert time_remaining(30.0) <= 1.0


def test_a_deadline_that_has_passed_makes_the_engine_unreachable() -> None:
    with within(0.01):
        time.sleep(0.02)
        with pytest.raises(EngineUnreachable, match="in the time"):
            time_remaining(30.0)
