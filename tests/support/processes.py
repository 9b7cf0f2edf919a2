"""Processes to be killed, forked from one that has imported esr: they start at once, as tests need dozens.

    loader = ForkedProcess(run_esr, ["load", "news.jsonl", "--index", where])
    loader.kill()

Each is a process of its own, with nothing open that this one has.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar

from esr.elastic.write import actions, writer
from esr.elastic.write.writer import ElasticsearchWriter

_IMPORTED = [
    "esr.cli.enrich",
    "esr.cli.load",
    "esr.cli.following",
    "esr.elastic.write.writer",
    "esr.elastic.write.enrichment",
    "esr.folder.index",
    "esr.ranking.searcher",
    "tests.support.elasticsearch",
    "tests.support.fake_enricher",
    "tests.support.processes",
]
"""What takes its time. Further modules are imported by the process that needs them."""


class ForkedProcess:
    """Calls a function of a module in a process of its own, with arguments that can be pickled."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_IMPORTED)
        number, name = tempfile.mkstemp(prefix="esr-forked-")
        os.close(number)
        self._output = Path(name)
        self._process = context.Process(target=_call, args=(name, function, arguments))
        self._process.start()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """`kill -9`, and wait until it is dead."""
        self._process.kill()
        self._end(60)

    def finish(self, timeout: float = 120) -> str:
        """Wait until it ends by itself, without an error. Returns what it printed."""
        output = self._end(timeout)
        assert self._process.exitcode == 0, output
        return output

    def wait(self, timeout: float = 120) -> int:
        """Wait until it ends. Returns its exit status, which is -9 if it was killed."""
        self._end(timeout)
        assert self._process.exitcode is not None
        return self._process.exitcode

    def _end(self, timeout: float) -> str:
        self._process.join(timeout)
        output = self._output.read_text("utf-8") if self._output.exists() else ""
        self._output.unlink(missing_ok=True)
        if self._process.is_alive():
            self._process.kill()
            raise AssertionError(f"it did not end within {timeout} s: {output}")
        return output


def _call(output: str, function: Callable[..., object], arguments: Sequence[object]) -> None:
    with open(output, "ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    function(*arguments)


def run_esr(arguments: Sequence[object], changes: Mapping[str, Any] | None = None) -> None:
    """The command `esr`. `changes` gives attributes, such as `esr.cli.load:NAME`, another value first."""
    from esr.cli import main

    change(changes or {})
    main([str(argument) for argument in arguments], prog_name="esr")


_CHANGES = {
    "open": 1, "os.link": 2, "os.mkdir": 1, "os.remove": 1, "os.rename": 2, "os.rmdir": 1, "os.truncate": 1,
}  # fmt: skip
"""The audit events of what changes a file system, with their numbers of paths."""


def run_esr_until(step: int, folder: str, arguments: Sequence[object], changes: Mapping[str, Any]) -> None:
    """The command `esr`, killed before this change of a file in a folder. 0 only counts them."""
    steps = 0

    def count(event: str, values: tuple[Any, ...]) -> None:
        nonlocal steps
        if event not in _CHANGES or (event == "open" and not values[2] & (os.O_WRONLY | os.O_RDWR)):
            return
        paths = [path for path in values[: _CHANGES[event]] if not isinstance(path, int)]
        if any(os.path.abspath(os.fsdecode(path)).startswith(folder) for path in paths):
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    try:
        run_esr(arguments, changes)
    finally:
        print(f"\n{steps}")


def load_news(where: str, documents: Sequence[Any], changes: Mapping[str, Any]) -> None:
    """Load documents instead of what is there, taking up a load that was killed."""
    from tests.support.elasticsearch import load

    change(changes)
    load(where, documents, if_exists="replace", resume=True)


def change(attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        module, _, attribute = name.partition(":")
        owner = resolve_name(module)
        assert hasattr(owner, attribute), name
        setattr(owner, attribute, value)


# `esr load` into Elasticsearch, in a process that kills itself at a certain moment.


AMID_BULK = "amid bulk"


def load_until(moment: str, arguments: Sequence[object]) -> None:
    """`moment` is AMID_BULK, or "before" or "after" and a method of the writer."""
    if moment == AMID_BULK:
        _die_amid_bulk()
    else:
        when, method = moment.split()
        _die_at(method, when == "after")
    run_esr(["load", *arguments])


def _die_at(method: str, is_called: bool) -> None:
    real = getattr(ElasticsearchWriter, method)

    def stop(self: ElasticsearchWriter, *arguments: Any) -> None:
        if is_called:
            real(self, *arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(ElasticsearchWriter, method, stop)


def _die_amid_bulk() -> None:
    actions.CHUNK_SENTENCES = 100
    real = writer.spool_actions

    def spool_actions(*arguments: Any) -> Iterator[Any]:
        for n, action in enumerate(real(*arguments)):
            if n == 75:
                os.kill(os.getpid(), signal.SIGKILL)
            yield action

    writer.spool_actions = spool_actions  # type: ignore[assignment]


# Threads that take turns as often as they can, so that what they share is changed between any two steps.


Task = TypeVar("Task")
Result = TypeVar("Result")


@contextmanager
def _switching_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def holds_in_threads(check: Callable[[Task], bool], tasks: Iterable[Task]) -> bool:
    """Whether the check is true of every task. Eight threads share the tasks."""
    with _switching_often(), ThreadPoolExecutor(8) as pool:
        return all(pool.map(check, tasks))


def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """What the function returns, called in a thread of its own.

    A loop of asyncio can run there. In the main thread none can once Playwright has been used, which leaves
    its own loop running.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


# Wait for what another thread or process does, however long a busy machine takes.


def wait_until(condition: Callable[[], bool], what: str = "it", seconds: float = 60.0) -> None:
    """Return as soon as the condition holds. It fails with `what` if it takes much too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen in {seconds:g} seconds"
        time.sleep(0.01)


# How the time of some work grows with its size, however fast the machine is and whatever else it does.


GROWTH = 8
"""Of two sizes. Linear work takes 8 times as long, quadratic work 64 times."""
TOLERANCE = 3
"""For what is no part of the work: caches, collections of garbage, an interrupt."""
NOISE_SECONDS = 0.005
"""What takes less time at the smaller size is not measured."""
_ATTEMPTS = 3


def check_linear(work: Callable[[int], object], size: int) -> None:
    """Fail if the work of a size takes much more than its share of the processor time of smaller work."""
    smaller = max(NOISE_SECONDS, min(_seconds(work, size // GROWTH) for _ in range(_ATTEMPTS)))
    limit = TOLERANCE * GROWTH * smaller
    times = []
    for _ in range(_ATTEMPTS):
        times.append(_seconds(work, size))
        if times[-1] < limit:
            return
    raise AssertionError(f"{GROWTH} times as much took {min(times) / smaller:.0f} times as long")


def _seconds(work: Callable[[int], object], size: int) -> float:
    """The processor time of this thread alone."""
    started = time.thread_time()
    work(size)
    return time.thread_time() - started
