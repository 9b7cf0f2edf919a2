from __future__ import annotations

import pytest

from esr.errors import EngineUnreachable
from webui.running.circuit_breaker import FAILURES, PAUSE, CircuitBreaker

GONE = EngineUnreachable("it is gone")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broken(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(10.0, clock)
    for _ in range(FAILURES):
        breaker.raise_if_open()
        breaker.record_failure(GONE)
    return breaker


def test_several_failures_in_a_row_open_the_breaker(broken: CircuitBreaker, clock: Clock) -> None:
    with pytest.raises(EngineUnreachable, match="it is gone"):
        broken.raise_if_open()
    clock.now = PAUSE
    broken.raise_if_open()


def test_after_a_pause_one_request_tries_and_the_others_fail(broken: CircuitBreaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.begin()
    with pytest.raises(EngineUnreachable):
        broken.begin()
    clock.now += 10.0  # the request that tried never came back
    broken.begin()


def test_a_request_that_never_asked_leaves_the_try_to_the_next(broken: CircuitBreaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.begin()
    broken.end()
    broken.begin()
    broken.record_failure(GONE)
    broken.end()
    with pytest.raises(EngineUnreachable):
        broken.begin()


def test_an_answer_closes_the_breaker(broken: CircuitBreaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.begin()
    broken.record_success()
    broken.begin()
    broken.begin()


def test_failures_with_answers_between_them_do_not_open_the_breaker(clock: Clock) -> None:
    breaker = CircuitBreaker(10.0, clock)
    for _ in range(3 * FAILURES):
        breaker.record_failure(GONE)
        breaker.record_success()
        breaker.raise_if_open()
