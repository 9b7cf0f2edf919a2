"""What holds for every text."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.query import TEXT, ParsedQuery, literal, parse
from esr.query.parser import parse_syntax
from esr.query.query import clauses_of, disarm
from tests.support.endurance import examples, rounds
from tests.support.texts import Shape, query_texts, random_query_text, shape_of, spoilt_texts

FEW_HUNDRED = settings(max_examples=examples(400))


def check_places(query: ParsedQuery) -> None:
    """Groups and clauses are in order, do not overlap, and have only white space and operators between."""
    text = query.text
    places = [(0, 0), *((group.start, group.end) for group in query.groups), (len(text), len(text))]
    for (_, end), (start, _) in pairwise(places):
        assert end <= start and not text[end:start].strip()
    for group in query.groups:
        clauses = group.clauses
        assert set(group.alternatives) <= set(clauses) and group.alternatives
        assert len(clauses) == 1 or group.role != "wanted"
        for clause in clauses:
            assert clause.start < clause.end and clause.text in text[clause.start : clause.end]
            assert clause.text == text[clause.start : clause.end] or group.role != "wanted"
        ends = [
            group.start,
            *(place for clause in clauses for place in (clause.start, clause.end)),
            group.end,
        ]
        assert ends == sorted(ends)
        between = (text[ends[n] : ends[n + 1]] for n in range(0, len(ends), 2))
        assert all(re.fullmatch(r"[-+()\s]*(?:\b(?:AND|OR|NOT)\b[-+()\s]*)*", each) for each in between)
        is_flat = group.expression is None
        assert is_flat or set(clauses_of(group.expression)) == set(group.alternatives)
        assert group.role != "wanted" or is_flat
    assert all(0 <= note.start < note.end <= len(text) and note.message for note in query.notes)


def check_words(query: ParsedQuery) -> None:
    """Wanted are single words as they were typed, and their runs are all of these."""
    for group in query.groups:
        clause = group.alternatives[0]
        if group.role == "wanted":
            assert (clause.field, clause.form) == (TEXT, "word")
    runs = [query.text[start:end] for start, end in query.wanted_runs]
    words = [g.alternatives[0].text for g in query.groups if g.role == "wanted"]
    assert "".join("".join(runs).split()) == "".join("".join(words).split())
    assert query.is_plain == ("".join(runs) == query.text.strip())


def check_printing(query: ParsedQuery) -> None:
    """The uniform spelling says the same, with the same notes, and is its own spelling."""
    again = parse(str(query))
    assert shape_of(again) == shape_of(query)
    assert [note.kind for note in again.notes] == [note.kind for note in query.notes]
    assert str(again) == str(query)


def check_removal(query: ParsedQuery) -> None:
    """Each group can be taken out, and all others stay, unless a parenthesis is part of a required word."""
    required = [clause for group in query.groups if group.role != "wanted" for clause in group.clauses]
    if any(set("()") & set(clause.text) for clause in required if clause.form != "phrase"):
        return
    for n, group in enumerate(query.groups):
        rest = parse(query.without(group))
        assert _lower_operators(shape_of(rest)) == _lower_operators(
            [*shape_of(query)[:n], *shape_of(query)[n + 1 :]]
        )


def _lower_operators(shape: Shape) -> Shape:
    return [
        (role, [(f, form, disarm(t).lower() if role == "wanted" else t) for f, form, t in clauses], other)
        for role, clauses, other in shape
    ]


def check(text: str) -> None:
    query = parse(text)
    assert query.text == text
    for check_one in (check_places, check_words, check_printing, check_removal):
        check_one(query)


@pytest.mark.slow
@FEW_HUNDRED
@given(query_texts())
def test_any_text_is_a_query_of_which_nothing_is_lost(text: str) -> None:
    check(text)


def test_spoilt_texts_are_queries() -> None:
    for text in spoilt_texts(200):
        check(text)


@pytest.mark.endurance
def test_a_great_many_texts_are_queries() -> None:
    rng = random.Random(11)
    for _ in range(rounds(100_000)):
        check(random_query_text(rng))


@FEW_HUNDRED
@given(st.text(st.characters(exclude_characters='+-*:"“„”«»「『＂')))
def test_a_text_without_syntax_characters_is_words(text: str) -> None:
    query = parse(text.replace("OR", "or").replace("NOT", "not").replace("AND", "and"))
    assert query.is_plain
    assert [group.alternatives[0].text for group in query.groups] == query.text.split()
    assert not query.notes


@FEW_HUNDRED
@given(query_texts())
def test_any_literal_text_is_words(text: str) -> None:
    query = literal(text)
    check_places(query)
    check_words(query)
    assert query.is_plain and str(query) == " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ['"', "-", "OR ", "a:", "“a ", '-title:"a" ', 'title:"', "*", "a*b ", "(", ")", "(a) OR (b c) "],
)
def test_a_long_text_is_parsed_in_linear_time(piece: str) -> None:
    """Quadratic time would be minutes."""
    query = parse(piece * (50_000 // len(piece)))
    check_places(query)
    assert len(query.without(query.groups[0])) < len(query.text)
    assert len(str(query)) <= 2 * len(query.text)


@FEW_HUNDRED
@given(query_texts() | st.text("aO\u00e9 \u3000\n:*+-()\"“」1'ORANDNOT", max_size=12))
def test_texts_without_syntax_are_read_as_those_with_it(text: str) -> None:
    """They are not scanned, which takes most of the time."""
    assert parse(text) == parse_syntax(text)
