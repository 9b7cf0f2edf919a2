from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from esr.errors import EngineUnreachable
from tests.support.waiting import wait_until
from webui.running.gate import FAILURES, PAUSE, Busy, CircuitBreaker, FairSemaphore, Gate

GONE = EngineUnreachable("it is gone")


def make_gate(slots: int, inside: int) -> Gate:
    """A gate. For its breaker, time stands still."""
    gate = Gate(slots, threading.BoundedSemaphore(inside), 10.0)
    gate.breaker = CircuitBreaker(10.0, clock=lambda: 0.0)
    return gate


def record_waits(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds for which requests wait for a slot: from now on, none gets one."""
    waits: list[float] = []
    monkeypatch.setattr(gate._slots, "acquire", waits.append)
    return waits


Submit = Callable[[Gate, Callable[[], object]], "Future[object]"]


@pytest.fixture
def submit() -> Iterator[Submit]:
    """Starts a thread that enters a gate, and returns when it waits there."""
    with ThreadPoolExecutor(20) as pool:

        def start(gate: Gate, enter: Callable[[], object]) -> Future[object]:
            before = len(gate._slots._waiting)
            future = pool.submit(enter)
            wait_until(lambda: len(gate._slots._waiting) > before)
            return future

        yield start


def test_a_request_waits_for_a_slot_and_gives_up_in_time(submit: Submit) -> None:
    gate = make_gate(1, 9)
    gate.enter(1.0)
    with pytest.raises(Busy, match="no slot"):
        gate.enter(0.1)
    entering = submit(gate, lambda: gate.enter(60.0))
    gate.leave()
    entering.result(60)


def test_part_of_the_time_is_left_for_asking_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = make_gate(1, 9)
    waits = record_waits(gate, monkeypatch)
    with pytest.raises(Busy):
        gate.enter(1.0)
    assert waits == [pytest.approx(0.8)]


def test_requests_enter_in_the_order_in_which_they_came(submit: Submit) -> None:
    gate = make_gate(1, 99)
    gate.enter(1.0)
    order: list[int] = []

    def enter(number: int) -> None:
        gate.enter(60.0)
        order.append(number)
        gate.leave()

    entering = [submit(gate, lambda number=number: enter(number)) for number in range(10)]
    gate.leave()
    for future in entering:
        future.result(60)
    assert order == [*range(10)]
    gate.enter(0.1)


def test_a_newcomer_does_not_overtake_a_request_that_waits(submit: Submit) -> None:
    gate = make_gate(1, 9)
    gate.enter(1.0)
    entering = submit(gate, lambda: gate.enter(60.0))
    gate.leave()
    with pytest.raises(Busy, match="no slot"):
        gate.enter(0.0)
    entering.result(60)


def test_the_number_of_waiting_requests_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = make_gate(1, 1)
    gate.enter(1.0)
    with monkeypatch.context() as patch:
        waits = record_waits(gate, patch)
        with pytest.raises(Busy, match="as many requests are waiting"):
            gate.enter(5.0)
        assert waits == []
    gate.leave()
    gate.enter(0.1)


def test_a_rejected_request_takes_no_slot() -> None:
    gate = make_gate(1, 2)
    gate.enter(0.1)
    for _ in range(5):
        with pytest.raises(Busy, match="no slot"):
            gate.enter(0.01)
    gate.leave()
    for _ in range(FAILURES):
        gate.breaker.record_failure(GONE)
    for _ in range(5):
        with pytest.raises(EngineUnreachable):
            gate.enter(0.01)
    gate.breaker.record_success()
    gate.enter(0.1)


def test_a_request_that_waited_while_the_engine_failed_fails_at_once(submit: Submit) -> None:
    gate = make_gate(1, 9)
    gate.enter(0.1)
    entering = submit(gate, lambda: gate.enter(60.0))
    for _ in range(FAILURES):
        gate.breaker.record_failure(GONE)
    gate.leave()
    with pytest.raises(EngineUnreachable):
        entering.result(60)
    gate.breaker.record_success()
    gate.enter(0.1)


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


def test_a_slot_that_becomes_free_at_the_last_moment_is_not_lost() -> None:
    semaphore = FairSemaphore(1)
    assert semaphore.acquire(0)

    def hold(n: int) -> bool:
        acquired = semaphore.acquire(0.001 * (n % 3))
        if acquired:
            semaphore.release()
        return acquired

    with ThreadPoolExecutor(8) as pool:
        waiting = pool.map(hold, range(2_000))
        semaphore.release()
        list(waiting)
    assert semaphore.acquire(0) and not semaphore.acquire(0)
