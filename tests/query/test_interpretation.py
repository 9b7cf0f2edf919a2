"""What queries ask of an index: terms, a condition, and who decides on the candidates."""

from __future__ import annotations

from datetime import date
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis.strategies import booleans
from msgspec import structs

from esr.errors import UsageError
from esr.plans.plan import (
    AllOf,
    AnyOf,
    Condition,
    DateRange,
    HasAttribute,
    HasEntity,
    HasLanguage,
    HasPrefix,
    HasQuote,
    HasSource,
    HasTerm,
    HasWords,
    Not,
    SaidBy,
)
from esr.query import FIELDS, Field, ValueKind, date_start, find_field, literal, parse
from esr.query.interpretation import Interpretation, are_shouted, interpret, read_groups
from esr.query.query import (
    EXPECTED,
    across_languages,
    has_relative_dates,
    in_language,
    read_languages,
    resolve_dates,
)
from esr.text.analyzer import get_analyzer
from tests.support.texts import query_texts, shape_of

ANALYZER = get_analyzer("english-stem")
WHITE_HOUSE = HasWords(("white", "house"))


def read(text: str, require_all: bool = False) -> Interpretation:
    return interpret(parse(text), ANALYZER, require_all)


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ('"White  House!"', WHITE_HOUSE),
        ("“Beyoncé’s”", HasWords(("beyonce", "s"))),
        ("+elections", HasTerm("elect")),
        ("+well-known", HasWords(("well", "known"))),
        ("+the", HasWords(("the",))),
        ("climat*", HasPrefix("climat")),
        ("well-know*", AllOf((HasWords(("well",)), HasPrefix("know")))),
        ("-trump", Not(HasTerm("trump"))),
        ('-"White House"', Not(WHITE_HOUSE)),
        ("flood OR storms", AnyOf((HasTerm("flood"), HasTerm("storm")))),
        ("title:elections", HasWords(("elections",), "title")),
        ("title:elect*", HasPrefix("elect", "title")),
        ("source:BBC", HasSource(("BBC",))),
        ("language:PT_br", HasLanguage("pt-br")),
        ("language:deu", AnyOf((HasLanguage("deu"), HasLanguage("de")))),
        ('person:"Theresa May"', HasEntity(("person:Theresa May",))),
        ("place:Paris", HasEntity(("location:Paris",))),
        ("name:Paris", HasEntity(("Paris",))),
        ("is:quote", HasQuote()),
        ("speaker:May", SaidBy(("May",))),
        ("speaker~:May", SaidBy(("May",), probable=True)),
        ("meta.desk:Sports", HasAttribute(("meta.desk",), ("Sports",))),
        ("before:1970-01-02", DateRange(None, 86_400_000 - 1)),
        ("after:1970-01-02", DateRange(86_400_000, None)),
    ],
)
def test_a_clause_is_a_condition(query: str, condition: Condition) -> None:
    assert read(f"tide {query}").condition == condition


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ('"White House" -trump', AllOf((WHITE_HOUSE, Not(HasTerm("trump"))))),
        ("source:a source:b", AnyOf((HasSource(("a",)), HasSource(("b",))))),
        ("name:a name:b", AllOf((HasEntity(("a",)), HasEntity(("b",))))),
        ("source:a +storm", AllOf((HasTerm("storm"), HasSource(("a",))))),
        ("source:a OR storm", AnyOf((HasSource(("a",)), HasTerm("storm")))),
        ("+storm +storms", HasTerm("storm")),
    ],
)
def test_several_clauses_hold_together(query: str, condition: Condition) -> None:
    assert read(query).condition == condition


def test_plain_words_are_ranked_and_require_nothing() -> None:
    plain = read("Storms and the storm of C++")
    assert (plain.counts, plain.condition, plain.decides_candidates) == ({"storm": 2, "c": 1}, None, False)


def test_what_is_required_of_the_text_is_ranked_too() -> None:
    assert read('"storm tide" +flood rain OR snow title:wind -hail').counts == {
        "storm": 1, "tide": 1, "flood": 1, "rain": 1, "snow": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "decides"),
    [
        ("storm -tide", False),
        ("storm source:bbc", False),
        ("source:bbc", True),
        ('storm "tide"', True),
        ("storm +tide", True),
        ("storm tid*", True),
        ("title:storm before:2017", True),
    ],
)
def test_what_the_text_must_have_decides_on_candidates_and_so_do_fields_alone(
    query: str, decides: bool
) -> None:
    assert read(query).decides_candidates == decides


def test_all_words_can_be_required() -> None:
    every = read("the storms -tide", require_all=True)
    assert every.condition == AllOf((HasTerm("storm"), Not(HasTerm("tide"))))
    assert every.decides_candidates


def test_the_languages_of_sentences_are_codes_or_all_and_none_is_that_of_the_query() -> None:
    assert read_languages(" de, ar,de ") == ("de", "ar")
    assert read_languages(["pt-BR"]) == ("pt-BR",)
    for value in ("de,", "", "a b", [3]):
        with pytest.raises(UsageError, match="languages are codes"):
            read_languages(value)  # type: ignore[arg-type]
    query = parse("storm")
    assert across_languages(query, ()) is query
    assert across_languages(query, ("de",)).languages == ("de",)
    assert in_language(query, None) is query and in_language(query, "de").language == "de"
    with pytest.raises(UsageError, match="is a code"):
        in_language(query, "a b")


