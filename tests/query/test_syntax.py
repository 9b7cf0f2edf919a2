"""What each piece of syntax says."""

from __future__ import annotations

import pytest

from esr.query import TEXT, NoteKind, parse
from esr.query.parser import CLOSING_MARKS
from tests.support.query_texts import shape_of


def clauses(text: str) -> list[str]:
    """The groups of a query in short: role, field and form where they are not the usual ones."""
    return [
        f"{role}: " + " | ".join(f"{field}/{form} {value}" for field, form, value in alternatives)
        for role, alternatives in shape_of(parse(text))
    ]


def kinds(text: str) -> list[NoteKind]:
    return [note.kind for note in parse(text).notes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("word", "wanted: text/word word"),
        ('"exact phrase"', "required: text/phrase exact phrase"),
        ("-word", "excluded: text/word word"),
        ('-"a b"', "excluded: text/phrase a b"),
        ("+word", "required: text/word word"),
        ('+"a b"', "required: text/phrase a b"),
        ("climat*", "required: text/prefix climat"),
        ("हिन्दी*", "required: text/prefix हिन्दी"),
        ("cafe\u0301*", "required: text/prefix cafe\u0301"),
        ("+climat*", "required: text/prefix climat"),
        ("-climat*", "excluded: text/prefix climat"),
        ("NOT word", "excluded: text/word word"),
        ('NOT "a b"', "excluded: text/phrase a b"),
        ("NOT climat*", "excluded: text/prefix climat"),
        ("NOT +word", "excluded: text/word word"),
        ('NOT +"a b"', "excluded: text/phrase a b"),
        ("NOT source:x", "excluded: source/word x"),
        ("source:bbc.co.uk", "required: source/word bbc.co.uk"),
        ("+source:bbc.co.uk", "required: source/word bbc.co.uk"),
        ("-source:x", "excluded: source/word x"),
        ('person:"Theresa May"', "required: person/phrase Theresa May"),
        ("title:word", "required: title/word word"),
        ('-title:"a b"', "excluded: title/phrase a b"),
        ("title:climat*", "required: title/prefix climat"),
        ('name:"M*A*S*H"', "required: name/phrase M*A*S*H"),
        ("before:2017-03", "required: before/word 2017-03"),
        ('after:"2017-01-15"', "required: after/phrase 2017-01-15"),
        ("language:pt-BR", "required: language/word pt-BR"),
        ("a OR b", "required: text/word a | text/word b"),
        ("a\nOR\tb", "required: text/word a | text/word b"),
        ('a OR "b c" OR d* OR +e', "required: text/word a | text/phrase b c | text/prefix d | text/word e"),
        ('title:a OR "b"', "required: title/word a | text/phrase b"),
        ("-OR", "excluded: text/word OR"),
        ("+NOT", "required: text/word NOT"),
        ('"OR"', "required: text/phrase OR"),
        ("-don't", "excluded: text/word don't"),
        ("+½", "required: text/word ½"),
    ],
)
def test_syntax_makes_one_group_without_a_note(text: str, expected: str) -> None:
    assert clauses(text) == [expected]
    assert not kinds(text)
    (group,) = parse(text).groups
    assert (group.start, group.end) == (0, len(text))


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("location", "place"),
        ("organisation", "organization"),
        ("org", "organization"),
        ("lang", "language"),
        ("SOURCE", "source"),
        ("Title", "title"),
    ],
)
def test_fields_have_aliases_and_no_case(alias: str, name: str) -> None:
    assert clauses(f"{alias}:de") == [f"required: {name}/word de"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('meta."dc:creator":Roe', "wanted: meta.dc:creator/word Roe"),
        ('-META."dc:creator":"Jane Roe"', "excluded: meta.dc:creator/phrase Jane Roe"),
        ('meta."a key":x', "wanted: meta.a key/word x"),
        ("meta.dc:creator:x", "wanted: meta.dc/word creator:x"),
    ],
)
def test_a_key_of_the_metadata_may_be_in_quotes(text: str, expected: str) -> None:
    assert clauses(text) == [expected.replace("wanted", "required")]
    assert not kinds(text)


@pytest.mark.parametrize(
    ("opening", "closing"), [(mark, end) for mark, ends in CLOSING_MARKS.items() for end in ends]
)
def test_a_phrase_may_stand_in_the_quotes_of_any_language(opening: str, closing: str) -> None:
    assert clauses(f"{opening}a b{closing}") == ["required: text/phrase a b"]
    assert clauses(f"-title:{opening}a b{closing}c") == [
        "excluded: title/phrase a b",
        "wanted: text/word c",
    ]


def test_a_phrase_ends_at_the_next_closing_mark_and_a_chunk_begins_there() -> None:
    assert clauses('"a"b') == ["required: text/phrase a", "wanted: text/word b"]
    assert clauses('"a"-b"c"') == ["required: text/phrase a", 'excluded: text/word b"c"']
    assert clauses('"a"OR"b"') == ["required: text/phrase a", 'wanted: text/word OR"b"']
    assert clauses('"a"OR "b"') == ["required: text/phrase a | text/phrase b"]
    assert clauses('source:"a"title:b') == ["required: source/phrase a", "required: title/word b"]


def test_a_phrase_may_hold_other_quotation_marks_and_line_breaks() -> None:
    assert clauses('„a "b"\nc“') == ['required: text/phrase a "b"\nc']


def test_or_binds_its_neighbours_alone() -> None:
    assert clauses("a b OR c d") == [
        "wanted: text/word a",
        "required: text/word b | text/word c",
        "wanted: text/word d",
    ]


def test_not_excludes_the_next_chunk_alone() -> None:
    assert clauses("NOT a b") == ["excluded: text/word a", "wanted: text/word b"]
    assert clauses("a OR b NOT c OR d")[:2] == [
        "required: text/word a | text/word b",
        "excluded: text/word c",
    ]


def test_clauses_have_the_places_of_their_signs_fields_and_quotes() -> None:
    text = ' NOT  "a b" -title:c* OR x OR  y'
    places = [text[c.start : c.end] for group in parse(text).groups for c in group.alternatives]
    assert places == ['NOT  "a b"', "-title:c*", "OR", "x", "y"]
    assert text[parse(text).groups[-1].start :] == "x OR  y"


def test_the_name_of_a_field_begins_its_chunk() -> None:
    assert clauses("in source:x") == ["wanted: text/word in", "required: source/word x"]
    assert not kinds("in source:x") and not kinds("in:source:x")


def test_the_field_of_the_sentence_cannot_be_typed() -> None:
    assert clauses("text:a") == [f"wanted: {TEXT}/word text:a"]
