"""The compiled kernel is loaded when it pays, and nothing breaks without it."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from esr.engines.embedded import loader
from esr.engines.embedded.loader import Loader

KERNEL = "esr.engines.embedded.kernel"


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module in the place of the kernel."""
    found = ModuleType(KERNEL)
    monkeypatch.setitem(sys.modules, KERNEL, found)
    return found


def test_it_is_loaded_when_searches_took_as_long(kernel: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 0.3, 1.0, 1.15, 2.0, 2.1])
    monkeypatch.setattr(loader.time, "perf_counter", lambda: next(now))
    own = Loader()
    loaded = []
    for _ in range(3):
        with own.searching():
            pass
        loaded.append(own.kernel is kernel)
    assert loaded == [False, False, True]


def test_it_is_loaded_at_once_where_many_searches_will_come(kernel: ModuleType) -> None:
    own = Loader()
    own.load()
    assert own.kernel is kernel


@pytest.mark.parametrize(
    "level, error", [("INFO", ModuleNotFoundError("no numba")), ("WARNING", KeyError("_nrt"))]
)
def test_without_it_searches_go_on_and_it_is_tried_once(
    level: str, error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(name: str) -> ModuleType:
        raise error

    monkeypatch.setattr(loader, "import_module", fail)
    own = Loader()
    with caplog.at_level("INFO"):
        own.load()
        own.load()
    assert own.kernel is None
    assert [record.levelname for record in caplog.records] == [level]
    assert "searches go without numba" in caplog.text


def test_while_one_thread_loads_it_others_do_not_wait(kernel: ModuleType) -> None:
    own = Loader()
    with own._lock:
        own.load()
        assert own.kernel is None
    own.load()
    assert own.kernel is kernel
