"""An alert has all that decides which sentences a search finds, whatever table it comes from."""

from __future__ import annotations

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


def test_an_alert_of_an_older_esr_has_the_scores_that_it_had() -> None:
    stored = {"q": ["storm"], "least_score": ["-5"]}
    assert read_conditions(read_arguments(stored, 1)).with_furniture
    assert not read_conditions(read_arguments(stored)).with_furniture
