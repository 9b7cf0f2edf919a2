from __future__ import annotations

import threading
import time

import pytest

from esr.errors import EngineUnreachable
from webui.running.circuit_breaker import FAILURES
from webui.running.gate import Busy, Gate

GONE = EngineUnreachable("it is gone")


def make_gate(slots: int, inside: int) -> Gate:
    return Gate(slots, threading.BoundedSemaphore(inside), 10.0)


def test_a_request_waits_for_a_slot_and_gives_up_in_time() -> None:
    gate = make_gate(1, 9)
    gate.enter(1.0)
    started = time.monotonic()
    with pytest.raises(Busy, match="no slot"):
        gate.enter(0.1)
    assert 0.08 <= time.monotonic() - started < 1.0
    threading.Timer(0.1, gate.leave).start()
    gate.enter(5.0)


def test_part_of_the_time_is_left_for_asking_the_engine() -> None:
    gate = make_gate(1, 9)
    gate.enter(1.0)
    started = time.monotonic()
    with pytest.raises(Busy):
        gate.enter(1.0)
    assert 0.75 <= time.monotonic() - started < 0.95


def test_requests_enter_in_the_order_in_which_they_came() -> None:
    gate = make_gate(1, 99)
    gate.enter(1.0)
    order: list[int] = []

    def enter(number: int) -> None:
        gate.enter(20.0)
        order.append(number)
        time.sleep(0.001)
        gate.leave()
        if number < 5:
            enter(number + 10)  # at once, but behind those that wait

    threads = [threading.Thread(target=enter, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
        time.sleep(0.02)
    gate.leave()
    for thread in threads:
        thread.join(20)
    assert order == [*range(10), *range(10, 15)]
    gate.enter(0.1)


def test_the_number_of_waiting_requests_is_limited() -> None:
    gate = make_gate(1, 1)
    gate.enter(1.0)
    started = time.monotonic()
    with pytest.raises(Busy, match="as many requests are waiting"):
        gate.enter(5.0)
    assert time.monotonic() - started < 1.0
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


def test_a_request_that_waited_while_the_engine_failed_fails_at_once() -> None:
    gate = make_gate(1, 9)
    gate.enter(0.1)

    def fail() -> None:
        for _ in range(FAILURES):
            gate.breaker.record_failure(GONE)
        gate.leave()

    threading.Timer(0.1, fail).start()
    with pytest.raises(EngineUnreachable):
        gate.enter(5.0)
    gate.breaker.record_success()
    gate.enter(0.1)
