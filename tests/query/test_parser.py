"""What each piece of syntax says, and what holds for every text."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from esr.query import FIELDS, TEXT, NoteKind, ParsedQuery, literal, parse
from esr.query.chunks import SIGNS, write_value
from esr.query.parser import parse_syntax
from esr.query.query import (
    MESSAGES,
    OPERATORS,
    Conjunction,
    Disjunction,
    Expression,
    Negation,
    clauses_of,
    disarm,
)
from esr.query.quote_marks import CLOSING_MARKS
from tests.support.runs import examples, rounds
from tests.support.texts import Shape, query_texts, random_query_text, shape_of, spoilt_texts


def clauses(text: str) -> list[str]:
    """The groups of a query in short: role, field and form where they are not the usual ones."""
    return [
        f"{role}: " + (expression or " | ".join(f"{field}/{form} {value}" for field, form, value in clauses))
        for role, clauses, expression in shape_of(parse(text))
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
        ('speaker~:"Theresa May"', "required: speaker~/phrase Theresa May"),
        ('speaker~"Theresa May"', "required: speaker~/phrase Theresa May"),
        ("Speaker~May", "required: speaker~/word May"),
        ("title:word", "required: title/word word"),
        ('-title:"a b"', "excluded: title/phrase a b"),
        ("title:climat*", "required: title/prefix climat"),
        ('name:"M*A*S*H"', "required: name/phrase M*A*S*H"),
        ("before:2017-03", "required: before/word 2017-03"),
        ("after:7d", "required: after/word 7d"),
        ("before:10Y", "required: before/word 10Y"),
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


def test_a_pair_of_parentheses_with_a_sign_in_it_groups() -> None:
    (group,) = parse("(a -b)").groups
    assert (group.start, group.end) == (0, 6) and isinstance(group.expression, Conjunction)
    assert [group.expression for group in parse("(a b)").groups] == [None, None]


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


# What is no syntax is words, and a note says so where it looks like syntax.


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
        ("-(a", K.SIGN, "-(a"),
        ("--(a)", K.SEVERAL_SIGNS, "--(a)"),
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
        ("NOT (a", K.NOT, "NOT"),
        ("NOT &", K.NOT, "NOT"),
        ("AND a", K.AND, "AND"),
        ("a AND", K.AND, "AND"),
        ("(AND) a", K.PARENTHESIS, "("),
        ("a (b OR) c", K.PARENTHESIS, "("),
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
        ("a OR (NOT b)", K.OR, ["OR"]),
        ("a OR NOT (b)", K.OR, ["OR"]),
        ("a AND AND b", K.AND, ["AND", "AND"]),
        ("a AND & b", K.AND, ["AND"]),
        ("a AND before:yesterday", K.AND, ["AND"]),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a AND b", "required: Conjunction(a, b)"),
        ("a AND b OR c", "required: Disjunction(Conjunction(a, b), c)"),
        ("a OR b AND c", "required: Disjunction(a, Conjunction(b, c))"),
        ("(a OR b) AND c", "required: Conjunction(Disjunction(a, b), c)"),
        ("a AND NOT b", "required: Conjunction(a, not b)"),
        ("a AND -b OR c", "required: Disjunction(Conjunction(a, not b), c)"),
        ("(a b) OR c", "required: Disjunction(Conjunction(a, b), c)"),
        ("a OR (b OR c)", "required: text/word a | text/word b | text/word c"),
        ("((a) OR (b))", "required: text/word a | text/word b"),
        ("(a OR b)", "required: text/word a | text/word b"),
        ('("a b" c)', "required: Conjunction(a b, c)"),
        ("+(a b)", "required: Conjunction(a, b)"),
        ("+(a)", "required: text/word a"),
        ("-(a)", "excluded: text/word a"),
        ("-(a b)", "excluded: Conjunction(a, b)"),
        ("NOT (a OR b)", "excluded: text/word a | text/word b"),
        ("-a AND -b", "excluded: text/word a | text/word b"),
        ("NOT (a AND NOT b)", "excluded: Conjunction(a, not b)"),
        ("NOT (NOT a)", "required: text/word a"),
        ("(source:x OR source:y)", "required: source/word x | source/word y"),
        ("(a:b AND f(x))", "required: Conjunction(a:b, f(x))"),
    ],
)
def test_operators_and_parentheses_make_one_group(text: str, expected: str) -> None:
    query = parse(text)
    assert clauses(text) == [expected]
    assert (query.groups[0].start, query.groups[0].end) == (0, len(text)) and not query.notes


def expressions() -> st.SearchStrategy[str]:
    """What operators and parentheses make of the words a, b and c, with at least one operator."""

    def extend(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pairs = st.tuples(parts, st.sampled_from([" AND ", " OR ", " AND NOT "]), parts).map("".join)
        return pairs | pairs.map("({})".format) | parts.map("NOT ({})".format)

    return st.recursive(st.sampled_from("abc"), extend, max_leaves=8).filter(lambda text: len(text) > 1)


@settings(max_examples=examples(100))
@given(expressions())
def test_expressions_mean_what_they_do_in_python(text: str) -> None:
    """Python gives its operators the same precedence. OR with a side that only excludes is none here."""
    query = parse(text)
    assume(not query.notes)
    (group,) = query.groups
    for bits in product((False, True), repeat=3):
        holds = dict(zip("abc", bits, strict=True))
        lower = re.sub("AND|OR|NOT", lambda operator: operator[0].lower(), text)
        found = evaluate(group.expression or Disjunction(group.alternatives), holds)
        assert found == (bool(eval(lower, {}, holds)) != (group.role == "excluded"))


def evaluate(expression: Expression, holds: Mapping[str, bool]) -> bool:
    match expression:
        case Conjunction(parts):
            return all(evaluate(part, holds) for part in parts)
        case Disjunction(parts):
            return any(evaluate(part, holds) for part in parts)
        case Negation(part):
            return not evaluate(part, holds)
        case clause:
            return holds[clause.text]


def test_and_binds_its_neighbours_alone() -> None:
    assert clauses("a b AND c d") == [
        "wanted: text/word a",
        "required: Conjunction(b, c)",
        "wanted: text/word d",
    ]


@pytest.mark.parametrize("text", ["(R) said", "a (b) c", "(-5) degrees", ":) a OR b", "f(x) OR g(y)"])
def test_parentheses_around_words_group_for_operators_alone(text: str) -> None:
    query = parse(text)
    assert not query.notes and not any(group.expression for group in query.groups)
    words = [clause.text for group in query.groups for clause in group.clauses]
    assert words == [word for word in text.split() if word != "OR"]


@pytest.mark.parametrize(("text", "place"), [("a OR (b c", "(b"), ("b) OR a", "b)")])
def test_half_a_pair_of_parentheses_beside_an_operator_gets_a_note(text: str, place: str) -> None:
    notes = [note for note in parse(text).notes if note.kind is K.PARENTHESIS]
    assert [text[note.start : note.end] for note in notes] == [place]


def test_parentheses_stand_ten_deep_in_one_another() -> None:
    assert clauses("(" * 10 + "a OR b" + ")" * 10) == ["required: text/word a | text/word b"]
    assert parse("(" * 11 + "a OR b" + ")" * 11).is_plain
    parse("(" * 5000 + "a OR b" + ")" * 5000)


def test_a_word_beside_an_or_that_is_read_as_a_word_stays_wanted() -> None:
    assert clauses("NOT source:X OR a")[-1] == "wanted: text/word a"


def test_a_misspelt_field_may_have_two_letters_more_than_the_longest() -> None:
    assert [note.kind for note in parse("organizationxy:UN").notes] == [NoteKind.MISSPELT_FIELD]
    assert not parse("organizationxyz:UN").notes


def test_a_note_says_what_to_do() -> None:
    messages = [note.message for note in parse("sorce:bbc before:soon place: -title:-x").notes]
    assert messages == [
        "There is no field sorce: did you mean source:?",
        "This is read as words: before: takes a date such as 2017, 2017-03 or 2017-03-15, or a time "
        "such as 7d, 2w, 3m or 1y.",
        "This is read as a word: put a value directly after the colon, as in place:Paris.",
        "This is read as words: put the sign before the field, as in -title:election.",
    ]


def test_each_kind_of_note_has_a_message() -> None:
    assert set(MESSAGES) == set(NoteKind)


def test_notes_are_in_the_order_of_the_text() -> None:
    notes = parse('OR "a NOT - ** source: x OR').notes
    assert [note.start for note in notes] == sorted(note.start for note in notes)
    assert len(notes) == 7


# docs/query-language.md says what the parser does.


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
    assert len(rows) == 14
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
    assert seen == set(NoteKind) - {NoteKind.UNKNOWN_FIELD}


def test_the_long_example_needs_no_note() -> None:
    (example,) = re.findall(r"^    (brexit .*)$", PAGE, re.M)
    query = parse(example)
    assert not query.notes
    assert [group.role for group in query.groups] == ["wanted", "required", "excluded", *["required"] * 3]


def test_the_ordinary_words_of_the_page_are_words() -> None:
    (example,) = re.findall(r"^    (C\+\+ .*)$", PAGE, re.M)
    assert parse(example).is_plain and not parse(example).notes


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


@pytest.mark.parametrize(
    ("value", "written"),
    [("Wire", "Wire"), ("The Wire", '"The Wire"'), ('The "Wire"', '“The "Wire"”'), ('"“„«»', None)],
)
def test_a_value_of_a_field_is_written_so_that_it_is_read_as_it_is(value: str, written: str | None) -> None:
    assert write_value("source:", value) == written
