"""Conditions resolve sources, attributes and names wherever they occur, and report unknown ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from esr.index.filters import Filters, Value, ValueTable, find_unknown_filters, resolve_condition
from esr.index.names import Name
from esr.plans.condition import AllOf, AnyOf, Condition, HasSource, HasTerm, Not
from tests.support.fake_index import FLOOD, STORM, FakeIndex


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


INDEX = FakeIndex(STORM._replace(entities={"person": ["Barack Obama"], "organization": ["UN"]}), FLOOD)


def messages(*entities: str, sources: tuple[str, ...] = (), index: FakeIndex = INDEX) -> list[str]:
    unknown = find_unknown_filters(index, Filters(sources=sources, entities=entities))
    return [value.message for value in unknown]


def test_what_the_index_has_is_not_unknown() -> None:
    assert messages("barack obama’s", "person:Barack Obama", "U.N.", sources=("THE EXAMPLE",)) == []


@pytest.mark.parametrize("written", ["Barak Obama", "person:Barac Obama", "Brack Obama"])
def test_the_nearest_name_is_offered(written: str) -> None:
    (message,) = messages(written)
    assert message.endswith("did you mean 'Barack Obama'?")


def test_another_type_is_told() -> None:
    assert messages("location:UN") == [
        "'UN' is an organization in this index, not: location; search for organization:UN"
    ]
    (message,) = messages("location:Barack Obama")
    assert message.endswith('search for person:"Barack Obama"')
    (unknown,) = find_unknown_filters(INDEX, Filters(entities=("location:UN",)))
    assert unknown.nearest == "organization:UN"


def test_a_name_without_a_near_one_is_unknown() -> None:
    assert messages("Qwerty") == ["unknown name 'Qwerty': no sentence has it"]


def test_an_index_without_names_says_how_it_gets_them() -> None:
    assert messages("Qwerty", index=FakeIndex(STORM)) == [
        "unknown name 'Qwerty': the index has no names, find them with esr enrich"
    ]


def test_known_sources_are_listed_where_none_is_near() -> None:
    assert messages(sources=("qqq",)) == ["unknown source 'qqq': known: The Example"]
    assert messages(sources=("The Exmple",)) == ["unknown source 'The Exmple': did you mean 'The Example'?"]
    assert messages(sources=("qqq",), index=FakeIndex(FLOOD)) == ["unknown source 'qqq': known: none"]


TABLE = ValueTable([("bbc", 2), ("BBC", 5), ("The Guardian", 9), ("guardian.co.uk", 1), ("Wire", 7)])
BBC = Value("BBC", 7, ("BBC", "bbc"))


@pytest.mark.parametrize("text", ["bbc", "BBC", "Bbc", " bbc "])
def test_a_source_is_found_in_any_case_under_the_form_of_most_documents(text: str) -> None:
    assert TABLE.find(text) == BBC
    assert TABLE.form(text) == "BBC"


def test_another_source_is_not_found() -> None:
    assert TABLE.find("bbc.co.uk") is None and TABLE.form("bbc.co.uk") == "bbc.co.uk"


def test_of_forms_that_are_as_frequent_the_first_is_shown() -> None:
    assert ValueTable([("wire", 1), ("Wire", 1)]).form("WIRE") == "Wire"


def test_sources_are_listed_by_the_beginning_of_a_word() -> None:
    assert [source.form for source in TABLE.with_prefix("GUA", 9)] == ["The Guardian", "guardian.co.uk"]
    assert [source.form for source in TABLE.with_prefix("", 3)] == ["The Guardian", "BBC", "Wire"]
    assert TABLE.with_prefix("uardian", 9) == []


def test_the_nearest_source_is_offered_if_one_is_near() -> None:
    assert TABLE.nearest("bcb") == BBC
    assert TABLE.nearest("The Gardian") == TABLE.find("The Guardian")
    assert TABLE.nearest("qqqqq") is None


def test_a_table_tells_whether_a_source_has_several_forms() -> None:
    assert TABLE.has_variants
    assert not ValueTable([("a", 1), ("b", 2)]).has_variants
