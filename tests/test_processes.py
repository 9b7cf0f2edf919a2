"""Tasks that run at once in threads."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from esr.processes import map_together, run_together

_VALUE: ContextVar[int] = ContextVar("value", default=0)


def test_tasks_run_at_once_and_with_the_context_of_the_caller() -> None:
    barrier, seen = threading.Barrier(3, timeout=30), list[int]()
    token = _VALUE.set(7)

    def task() -> None:
        barrier.wait()
        seen.append(_VALUE.get())

    run_together(task, task, task)
    _VALUE.reset(token)
    assert seen == [7, 7, 7]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_the_error_of_a_task_is_raised_when_all_have_ended(failing: int) -> None:
    ended: list[int] = []

    def task(number: int) -> None:
        if number == failing:
            raise ValueError(str(number))
        ended.append(number)

    with pytest.raises(ValueError, match=str(failing)):
        run_together(*(lambda number=number: task(number) for number in range(3)))  # type: ignore[misc]
    assert sorted([*ended, failing]) == [0, 1, 2]


INTERRUPTED = """
import os, signal, threading, time
from esr.processes import exit_on_sigterm, run_together

ended, number = [], getattr(signal, {name!r})
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
exit_on_sigterm()
threading.Thread(target=time.sleep, args=(2,), daemon=True).start()  # may receive the signal too

def interrupt_twice():
    for _ in range(2):
        os.kill(os.getpid(), number)
        time.sleep(0.05)
    ended.append(1)

for n in range(1, 6):
    try:
        run_together(lambda: None, interrupt_twice)
    except (KeyboardInterrupt, SystemExit) as error:
        assert len(ended) == n
        print(type(error).__name__)
"""


@pytest.mark.parametrize(("name", "raised"), [("SIGINT", "KeyboardInterrupt"), ("SIGTERM", "SystemExit")])
def test_a_signal_is_handled_when_all_tasks_have_ended(name: str, raised: str) -> None:
    """In a process of its own, as an interrupt that comes too late would end the tests."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(name=name)], capture_output=True, text=True
    )
    assert (done.stdout.split(), done.stderr) == ([raised] * 5, "")


@pytest.mark.parametrize("threads", [1, 2, 9])
def test_results_are_in_the_order_of_the_items(threads: int) -> None:
    assert map_together(lambda number: number**2, iter(range(50)), threads) == [n**2 for n in range(50)]
    assert map_together(abs, [], threads) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_no_item_is_begun_after_an_error(threads: int) -> None:
    begun: list[int] = []

    def fail(number: int) -> None:
        begun.append(number)
        raise ValueError(str(number))

    with pytest.raises(ValueError, match="0"):
        map_together(fail, range(50), threads)
    assert len(begun) <= threads


INTERRUPTED_MAP = """
import os, signal
from esr.processes import map_together, set_at_end

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
done = []

def interrupt(number):
    done.append(number)
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return number

try:
    map_together(interrupt, range(100_000), 2)
except KeyboardInterrupt:
    assert len(done) < 100_000
    print("interrupted")
done.clear()
with set_at_end():
    assert map_together(interrupt, range(1_000), 2) == [*range(1_000)]
"""


def test_no_item_is_begun_after_an_interrupt_unless_it_ends_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_MAP], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["interrupted"], "")


def test_tasks_run_one_after_the_other_where_no_thread_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, started = threading.Thread.start, list[threading.Thread]()

    def start_one(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_one)
    done: list[int] = []
    run_together(*(lambda number=number: done.append(number) for number in range(4)))
    assert sorted(done) == [0, 1, 2, 3]
    assert map_together(abs, range(-3, 0), 2) == [3, 2, 1]
