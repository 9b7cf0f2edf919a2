from __future__ import annotations

import pytest

from esr.engines.values import Value, ValueTable

TABLE = ValueTable([("bbc", 2), ("BBC", 5), ("The Guardian", 9), ("guardian.co.uk", 1), ("Wire", 7)])
BBC = Value("BBC", 7, ("BBC", "bbc"))


@pytest.mark.parametrize("text", ["bbc", "BBC", "Bbc", " bbc "])
def test_a_source_is_found_in_any_case_under_the_form_of_most_documents(text: str) -> None:
    assert TABLE.find(text) == BBC
    assert TABLE.form(text) == "BBC"


def test_another_source_is_not_found() -> None:
    assert TABLE.find("bbc.co.uk") is None and TABLE.form("bbc.co.uk") == "bbc.co.uk"


def test_of_forms_that_are_as_frequent_the_first_is_shown() -> None:
    assert ValueTable([("wire", 1), ("Wire", 1)]).form("WIRE") == "Wire"


def test_sources_are_listed_by_the_beginning_of_a_word() -> None:
    assert [source.form for source in TABLE.with_prefix("GUA", 9)] == ["The Guardian", "guardian.co.uk"]
    assert [source.form for source in TABLE.with_prefix("", 3)] == ["The Guardian", "BBC", "Wire"]
    assert TABLE.with_prefix("uardian", 9) == []


def test_the_nearest_source_is_offered_if_one_is_near() -> None:
    assert TABLE.nearest("bcb") == BBC
    assert TABLE.nearest("The Gardian") == TABLE.find("The Guardian")
    assert TABLE.nearest("qqqqq") is None


def test_a_table_tells_whether_a_source_has_several_forms() -> None:
    assert TABLE.has_variants
    assert not ValueTable([("a", 1), ("b", 2)]).has_variants
