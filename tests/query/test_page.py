"""docs/query-language.md says what the parser does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from esr.query import FIELDS, NoteKind, parse
from esr.query.parser import CLOSING_MARKS, SIGNS
from esr.query.query import OPERATORS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "query-language.md").read_text("utf-8")


def test_the_table_of_fields_is_that_of_the_registry() -> None:
    rows = [
        f"| `{field.name}:` | {' '.join(f'`{alias}:`' for alias in field.aliases)} "
        f"| {field.description} | `{field.example}` |"
        for field in FIELDS
    ]
    assert "\n".join(["| --- | --- | --- | --- |", *rows, ""]) in PAGE


@pytest.mark.parametrize("operator", sorted(OPERATORS | {*SIGNS, "*"}))
def test_the_page_names_each_operator(operator: str) -> None:
    table = PAGE.split("| operator | rule |")[1].split("\n\n")[0]
    assert f"`{operator}`" in "".join(line.split("|")[1] for line in table.splitlines() if line)


def test_the_page_shows_each_pair_of_quotes_and_no_other() -> None:
    pairs = {f"{mark}…{end}" for mark, closing in CLOSING_MARKS.items() for end in closing}
    assert set(re.findall(r"`(.….)`", PAGE)) == pairs


def table(heading: str) -> list[tuple[list[str], str]]:
    """The rows of a table under that heading: what is typed, and what it is said to be."""
    lines = PAGE.split(heading)[1].split("\n\n")[0].splitlines()[2:]
    rows = [line.strip("| ").split(" | ") for line in lines]
    return [(re.findall(r"`([^`]+)`", row[0]), row[1]) for row in rows]


def test_the_first_examples_are_what_the_page_says() -> None:
    rows = table("| you type | it means |")
    assert len(rows) == 11
    for texts, meaning in rows:
        role = "wanted" if meaning.startswith("rank") else "excluded" if "must not" in meaning else "required"
        for text in texts:
            query = parse(text)
            assert {group.role for group in query.groups} == {role}, text
            assert not query.notes


def test_what_the_page_calls_words_is_words_with_a_note() -> None:
    rows = table("| you type | it is read as | because |")
    texts = [text for texts, _ in rows for text in texts]
    assert len(texts) > 14
    for text in texts:
        query = parse(text)
        assert query.notes, text
        assert query.is_plain, text
    seen = {note.kind for text in texts for note in parse(text).notes}
    assert seen == set(NoteKind) - {NoteKind.AND, NoteKind.PARENTHESIS, NoteKind.UNKNOWN_FIELD}


def test_the_long_example_needs_no_note() -> None:
    (example,) = re.findall(r"^    (brexit .*)$", PAGE, re.M)
    query = parse(example)
    assert not query.notes
    assert [group.role for group in query.groups] == ["wanted", "required", "excluded", *["required"] * 3]


def test_the_ordinary_words_of_the_page_are_words() -> None:
    (example,) = re.findall(r"^    (C\+\+ .*)$", PAGE, re.M)
    assert parse(example).is_plain and not parse(example).notes
