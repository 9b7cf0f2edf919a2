"""An alert has all that decides which sentences a search finds, whatever table it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from esr.alerts.alert_conditions import SEARCH, read_arguments, read_conditions, write_arguments
from esr.arguments.tables.alerts import CONDITIONS
from esr.arguments.tables.table import PAGE, rows
from esr.errors import InputError, UsageError
from tests.support.argument_values import example_value

GIVEN = {"q": ["storm OR flood"], "like": ["A storm came."], "least_score": ["-5"]}


@pytest.mark.parametrize("name", SEARCH)
def test_an_alert_keeps_what_decides_which_sentences_a_search_finds(name: str) -> None:
    table = read_arguments({**GIVEN, name: [example_value(SEARCH[name].type)]})
    stored = read_arguments(write_arguments(table))
    conditions = read_conditions(stored)
    assert conditions == read_conditions(table)
    assert conditions != read_conditions(read_arguments(GIVEN)), "it makes a difference"


def test_commands_and_the_api_take_all_that_decides_which_sentences_a_search_finds() -> None:
    assert set(SEARCH) <= {row.name for row in CONDITIONS}
    assert set(SEARCH) <= set(rows("alert_preview"))


def test_each_argument_of_a_page_is_a_condition_or_ranks_or_arranges() -> None:
    others = {name for name, row in PAGE.items() if row.group not in ("ranking", "arrangement")}
    assert others - set(SEARCH) == {"q", "index"}


def test_a_ranking_by_arguments_is_refused_where_a_score_counts() -> None:
    assert read_arguments({"q": ["storm"], "model": ["bm25"]}) == {"query": "storm"}
    for name in ("model", "params.mu", "feature"):
        with pytest.raises(UsageError, match=name):
            read_arguments({**GIVEN, name: ["1"]})


def test_languages_are_those_of_similar_sentences() -> None:
    with pytest.raises(InputError, match="languages needs like"):
        read_conditions({"query": "storm", "languages": "de"})
    assert read_conditions({"like": ["A storm came."], "languages": "de,ar"}).languages == ("de", "ar")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"like": ["x"] * 21}, "at most 20 are allowed"),
        ({"like": ["x", " "]}, "a sentence or a list of sentences"),
        ({"like": ["x"], "similarity": 1.01}, "from -1 to 1"),
        ({"like": ["x"], "similarity": -1.01}, "from -1 to 1"),
        ({"query": "storm", "least_score": True}, "least_score is a number"),
        ({"query": "storm", "least_score": "high"}, "least_score is a number"),
        ({"query": "storm", "require": "some"}, "require is all"),
        ({"query": "storm", "unusual": "yes"}, "unusual must be true or false"),
        ({"query": "storm", "unusual": True, "like": ["x"]}, "give no least_score and no like"),
        ({"like": ["x"], "least_score": 2}, "least_score needs a query"),
    ],
)
def test_a_condition_that_cannot_be_met_is_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_conditions(table)


def test_conditions_have_limits_and_a_usual_similarity() -> None:
    assert read_conditions({"like": "x"}).similarity == 0.6
    for similarity in (-1, 0, 1):
        assert read_conditions({"like": ["x"] * 20, "similarity": similarity}).similarity == similarity
    assert read_conditions({"query": "storm", "require": "all", "least_score": 0}).least_score == 0.0


def test_an_alert_of_an_older_esr_has_the_scores_that_it_had() -> None:
    stored = {"q": ["storm"], "least_score": ["-5"]}
    assert read_conditions(read_arguments(stored, 1)).with_furniture
    assert not read_conditions(read_arguments(stored)).with_furniture
