"""The compiled kernel is loaded when it pays, and nothing breaks without it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import pytest

from esr.folder.index import EmbeddedIndex
from esr.folder.search import kernel_loader as loader
from esr.folder.search.kernel_loader import KERNEL, LOADER, Loader
from esr.locks import take_lock
from tests.support.folder_index import document, load
from tests.support.processes import wait_until
from tests.support.runs import need, only_long


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module in the place of the kernel."""
    module = ModuleType(KERNEL)
    monkeypatch.setitem(sys.modules, KERNEL, module)
    return module


class Compiler:
    """In the place of the process that compiles: it ends when it is told to, with a status and a result."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started = 0
        self.is_kept = self.is_another_compiling = False
        self._ends, self._status = threading.Event(), 0
        support = ModuleType(loader.SUPPORT)
        support.is_kept = lambda module, name: self.is_kept  # type: ignore[attr-defined]
        support.is_compiling = lambda: self.is_another_compiling  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, loader.SUPPORT, support)
        monkeypatch.setattr(loader, "compile_apart", self._run)
        monkeypatch.setattr(loader, "LOAD_AFTER", 0.0)
        monkeypatch.setattr(loader, "LOOK_SECONDS", 0.0)

    def _run(self, *, unless_another_does: bool) -> int:
        self.started += 1
        assert self._ends.wait(60)
        return self._status

    def end(self, status: int) -> None:
        self.is_kept, self._status = status == 0, status
        self._ends.set()


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    compiler = Compiler(monkeypatch)
    yield compiler
    compiler.end(1)


def test_it_is_loaded_when_searches_took_as_long(
    kernel: ModuleType, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler.is_kept = True
    times = iter([0.0, 9.0, 10.0, 10.04, 20.0, 20.02, 30.0, 30.01])
    monkeypatch.setattr(loader.time, "perf_counter", lambda: next(times))
    monkeypatch.setattr(loader, "LOAD_AFTER", 0.105)
    own_loader = Loader()
    states = []
    for _ in range(4):
        with own_loader.count_time():
            pass
        states.append(own_loader.kernel is kernel)
    assert states == [False, False, True, True]  # 9 seconds of one search count as 0.05


def search_until(own_loader: Loader, condition: Callable[[], bool]) -> None:
    """Search with short pauses, as programs do."""

    def search() -> bool:
        with own_loader.count_time():
            pass
        return condition()

    wait_until(search, "what the searches wait for")


def test_no_search_waits_until_it_is_compiled(
    kernel: ModuleType, compiler: Compiler, caplog: pytest.LogCaptureFixture
) -> None:
    own_loader = Loader()
    with caplog.at_level("INFO"):
        for _ in range(3):
            search_until(own_loader, lambda: compiler.started == 1)
        assert own_loader.kernel is None and "being compiled" in own_loader.reason
        (record,) = caplog.records
        assert record.levelname == "INFO" and "compiles" in record.message
        assert "score every candidate" in record.message
        compiler.end(0)
        search_until(own_loader, lambda: own_loader.kernel is kernel)
    assert compiler.started == len(caplog.records) == 1


def test_what_is_compiled_already_is_loaded_by_the_search(kernel: ModuleType, compiler: Compiler) -> None:
    compiler.is_kept = True
    own_loader = Loader()
    with own_loader.count_time():
        pass
    assert own_loader.kernel is kernel and not compiler.started


def test_if_it_cannot_be_compiled_searches_go_without_it_and_the_log_says_so(
    kernel: ModuleType, compiler: Compiler, caplog: pytest.LogCaptureFixture
) -> None:
    own_loader = Loader()
    search_until(own_loader, lambda: compiler.started == 1)
    compiler.end(-9)
    search_until(own_loader, lambda: own_loader.reason == "numba does not load")
    search_until(own_loader, lambda: True)
    assert own_loader.kernel is None and compiler.started == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"] and "-9" in caplog.text


def test_while_another_process_compiles_it_none_is_started(kernel: ModuleType, compiler: Compiler) -> None:
    compiler.is_another_compiling = True
    own_loader = Loader()
    for _ in range(3):
        search_until(own_loader, lambda: "being compiled" in own_loader.reason)
    assert not compiler.started
    compiler.is_another_compiling = False
    search_until(own_loader, lambda: compiler.started == 1)


def test_a_system_that_starts_no_process_searches_without_it(
    kernel: ModuleType, compiler: Compiler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**options: object) -> None:
        raise FileNotFoundError("no python")

    monkeypatch.setattr(loader, "compile_apart", fail)
    own_loader = Loader()
    search_until(own_loader, lambda: own_loader.reason == "numba does not load")
    assert "no python" in caplog.text


def test_one_process_compiles_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("numba")
    from esr.folder.kernel import numba_support

    monkeypatch.setattr(numba_support, "cache_folder", lambda: tmp_path)
    assert not numba_support.is_compiling()
    with (tmp_path / numba_support.LOCK).open("w") as file:
        take_lock(file)
        assert numba_support.is_compiling()
    assert not numba_support.is_compiling()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_that_lost_sight_of_the_compiler_starts_it_again(
    kernel: ModuleType, compiler: Compiler
) -> None:
    own_loader = Loader()
    search_until(own_loader, lambda: compiler.started == 1)

    with warnings.catch_warnings(action="ignore"):  # later Pythons warn of threads, which are the point here
        child = os.fork()
    if child == 0:
        with ExitStack() as stack:
            stack.callback(os._exit, 1)
            search_until(own_loader, lambda: compiler.started == 2)
            compiler.end(0)
            search_until(own_loader, lambda: own_loader.kernel is kernel)
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_it_is_loaded_at_once_where_many_searches_will_come(kernel: ModuleType) -> None:
    own_loader = Loader()
    own_loader.load()
    assert own_loader.kernel is kernel


@pytest.mark.parametrize(
    "level, error, reason",
    [
        ("INFO", ModuleNotFoundError("no numba"), "numba is not installed"),
        ("WARNING", KeyError("_nrt"), "numba does not load"),
    ],
)
def test_without_it_searches_go_on_and_it_is_tried_once(
    level: str,
    error: Exception,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(name: str) -> ModuleType:
        raise error

    monkeypatch.setattr(loader, "import_module", fail)
    own_loader = Loader()
    assert own_loader.reason == "the compiled kernel is not loaded yet"
    with caplog.at_level("INFO"):
        own_loader.load()
        own_loader.load()
    assert own_loader.kernel is None and own_loader.reason == reason
    assert [record.levelname for record in caplog.records] == [level]
    assert "searches go without numba" in caplog.text


SERVER = "LOADER.load(apart=True)"
PROGRAM = """
import time
while LOADER.kernel is None:
    with LOADER.count_time():
        time.sleep(0.05)
