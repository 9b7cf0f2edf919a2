from __future__ import annotations

import inspect

import pytest

from esr.engines import deadline
from esr.engines.index import Index
from esr.errors import EngineUnreachable, UsageError
from tests.webui.fake_index import STORM, FakeIndex
from webui.running.gate import FAILURES, Breaker
from webui.running.monitored_index import ASKING, REMEMBERED, guarded

NOT_ASKING = {"close", "documents", "enrichment", "warm"}  # no page reads all documents


def test_every_method_of_an_index_that_asks_is_guarded() -> None:
    methods = {name for name, _ in inspect.getmembers(Index, inspect.isfunction) if not name.startswith("_")}
    assert methods == ASKING | NOT_ASKING


def test_what_the_index_has_is_there_and_its_present_state_is_guarded_too() -> None:
    index = FakeIndex(STORM)
    found = guarded(index, Breaker(1.0))
    assert found.where == "memory"
    assert found.snapshot().analyzer is index.analyzer
    assert type(found.snapshot()) is type(found)


@pytest.mark.parametrize(("error", "counts"), [(EngineUnreachable("away"), True), (UsageError("bad"), False)])
def test_silence_opens_the_breaker_and_other_errors_do_not(error: Exception, counts: bool) -> None:
    index, breaker = FakeIndex(STORM), Breaker(1.0)
    index.error = error
    for _ in range(FAILURES):
        with pytest.raises(type(error)):
            guarded(index, breaker).statistics([])
    if counts:
        with pytest.raises(EngineUnreachable, match="not asked again yet"):
            breaker.look()
        index.error = None
        guarded(index, breaker).statistics([])  # it may be remembered
        with pytest.raises(EngineUnreachable):
            breaker.look()
        guarded(index, breaker).ready()
    breaker.look()


@pytest.mark.parametrize("seconds, counts", [(0.5, False), (5.0, True)])
def test_an_engine_that_was_given_no_time_has_not_failed(seconds: float, counts: bool) -> None:
    index, breaker = FakeIndex(STORM), Breaker(10.0)
    index.error = EngineUnreachable("timed out")
    for _ in range(FAILURES):
        with deadline.within(seconds), pytest.raises(EngineUnreachable, match="timed out"):
            guarded(index, breaker).ready()
    if counts:
        with pytest.raises(EngineUnreachable, match="not asked again yet"):
            breaker.look()
    else:
        breaker.look()


def test_methods_that_may_answer_from_memory_are_among_those_that_ask() -> None:
    assert REMEMBERED < ASKING
