"""What queries ask of an index: terms, a condition, and who decides on the candidates."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis.strategies import booleans
from msgspec import structs

from esr.plans.condition import (
    AllOf,
    AnyOf,
    Condition,
    DateRange,
    HasEntity,
    HasLanguage,
    HasPrefix,
    HasSource,
    HasTerm,
    HasWords,
    Not,
)
from esr.query import literal, parse
from esr.query.interpretation import Interpretation, interpret, read_groups
from esr.text.analyzer import get_analyzer
from tests.support.query_texts import query_texts

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
        ("well-kno*", AllOf((HasWords(("well",)), HasPrefix("kno")))),
        ("-trump", Not(HasTerm("trump"))),
        ('-"White House"', Not(WHITE_HOUSE)),
        ("flood OR storms", AnyOf((HasTerm("flood"), HasTerm("storm")))),
        ("title:elections", HasWords(("elections",), "title")),
        ("title:elect*", HasPrefix("elect", "title")),
        ("source:BBC", HasSource(("BBC",))),
        ("language:PT_br", HasLanguage("pt-br")),
        ('person:"Theresa May"', HasEntity(("person:Theresa May",))),
        ("place:Paris", HasEntity(("location:Paris",))),
        ("name:Paris", HasEntity(("Paris",))),
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
