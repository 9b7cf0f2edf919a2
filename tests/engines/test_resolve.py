"""Sources, attributes and names of a condition are resolved wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from esr.engines.names import Name
from esr.engines.resolve import resolve_condition
from esr.engines.values import ValueTable
from esr.plans.condition import AllOf, AnyOf, Condition, HasSource, HasTerm, Not


class Vocabulary:
    """The source BBC."""

    def values(self, field: str) -> ValueTable:
        return ValueTable([("BBC", 1)])

    def find_names(self, keys: Sequence[str]) -> Mapping[str, Name]:
        return {}

    def name_keys(self, prefix: str, limit: int) -> list[str]:
        return []


TERM, ASKED, RESOLVED = HasTerm("oil"), HasSource(("bbc",)), HasSource(("BBC",))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (ASKED, RESOLVED),
        (Not(ASKED), Not(RESOLVED)),
        (AllOf((TERM, ASKED)), AllOf((TERM, RESOLVED))),
        (AnyOf((ASKED, TERM)), AnyOf((RESOLVED, TERM))),
        (AllOf((TERM, AnyOf((TERM, ASKED)))), AllOf((TERM, AnyOf((TERM, RESOLVED))))),
    ],
)
def test_what_asks_for_a_source_is_resolved(condition: Condition, expected: Condition) -> None:
    assert resolve_condition(Vocabulary(), condition) == expected


@pytest.mark.parametrize("condition", [TERM, AllOf((TERM, TERM)), AnyOf((TERM, TERM))])
def test_what_has_terms_alone_stays(condition: Condition) -> None:
    assert resolve_condition(Vocabulary(), condition) is condition
