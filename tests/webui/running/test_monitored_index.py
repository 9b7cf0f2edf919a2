from __future__ import annotations

import inspect

import pytest

from esr.engines import deadline
from esr.engines.index import Index
from esr.errors import EngineUnreachable, UsageError
from tests.support.fake_index import STORM, FakeIndex
from webui.running.circuit_breaker import FAILURES, CircuitBreaker
from webui.running.monitored_index import CACHED_METHODS, ENGINE_METHODS, monitor

OTHER_METHODS = {"close", "documents", "enrichment", "on_latest", "warm_up"}  # no page reads all documents


def test_every_method_of_an_index_that_asks_its_engine_is_monitored() -> None:
    methods = {name for name, _ in inspect.getmembers(Index, inspect.isfunction) if not name.startswith("_")}
    assert methods == ENGINE_METHODS | OTHER_METHODS


def test_attributes_pass_through_and_snapshots_are_monitored_too() -> None:
    index = FakeIndex(STORM)
    monitored = monitor(index, CircuitBreaker(1.0))
    assert monitored.where == "memory"
    assert monitored.snapshot().analyzer is index.analyzer
    assert type(monitored.snapshot()) is type(monitored)
    assert monitored.on_latest(type) is type(monitored)


@pytest.mark.parametrize(("error", "counts"), [(EngineUnreachable("away"), True), (UsageError("bad"), False)])
def test_an_unreachable_engine_opens_the_breaker_and_other_errors_do_not(
    error: Exception, counts: bool
) -> None:
    index, breaker = FakeIndex(STORM), CircuitBreaker(1.0)
    index.error = error
    for _ in range(FAILURES):
        with pytest.raises(type(error)):
            monitor(index, breaker).statistics([])
    if counts:
        with pytest.raises(EngineUnreachable, match="not asked again yet"):
            breaker.raise_if_open()
        index.error = None
        monitor(index, breaker).statistics([])  # the answer may be cached
        with pytest.raises(EngineUnreachable):
            breaker.raise_if_open()
        monitor(index, breaker).check_ready()
    breaker.raise_if_open()


@pytest.mark.parametrize("seconds, counts", [(0.5, False), (5.0, True)])
def test_an_engine_that_was_given_little_time_has_not_failed(seconds: float, counts: bool) -> None:
    index, breaker = FakeIndex(STORM), CircuitBreaker(10.0)
    index.error = EngineUnreachable("timed out")
    for _ in range(FAILURES):
        with deadline.within(seconds), pytest.raises(EngineUnreachable, match="timed out"):
            monitor(index, breaker).check_ready()
    if counts:
        with pytest.raises(EngineUnreachable, match="not asked again yet"):
            breaker.raise_if_open()
    else:
        breaker.raise_if_open()


def test_cached_methods_are_engine_methods() -> None:
    assert CACHED_METHODS < ENGINE_METHODS
