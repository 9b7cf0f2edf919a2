"""Processes: interrupts, SIGTERM, their end, forks, threads, open files, scratch folders, and environment
variables.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, TypeVar

from esr.locks import take_lock
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import fcntl
    import multiprocessing
    import resource
    import subprocess
    import tempfile
else:
    fcntl = import_lazily("fcntl")
    multiprocessing = import_lazily("multiprocessing")
    resource = import_lazily("resource")
    subprocess = import_lazily("subprocess")
    tempfile = import_lazily("tempfile")

T = TypeVar("T")
R = TypeVar("R")
_PARENT_CHECK_SECONDS = 2.0
_SCRATCH_LOCK = ".esr-scratch"
"""A file in every scratch folder. Its lock shows that the folder is in use."""


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Delay an interrupt or SIGTERM to the end of the block.

    Inside a call of a pool, it could leave a lock held. Processes started in the block ignore interrupts:
    Ctrl-C goes to the whole process group, and the process that started them ends them.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


_OTHER_FILES = 1 << 10


def allow_open_files(count: int) -> None:
    """Let this process open `count` files and a few others, if the system allows it.

    The default limit is 1,024 on most systems. In a process with threads, each growth of the table of open
    files takes .01 s, so a program calls this before it starts any.
    """
    if os.name == "nt":  # Windows, where only what needs no folder works
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = count + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        allowed = min(allowed, hard)
    with suppress(OSError, ValueError):  # the system allows less, or there is no standard input
        if soft != resource.RLIM_INFINITY and soft < allowed:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        os.close(fcntl.fcntl(0, fcntl.F_DUPFD, min(count, allowed - 1)))


def exit_on_sigterm() -> None:
    """Convert SIGTERM to SystemExit, so that incomplete work is rolled back and temporary files removed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


@contextmanager
def set_at_end() -> Iterator[Event]:
    """An event that SIGTERM and an interrupt set inside the block, instead of ending the process."""
    stop = Event()
    before = {
        number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_with_parent() -> None:
    """End this process soon after its parent ends; otherwise it would block forever waiting for work."""
    # A timer instead of a thread: spaCy takes 15 % longer with a second thread in its process.
    signal.signal(signal.SIGALRM, exit_without_parent)
    signal.setitimer(signal.ITIMER_REAL, _PARENT_CHECK_SECONDS, _PARENT_CHECK_SECONDS)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # with it, a pool ends its processes


def exit_without_parent(*_: object) -> None:
    """End this process if its parent has ended: the timer of `end_with_parent`."""
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
        os._exit(1)


def can_start_python() -> bool:
    """Whether `start_python` works: a program that was frozen into one file has no interpreter."""
    return bool(sys.executable) and not hasattr(sys, "frozen")


def start_python(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a Python process with the text of a program, which can import what this process can.

    Its standard input and output are unbuffered pipes; its errors are discarded. It does not import the main
    module, unlike a process of multiprocessing. Raises OSError.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
    )


def run_program(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a program without input to its end, and keep what it prints.

    Raises OSError if it cannot be run, TimeoutError if it takes longer than so many seconds.
    """
    try:
        return subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(str(error)) from None


def run_python(program: str) -> int:
    """Run the text of a program in another Python process, without input and output. Returns its status.

    The process continues if this one ends or is interrupted. Raises OSError.
    """
    nowhere = subprocess.DEVNULL
    code = f"import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = {sys.path!r}; "
    command = [sys.executable, "-c", code + program]
    return subprocess.run(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, check=False).returncode


def is_running(process_id: int) -> bool:
    """Whether a process of this machine is running."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def after_fork(renew: Callable[[], object]) -> None:
    """Call a function in each process that is forked from this one. It has none of the other threads."""
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(after_in_child=renew)


def run_together(*tasks: Callable[[], object], stop: Event | None = None) -> None:
    """Run tasks concurrently, each in a thread with the context variables of the caller.

    Where the system starts no more threads, the caller's thread runs the other tasks.

    When all have ended, an interrupt or SIGTERM that arrived meanwhile is handled, or the error of the first
    failed task is raised. Such a signal sets `stop`, so that tasks can end early.
    """
    errors: list[BaseException | None] = [None] * len(tasks)

    def run(number: int) -> None:
        try:
            tasks[number]()
        except BaseException as error:  # raised again in the thread that waits for all tasks
            errors[number] = error

    threads = [Thread(target=copy_context().run, args=(run, number)) for number in range(1, len(tasks))]
    # After an interrupt, threads could still write into folders that are being removed.
    with _hold_signals(stop):
        started = 0
        with suppress(RuntimeError):  # there is no memory for another thread
            for thread in threads:
                thread.start()
                started += 1
        for number in (0, *range(started + 1, len(tasks))):
            run(number)
        for thread in threads[:started]:
            thread.join()
    for error in errors:
        if error is not None:
            raise error


@contextmanager
def _hold_signals(stop: Event | None) -> Iterator[None]:
    """Delay an interrupt or SIGTERM to the end of the block, whichever thread receives it. It sets `stop`."""
    if current_thread() is not main_thread():  # Python handles signals only in the main thread
        yield
        return
    received: list[int] = []

    def receive(number: int, _: object) -> None:
        received.append(number)
        if stop is not None:
            stop.set()

    handlers = {number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for first in received[:1]:
        signal.raise_signal(first)


def map_together(function: Callable[[T], R], items: Iterable[T], threads: int = 2) -> list[R]:
    """The results of a function for each item, in order, computed in `threads` threads.

    After an error, an interrupt or SIGTERM, no further item is begun.
    """
    results: dict[int, R] = {}
    remaining = enumerate([*items])
    stop = Event()

    def work() -> None:
        try:
            while not stop.is_set() and (entry := next(remaining, None)):
                number, item = entry
                results[number] = function(item)
        except BaseException:
            stop.set()
            raise

    if threads > 1:
        run_together(*[work] * threads, stop=stop)
        stop.clear()
    work()  # with one thread, everything; otherwise, what a signal that ends nothing has left
    return [results[number] for number in range(len(results))]


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A new folder for temporary files, deleted at the end of the block, but not by a forked process.

    Folders left by killed processes are deleted first.
    """
    for left in Path(tempfile.gettempdir()).glob(f"esr-*/{_SCRATCH_LOCK}"):
        with suppress(OSError), left.open("r+") as file:  # in use, or owned by another user
            take_lock(file)
            shutil.rmtree(left.parent, ignore_errors=True)
    folder, owner = Path(tempfile.mkdtemp(prefix=f"esr-{purpose}-")), os.getpid()
    try:
        unnamed = folder / f"{_SCRATCH_LOCK}.new"
        with unnamed.open("w") as file:
            take_lock(file)
            unnamed.rename(folder / _SCRATCH_LOCK)  # it is locked before it has the name that others look for
            yield folder
    finally:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def set_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables inside the block, also for processes started in it; then restore them."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
