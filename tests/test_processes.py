"""Variables get their former values back, whatever happens in between."""

from __future__ import annotations

import os
import signal

import pytest

from esr.processes import defer_interrupt, set_environment


def test_variables_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESR_TEST_ONE", "old")
    monkeypatch.delenv("ESR_TEST_TWO", raising=False)
    with pytest.raises(ValueError), set_environment({"ESR_TEST_ONE": "new", "ESR_TEST_TWO": "new"}):
        assert (os.environ["ESR_TEST_ONE"], os.environ["ESR_TEST_TWO"]) == ("new", "new")
        raise ValueError
    assert os.environ["ESR_TEST_ONE"] == "old"
    assert "ESR_TEST_TWO" not in os.environ


def test_an_interrupt_waits_for_the_end_of_a_call_of_the_pool() -> None:
    reached = False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    try:
        with pytest.raises(KeyboardInterrupt), defer_interrupt():
            signal.raise_signal(signal.SIGINT)
            reached = True
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached
