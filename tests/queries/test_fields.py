from __future__ import annotations

import pytest

from esr.queries import FIELDS, Field, ValueKind, date_start, find_field, parse
from esr.queries.values import EXPECTED

DAY = 86_400_000


def test_no_name_belongs_to_two_fields() -> None:
    names = [name for field in FIELDS for name in (field.name, *field.aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_the_example_of_a_field_is_a_clause_of_it(field: Field) -> None:
    query = parse(field.example)
    assert [clause.field for group in query.groups for clause in group.alternatives] == [field.name]
    assert not query.notes


def test_each_kind_of_value_has_a_description() -> None:
    assert set(EXPECTED) == set(ValueKind)


def test_a_field_is_found_by_any_of_its_names() -> None:
    assert find_field("ORG") is find_field("organization") is not None
    assert find_field("foo") is None


@pytest.mark.parametrize(
    ("date", "days"), [("1970", 0), ("1970-02", 31), ("1970-01-02", 1), ("1969-12-31", -1), ("1971", 365)]
)
def test_a_date_begins_with_its_first_millisecond(date: str, days: int) -> None:
    for text in (f"before:{date}", f'after:"{date}"'):
        (group,) = parse(text).groups
        assert date_start(group.alternatives[0]) == days * DAY
