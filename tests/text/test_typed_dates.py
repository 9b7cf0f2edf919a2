"""Dates as readers type them."""

from __future__ import annotations

from datetime import date

import pytest

from esr.errors import UsageError
from esr.index.filters import Filters
from esr.text.dates import DAY, parse_date_start
from esr.text.written_dates import find_typed_date, parse_typed_date


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("22 March 2017", "2017-03-22"),
        ("March 22, 2017", "2017-03-22"),
        ("the 2nd of Sept. 2016", "2016-09-02"),
        ("22. März 2017", "2017-03-22"),
        ("22.3.2017", "2017-03-22"),
        ("March 2017", "2017-03"),
        ("yesterday", "2024-02-29"),
        ("31 February 2017", None),
        ("May", None),
        ("soon", None),
    ],
)
def test_a_date_is_understood_as_people_write_it(text: str, iso: str | None) -> None:
    assert parse_typed_date(text, date(2024, 3, 1)) == iso


def test_a_date_is_found_among_words() -> None:
    text = "what May said on 22 March 2017 about Brexit"
    found = find_typed_date(text)
    assert found and found.iso == "2017-03-22"
    assert text[: found.start] + text[found.end :] == "what May said  about Brexit"
    assert find_typed_date("Theresa May 50 articles") is None


def test_filters_take_such_dates() -> None:
    filters = Filters(date_from="22 March 2017", date_to="March 2017")
    assert (filters.date_from, filters.date_to) == (
        parse_date_start("2017-03-22"),
        parse_date_start("2017-04") - 1,
    )
    assert filters.date_from is not None and filters.date_from % DAY == 0
    with pytest.raises(UsageError, match="is a date such as"):
        Filters(date_from="32 March 2017")
