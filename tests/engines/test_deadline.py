from __future__ import annotations

import time

import pytest

from esr.engines import deadline
from esr.errors import EngineUnreachable


def test_without_a_deadline_the_limit_remains() -> None:
    assert deadline.time_remaining(30.0) == 30.0


def test_under_a_deadline_its_rest_remains_up_to_the_limit() -> None:
    with deadline.within(5.0):
        assert 4.0 < deadline.time_remaining(30.0) <= 5.0
        assert deadline.time_remaining(1.0) == 1.0
    assert deadline.time_remaining(30.0) == 30.0


def test_an_inner_deadline_does_not_extend_an_outer_one() -> None:
    with deadline.within(5.0):
        with deadline.within(60.0):
            assert deadline.time_remaining(30.0) <= 5.0
        with deadline.within(1.0):
            assert deadline.time_remaining(30.0) <= 1.0


def test_a_deadline_that_has_passed_makes_the_engine_unreachable() -> None:
    with deadline.within(0.01):
        time.sleep(0.02)
        with pytest.raises(EngineUnreachable, match="in the time"):
            deadline.time_remaining(30.0)