STORM, TIDE, FLOOD = (HasTerm(term) for term in ("storm", "tide", "flood"))


@pytest.mark.parametrize(
    ("query", "matching", "all_words"),
    [
        ("the", None, None),
        ("storm tide", AnyOf((STORM, TIDE)), AllOf((STORM, TIDE))),
        ("storm -tide", AllOf((STORM, Not(TIDE))), AllOf((STORM, Not(TIDE)))),
        ("storm tide -flood", AllOf((AnyOf((STORM, TIDE)), Not(FLOOD))), AllOf((STORM, TIDE, Not(FLOOD)))),
        ("storm +tide", TIDE, AllOf((STORM, TIDE))),
        ("source:bbc", HasSource(("bbc",)), HasSource(("bbc",))),
    ],
)
def test_a_sentence_matches_with_a_word_of_the_query_and_may_have_to_have_all(
    query: str, matching: Condition | None, all_words: Condition | None
) -> None:
    """Unless conditions decide on the candidates: then a sentence that satisfies them matches."""
    assert (read(query).matching, read(query).all_words) == (matching, all_words)


def test_capitals_mean_nothing_in_a_query_of_capitals_and_where_the_analyzer_has_none() -> None:
    assert are_shouted(["WHO IS", "TRUMP"], ANALYZER)
    assert not are_shouted(["WHO is", "TRUMP"], ANALYZER)
    assert not are_shouted(["WHO"], ANALYZER), "nothing else would be searched for"
    assert not are_shouted(["WHO IS TRUMP"], get_analyzer("plain"))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("after:1d", "2017-03-30"),
        ("after:2w", "2017-03-17"),
        ("before:1m", "2017-02-28"),
        ("before:10Y", "2007-03-31"),
        ("before:9999y", "0001-01-01"),
        ("before:2016", "2016"),
    ],
)
def test_a_relative_date_is_a_day_before_the_last_one(text: str, day: str) -> None:
    for query in (text, f"storm -({text} AND tide)", f"storm OR ({text} OR tide)"):
        parsed = parse(query)
        assert has_relative_dates(parsed) == (day != "2016")
        resolved = resolve_dates(parsed, date(2017, 3, 31))
        clauses = [clause for group in resolved.groups for clause in group.clauses]
        assert [clause.text for clause in clauses if clause.field in ("after", "before")] == [day]
        assert resolved.text == query and not has_relative_dates(resolved)


def test_prefixes_are_left_for_the_ranking_to_expand() -> None:
    assert read("Clim* -hail* title:wind* Ärz*").prefixes == ("clim", "arz")


def test_a_text_is_as_in_normal_form_c() -> None:
    assert read('"Beyonce\u0301"').condition == HasWords(("beyonce",))
    assert read("Beyonce\u0301").counts == {"beyonc": 1}


def test_groups_are_told_with_how_they_are_read() -> None:
    parsed = parse('the storm "tide gauge" -rain ""')
    assert [(each.label, each.reading) for each in read_groups(parsed, ANALYZER)] == [
        ("the", "ignored"),
        ("storm", "wanted"),
        ("“tide gauge”", "required"),
        ("rain", "excluded"),
        ('""', "ignored"),
    ]


@pytest.mark.parametrize(
    ("query", "label", "expression"),
    [
        ("storm", "storm", None),
        (
            "(b OR c) AND NOT (d AND e)",
            "(b or c) and not (d and e)",
            ["and", ["or", 0, 1], ["not", ["and", 2, 3]]],
        ),
        ("(b AND c) OR (d AND e)", "(b and c) or (d and e)", ["or", ["and", 0, 1], ["and", 2, 3]]),
        ('title:"a b" OR climat*', "title: “a b” or climat*", None),
    ],
)
def test_a_group_is_told_as_text_and_as_data(query: str, label: str, expression: object) -> None:
    (group,) = read_groups(parse(query), ANALYZER)
    data = group.as_dict()
    assert (group.label, data["expression"]) == (label, expression)
    assert (data["start"], data["end"]) == (0, len(query))
    assert len(data["clauses"]) == len(group.group.clauses)


def test_an_emoji_is_searched_for() -> None:
    readings = [each.reading for each in read_groups(parse("🎉 storm … the"), ANALYZER)]
    assert readings == ["wanted", "wanted", "ignored", "ignored"]


def test_required_words_are_told_as_such() -> None:
    readings = [each.reading for each in read_groups(parse("the storm"), ANALYZER, require_all=True)]
    assert readings == ["ignored", "required"]


@given(query_texts())
def test_any_query_can_be_interpreted(text: str) -> None:
    interpretation = interpret(parse(text), ANALYZER)
    assert all(count > 0 for count in interpretation.counts.values())
    list(read_groups(interpretation.parsed, ANALYZER))


@given(query_texts())
def test_a_literal_query_has_the_terms_of_its_text(text: str) -> None:
    counts = interpret(literal(text), ANALYZER).counts
    assert sum(counts.values()) == len(ANALYZER.terms(normalize("NFC", text)))


@given(query_texts(), booleans())
def test_a_string_is_interpreted_as_the_literal_query(text: str, require_all: bool) -> None:
    of_string = interpret(text, ANALYZER, require_all)
    of_query = interpret(literal(text), ANALYZER, require_all)
    assert of_string.parsed == of_query.parsed
    assert of_string.ranked_text == of_query.ranked_text
    assert structs.replace(of_string, query=of_query.query) == of_query


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
