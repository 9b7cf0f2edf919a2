"""Variables get their former values back, whatever happens in between."""

from __future__ import annotations

import os

import pytest

from esr.environment import set_environment


def test_variables_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESR_TEST_ONE", "old")
    monkeypatch.delenv("ESR_TEST_TWO", raising=False)
    with pytest.raises(ValueError), set_environment({"ESR_TEST_ONE": "new", "ESR_TEST_TWO": "new"}):
        assert (os.environ["ESR_TEST_ONE"], os.environ["ESR_TEST_TWO"]) == ("new", "new")
        raise ValueError
    assert os.environ["ESR_TEST_ONE"] == "old"
    assert "ESR_TEST_TWO" not in os.environ
