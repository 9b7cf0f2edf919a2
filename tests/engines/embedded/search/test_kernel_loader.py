"""The compiled kernel is loaded when it pays, and nothing breaks without it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

from esr.engines.embedded.index import EmbeddedIndex
from esr.engines.embedded.search import kernel_loader as loader
from esr.engines.embedded.search.kernel_loader import KERNEL, LOADER, Loader
from tests.support.folder_index import document, load
from tests.support.needed import need


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module in the place of the kernel."""
    module = ModuleType(KERNEL)
    monkeypatch.setitem(sys.modules, KERNEL, module)
    return module


def test_it_is_loaded_when_searches_took_as_long(kernel: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
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


LOAD_APART = """
import resource
from esr.engines.embedded.search.kernel_loader import LOADER
LOADER.load(apart=True)
assert LOADER.kernel is not None
spent = [resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(*spent)
"""


@pytest.mark.slow
def test_a_server_compiles_it_in_another_process_once_on_a_machine(tmp_path: Path) -> None:
    need("numba")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def spend(workers: int) -> list[list[float]]:
        """Seconds of processor time of each worker for loading, and of the process that it started."""
        command = [sys.executable, "-c", LOAD_APART]
        started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(workers)]
        outputs = [worker.communicate(timeout=300)[0] for worker in started]
        return [[float(seconds) for seconds in output.split()] for output in outputs]

    (own, one), (_, other) = spend(2)
    assert own < max(one, other) and min(one, other) < max(one, other) / 4
    ((_, later),) = spend(1)
    assert later == 0


def test_while_one_thread_loads_it_others_do_not_wait(kernel: ModuleType) -> None:
    own_loader = Loader()
    with own_loader._lock:
        own_loader.load()
        assert own_loader.kernel is None
    own_loader.load()
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
