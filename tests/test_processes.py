"""Tasks that run at once in threads."""

from __future__ import annotations

import os
import signal
import threading
import time
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


def test_an_interrupt_is_raised_when_all_tasks_have_ended() -> None:
    ended: list[int] = []

    def interrupt_twice() -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
        ended.append(1)

    with pytest.raises(KeyboardInterrupt):
        run_together(lambda: None, interrupt_twice)
    assert ended == [1]


@pytest.mark.parametrize("threads", [1, 2, 9])
def test_results_are_in_the_order_of_the_items(threads: int) -> None:
    assert map_together(lambda number: number**2, iter(range(50)), threads) == [n**2 for n in range(50)]
    assert map_together(abs, [], threads) == []
