"""What is no syntax is words, and a note says so where it looks like syntax."""

from __future__ import annotations

import pytest

from esr.query import NoteKind, parse
from esr.query.query import MESSAGES

K = NoteKind


ORDINARY = (
    *("C++", "C#", "5-4", "don't", '12"', "http://x.y/z", "foo:bar", "a-b", "'a b'", "R&D", "(a b)", "a | b"),
    *("re: tax", "or not and", "x^2", "~a", "@bbc", "#tag", "12:30", ":", ":x", "places: Paris", "version:2"),
)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_words_get_no_note(text: str) -> None:
    query = parse(text)
    assert query.is_plain and not query.notes
    assert query.wanted_runs == ((0, len(text)),)


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("a - b", K.SIGN, "-"),
        ("a + b", K.SIGN, "+"),
        ("-(a)", K.SIGN, "-(a)"),
        ("-'a'", K.SIGN, "-'a'"),
        ("-\u0301a", K.SIGN, "-\u0301a"),
        ("--", K.SEVERAL_SIGNS, "--"),
        ("--x", K.SEVERAL_SIGNS, "--x"),
        ("+-x", K.SEVERAL_SIGNS, "+-x"),
        ('--"a b"', K.SEVERAL_SIGNS, '--"a'),
        ("*", K.STAR, "*"),
        ("cli*mat", K.STAR, "cli*mat"),
        ("climat**", K.STAR, "climat**"),
        ("*bold*", K.STAR, "*bold*"),
        ("U.S.*", K.STAR, "U.S.*"),
        ("climat*,", K.STAR, "climat*,"),
        ('"a b', K.QUOTE, '"a'),
        ("a ”b c“", K.QUOTE, "”b"),
        ('-"a b', K.QUOTE, '-"a'),
        ('title:"a b', K.QUOTE, 'title:"a'),
        ('""', K.EMPTY_PHRASE, '""'),
        ('a -"- -" b', K.EMPTY_PHRASE, '-"- -"'),
        ('title:"?"', K.EMPTY_PHRASE, 'title:"?"'),
        ("source:", K.MISSING_VALUE, "source:"),
        ("-source: x", K.MISSING_VALUE, "-source:"),
        ("before:yesterday", K.BAD_VALUE, "before:yesterday"),
        ("-before:2017-13", K.BAD_VALUE, "-before:2017-13"),
        ('after:"last week" a', K.BAD_VALUE, 'after:"last week"'),
        ("before:2017*", K.BAD_VALUE, "before:2017*"),
        ("source:bbc*", K.BAD_VALUE, "source:bbc*"),
        ("source:--", K.SIGN_IN_VALUE, "source:--"),
        ("source:...", K.BAD_VALUE, "source:..."),
        ("language:d,e", K.BAD_VALUE, "language:d,e"),
        ("title:-a", K.SIGN_IN_VALUE, "title:-a"),
        ("sorce:bbc", K.MISSPELT_FIELD, "sorce:"),
        ("Titel:a", K.MISSPELT_FIELD, "Titel:"),
        ('foo:"a b"', K.UNKNOWN_FIELD, "foo:"),
        ("OR", K.OR, "OR"),
        ("OR a", K.OR, "OR"),
        ("a OR", K.OR, "OR"),
        ("NOT", K.NOT, "NOT"),
        ("a NOT", K.NOT, "NOT"),
        ("NOT (a)", K.NOT, "NOT"),
        ("NOT &", K.NOT, "NOT"),
        ("a AND b", K.AND, "AND"),
    ],
)
def test_what_looks_like_syntax_is_words_with_a_note(text: str, kind: NoteKind, place: str) -> None:
    query = parse(text)
    assert query.is_plain
    assert query.wanted_runs == ((0, len(text)),)
    assert [(note.kind, text[note.start : note.end]) for note in query.notes] == [(kind, place)]


@pytest.mark.parametrize(
    ("text", "kind", "places"),
    [
        ("a OR OR b", K.OR, ["OR", "OR"]),
        ("a OR -b", K.OR, ["OR"]),
        ("NOT a OR b", K.OR, ["OR"]),
        ('a OR "" b', K.OR, ["OR"]),
        ("a OR & b", K.OR, ["OR"]),
        ("a OR --b", K.OR, ["OR"]),
        ("a OR before:yesterday", K.OR, ["OR"]),
        ("NOT -a", K.NOT, ["NOT"]),
        ("NOT --a", K.NOT, ["NOT"]),
        ("NOT NOT a", K.NOT, ["NOT"]),
        ("NOT source:", K.NOT, ["NOT"]),
        ("NOT OR", K.NOT, ["NOT"]),
        ("NOT before:yesterday", K.NOT, ["NOT"]),
    ],
)
def test_an_operator_without_operands_is_a_word(text: str, kind: NoteKind, places: list[str]) -> None:
    query = parse(text)
    notes = [note for note in query.notes if note.kind is kind]
    assert [text[note.start : note.end] for note in notes] == places
    wanted = {(group.start, group.end) for group in query.groups if group.role == "wanted"}
    assert all((note.start, note.end) in wanted for note in notes)
    assert all(len(group.alternatives) == 1 for group in query.groups)


def test_a_sign_counts_though_a_star_does_not() -> None:
    (group,) = parse("-cli*mat").groups
    assert group.role == "excluded" and group.alternatives[0].text == "cli*mat"
    assert [note.kind for note in parse("-cli*mat").notes] == [K.STAR]


@pytest.mark.parametrize("text", ["a OR (b c)", "(a b) OR c"])
def test_parentheses_beside_or_get_a_note(text: str) -> None:
    assert [note.kind for note in parse(text).notes] == [K.PARENTHESIS]
    assert not parse('a OR (b) OR "(c"').notes


def test_a_note_says_what_to_do() -> None:
    messages = [note.message for note in parse("sorce:bbc before:soon place: -title:-x").notes]
    assert messages == [
        "There is no field sorce: did you mean source:?",
        "This is read as words: before: takes a date such as 2017, 2017-03 or 2017-03-15.",
        "This is read as a word: put a value directly after the colon, as in place:Paris.",
        "This is read as words: put the sign before the field, as in -title:election.",
    ]


def test_each_kind_of_note_has_a_message() -> None:
    assert set(MESSAGES) == set(NoteKind)


def test_notes_are_in_the_order_of_the_text() -> None:
    notes = parse('OR "a NOT - ** source: x OR').notes
    assert [note.start for note in notes] == sorted(note.start for note in notes)
    assert len(notes) == 7
