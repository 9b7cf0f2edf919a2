from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from esr.errors import EngineUnreachable
from webui.running.gate import FAILURES, PAUSE, Breaker, Busy, Gate, Places

GONE = EngineUnreachable("it is gone")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broken(clock: Clock) -> Breaker:
    breaker = Breaker(10.0, clock)
    for _ in range(FAILURES):
        breaker.look()
        breaker.failed(GONE)
    return breaker


def test_an_engine_that_failed_often_in_a_row_is_left_alone(broken: Breaker, clock: Clock) -> None:
    with pytest.raises(EngineUnreachable, match="it is gone"):
        broken.look()
    clock.now = PAUSE
    broken.look()


def test_then_one_request_tries_it_and_others_fail_meanwhile(broken: Breaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.check()
    with pytest.raises(EngineUnreachable):
        broken.check()
    clock.now += 10.0  # the one that tried never came back
    broken.check()


def test_who_was_to_try_and_did_not_ask_leaves_it_to_the_next(broken: Breaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.check()
    broken.left()
    broken.check()
    broken.failed(GONE)
    broken.left()
    with pytest.raises(EngineUnreachable):
        broken.check()


def test_an_answer_makes_all_good_again(broken: Breaker, clock: Clock) -> None:
    clock.now = PAUSE
    broken.check()
    broken.worked()
    broken.check()
    broken.check()


def test_failures_that_are_not_in_a_row_do_not_count_together(clock: Clock) -> None:
    breaker = Breaker(10.0, clock)
    for _ in range(3 * FAILURES):
        breaker.failed(GONE)
        breaker.worked()
        breaker.look()


def gate(slots: int, inside: int) -> Gate:
    return Gate(slots, threading.BoundedSemaphore(inside), 10.0)


def test_a_request_waits_for_a_place_and_gives_up_in_time() -> None:
    entered = gate(1, 9)
    entered.enter(1.0)
    started = time.monotonic()
    with pytest.raises(Busy, match="no place"):
        entered.enter(0.1)
    assert 0.08 <= time.monotonic() - started < 1.0
    threading.Timer(0.1, entered.leave).start()
    entered.enter(5.0)


def test_some_of_the_time_is_left_for_asking() -> None:
    entered = gate(1, 9)
    entered.enter(1.0)
    started = time.monotonic()
    with pytest.raises(Busy):
        entered.enter(1.0)
    assert 0.75 <= time.monotonic() - started < 0.95


def test_who_came_first_enters_first() -> None:
    entered = gate(1, 99)
    entered.enter(1.0)
    order: list[int] = []

    def come(number: int) -> None:
        entered.enter(20.0)
        order.append(number)
        time.sleep(0.001)
        entered.leave()
        if number < 5:
            come(number + 10)  # and at once again: those that wait come before

    threads = [threading.Thread(target=come, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
        time.sleep(0.02)
    entered.leave()
    for thread in threads:
        thread.join(20)
    assert order == [*range(10), *range(10, 15)]
    entered.enter(0.1)


def test_a_place_that_comes_as_the_time_ends_is_not_lost() -> None:
    places = Places(1)
    assert places.acquire(0)

    def hold(n: int) -> bool:
        found = places.acquire(0.001 * (n % 3))
        if found:
            places.release()
        return found

    with ThreadPoolExecutor(8) as pool:
        waiting = pool.map(hold, range(2_000))
        places.release()
        list(waiting)
    assert places.acquire(0) and not places.acquire(0)


def test_no_more_wait_than_may() -> None:
    entered = gate(1, 1)
    entered.enter(1.0)
    started = time.monotonic()
    with pytest.raises(Busy, match="as many requests wait"):
        entered.enter(5.0)
    assert time.monotonic() - started < 1.0
    entered.leave()
    entered.enter(0.1)


def test_who_is_turned_away_takes_no_place() -> None:
    entered = gate(1, 2)
    entered.enter(0.1)
    for _ in range(5):
        with pytest.raises(Busy, match="no place"):
            entered.enter(0.01)
    entered.leave()
    for _ in range(FAILURES):
        entered.breaker.failed(GONE)
    for _ in range(5):
        with pytest.raises(EngineUnreachable):
            entered.enter(0.01)
    entered.breaker.worked()
    entered.enter(0.1)


def test_who_waited_while_the_engine_failed_is_told_at_once() -> None:
    entered = gate(1, 9)
    entered.enter(0.1)

    def fail() -> None:
        for _ in range(FAILURES):
            entered.breaker.failed(GONE)
        entered.leave()

    threading.Timer(0.1, fail).start()
    with pytest.raises(EngineUnreachable):
        entered.enter(5.0)
    entered.breaker.worked()
    entered.enter(0.1)
