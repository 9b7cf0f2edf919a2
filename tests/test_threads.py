"""Pieces for threads: work in the background, turns, and values that are made once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from esr.threads import OnceByKey, Repeated, Turn, start_thread, take_turns
from tests.support.processes import wait_until


def test_a_thread_does_not_keep_the_process_from_ending() -> None:
    calls: list[tuple[object, ...]] = []
    thread = start_thread(lambda *given: calls.append(given), 1, 2, name="esr-example")
    thread.join(60)
    assert calls == [(1, 2)] and thread.daemon and thread.name == "esr-example"


def test_work_is_repeated_until_the_block_ends() -> None:
    calls: list[int] = []
    with Repeated(0.001, lambda: calls.append(1)) as repeated:
        wait_until(lambda: len(calls) > 2)
    ended = len(calls)
    assert repeated.has_run
    with Repeated(3600, lambda: calls.append(1)) as late:
        pass
    assert len(calls) == ended and not late.has_run


def test_the_end_of_a_block_waits_for_work_in_progress_but_not_for_long_after_an_error() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert may_end.wait(60)

    with pytest.raises(ValueError), Repeated(0.001, work, patience=0.01):
        assert begun.wait(60)
        raise ValueError
    done: list[int] = []
    with Repeated(0.001, lambda: (may_end.wait(60), done.append(1))):
        wait_until(lambda: threading.active_count() > 1)
        may_end.set()
        wait_until(lambda: bool(done))


def test_a_turn_is_taken_by_one_thread_and_given_back() -> None:
    turn = Turn()
    with turn.take() as is_first:
        with turn.take() as is_second, turn.take(0.001) as is_third:
            assert (is_first, is_second, is_third) == (True, False, False)
        with turn.take(-1.0) as is_late:
            assert not is_late
    with turn.take() as is_free:
        assert is_free


class Counter:
    def __init__(self) -> None:
        self.inside = self.most = self.total = 0

    @take_turns
    def add(self) -> int:
        """Add one."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.count()
        self.inside -= 1
        return self.total

    @take_turns
    def count(self) -> None:
        self.total += 1


def test_threads_take_turns_at_the_methods_of_an_object() -> None:
    counter, other = Counter(), Counter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: counter.add(), range(400)))
    assert (counter.most, counter.total, other.total) == (1, 400, 0)
    assert Counter.add.__doc__ == "Add one."


def test_a_value_is_made_once_while_others_wait() -> None:
    values: OnceByKey[str, object] = OnceByKey()
    made: list[str] = []
    begun, may_end = threading.Event(), threading.Event()

    def make() -> object:
        begun.set()
        assert may_end.wait(60)
        made.append("a")
        return object()

    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(values.make, "a", make) for _ in range(4)]
        assert begun.wait(60)
        may_end.set()
        assert len({id(each.result()) for each in waiting}) == 1
    assert made == ["a"]


def test_an_error_is_not_kept_and_the_oldest_value_leaves_first() -> None:
    values: OnceByKey[int, int] = OnceByKey(limit=2)
    with pytest.raises(ZeroDivisionError):
        values.make(0, lambda: 1 // 0)
    for key in (1, 2, 1, 3):
        assert values.make(key, lambda key=key: 10 * key) == 10 * key  # type: ignore[misc]
    assert dict(values) == {2: 20, 3: 30}
