from __future__ import annotations

import time

import pytest

from esr.engines import deadline
from esr.errors import EngineUnreachable


def test_without_a_deadline_there_is_as_much_time_as_is_wanted() -> None:
    assert deadline.time_remaining(30.0) == 30.0


def test_under_a_deadline_there_is_what_is_left_and_no_more_than_is_wanted() -> None:
    with deadline.within(5.0):
        assert 4.0 < deadline.time_remaining(30.0) <= 5.0
        assert deadline.time_remaining(1.0) == 1.0
    assert deadline.time_remaining(30.0) == 30.0


def test_an_inner_deadline_does_not_move_an_outer_one() -> None:
    with deadline.within(5.0):
        with deadline.within(60.0):
            assert deadline.time_remaining(30.0) <= 5.0
        with deadline.within(1.0):
            assert deadline.time_remaining(30.0) <= 1.0


def test_a_deadline_that_is_over_is_an_engine_that_did_not_answer() -> None:
    with deadline.within(0.01):
        time.sleep(0.02)
        with pytest.raises(EngineUnreachable, match="in the time"):
            deadline.time_remaining(30.0)
