"""The names that the tools of `esr mcp` list, as filters of queries."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import esr
from tests.bridges.test_mcp import answer, server

__all__ = ["server"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ['Dwayne "The Rock" Johnson', '«A» "B"', "O'Neil (Ann)"])
def test_the_filter_of_a_name_with_quotation_marks_is_read_as_the_name(
    server: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    listed = [SimpleNamespace(name=name, type="person", count=3)]
    monkeypatch.setattr(esr.Index, "names", lambda *_, **__: listed)
    (found,) = answer(server, "names")["names"]
    (group,) = esr.parse_query(found["filter"]).groups
    (clause,) = group.alternatives
    assert (clause.field, clause.text) == ("person", name)