"""
LOAD = """
import resource
from esr.folder.search.kernel_loader import LOADER
{}
assert LOADER.kernel is not None
spent = [resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(*spent)
"""


@only_long
@pytest.mark.endurance
def test_servers_and_programs_compile_it_in_another_process_once_on_a_machine(tmp_path: Path) -> None:
    need("numba")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def spend(*sources: str) -> list[list[float]]:
        """Seconds of processor time of each process for loading, and of the process that it started."""
        commands = [[sys.executable, "-c", LOAD.format(source)] for source in sources]
        started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for command in commands]
        try:
            outputs = [process.communicate(timeout=1200)[0] for process in started]
        finally:
            for process in started:
                process.kill()
        return [[float(seconds) for seconds in output.split()] for output in outputs]

    (of_server, one), (of_program, other) = spend(SERVER, PROGRAM)
    assert max(of_server, of_program) < max(one, other) and min(one, other) < max(one, other) / 4
    for _, later in spend(SERVER, PROGRAM):
        assert later == 0


def test_while_one_thread_loads_it_others_do_not_wait(
    kernel: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_loader = Loader()
    begun, may_end = threading.Event(), threading.Event()

    def import_slowly(name: str) -> ModuleType:
        begun.set()
        assert may_end.wait(60)
        return sys.modules[name]

    monkeypatch.setattr(loader, "import_module", import_slowly)
    first = threading.Thread(target=own_loader.load)
    first.start()
    assert begun.wait(60)
    own_loader.load()
    assert own_loader.kernel is None
    may_end.set()
    first.join(60)
    assert own_loader.kernel is kernel


def test_an_index_loads_it_in_the_background_when_many_searches_will_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(tmp_path / "index", [document("A", "one")])
    began, ends = threading.Event(), threading.Event()
    monkeypatch.setattr(LOADER, "load", lambda apart: (began.set(), ends.wait(5)))
    EmbeddedIndex(str(tmp_path / "index")).warm_up()
    assert began.wait(5)
    ends.set()
