from __future__ import annotations

import pytest

from esr.query import FIELDS, Field, ValueKind, date_start, find_field, literal, parse
from esr.query.query import EXPECTED
from tests.support.query_texts import shape_of


def runs(text: str) -> list[str]:
    return [text[start:end] for start, end in parse(text).wanted_runs]


def test_a_query_without_syntax_is_one_run_with_its_white_space() -> None:
    assert runs("  climate  change\nin 北京 ") == ["climate  change\nin 北京"]
    assert runs(" \n") == runs("") == []


def test_syntax_separates_runs() -> None:
    assert runs('a b "c" d  e -f g OR h i') == ["a b", "d  e", "i"]
    assert not parse('a "c"').is_plain


def test_an_empty_query_is_plain() -> None:
    assert parse("").is_plain and parse(" ").groups == ()


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("  a \n b ", "a b"),
        ('NOT x  +"a  b" +c* +d ORG:e', '-x "a  b" c* +d organization:e'),
        ("+a OR NOT b", "+a OR -b"),
        ('+a OR +"b" OR lang:de', 'a OR "b" OR language:de'),
        ('„a "b"“«c»', '„a "b"“ «c»'),
        ('"x „a b“', '"x „a b“'),
    ],
)
def test_a_query_is_printed_in_a_uniform_spelling(text: str, printed: str) -> None:
    assert str(parse(text)) == printed
    assert shape_of(parse(printed)) == shape_of(parse(text))


@pytest.mark.parametrize(
    ("text", "number", "remaining"),
    [
        ("a  b  c", 1, "a c"),
        ("a -b", 1, "a"),
        (" -a  b\nc ", 0, "b\nc"),
        ('a NOT "b c" d', 1, "a d"),
        ("a b OR c OR d e", 1, "a e"),
        ('"a"b"c', 0, 'b"c'),
        ('a "b"c', 1, "a c"),
        ("a", 0, ""),
    ],
)
def test_a_group_can_be_taken_out(text: str, number: int, remaining: str) -> None:
    query = parse(text)
    assert query.without(query.groups[number]) == remaining


@pytest.mark.parametrize(
    ("text", "number", "remaining"),
    [
        ("a OR OR b", 1, "a or b"),
        ("NOT -a b", 1, "not b"),
        ("a OR NOT -x y", 3, "a or not y"),
        ("a OR -b OR c", 2, "a or or c"),
    ],
)
def test_an_operator_that_was_a_word_stays_one_without_its_neighbour(
    text: str, number: int, remaining: str
) -> None:
    query = parse(text)
    assert query.without(query.groups[number]) == remaining
    assert len(parse(remaining).groups) == len(query.groups) - 1


def test_literal_text_is_words() -> None:
    text = ' -a "b c" OR source:x* '
    query = literal(text)
    assert query.is_plain and not query.notes
    assert [clause.text for group in query.groups for clause in group.alternatives] == text.split()
    assert query.wanted_runs == ((1, len(text) - 1),)


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
