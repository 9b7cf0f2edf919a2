"""What a filter says of a name or a source that an index does not have."""

from __future__ import annotations

import pytest

from esr.engines.filters import Filters
from esr.engines.unknown_filters import find_unknown_filters
from tests.support.fake_index import FLOOD, STORM, FakeIndex

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
