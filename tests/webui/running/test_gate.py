from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from esr.errors import EngineUnreachable
from tests.support.waiting import wait_until
from webui.running.circuit_breaker import FAILURES, CircuitBreaker
from webui.running.gate import Busy, Gate

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
