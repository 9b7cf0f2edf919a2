"""Periods: the years, quarters, months or weeks by which an index may be divided."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from esr.errors import UsageError
from esr.text.dates import parse_date_start
from esr.text.document import Document
from esr.text.periods import (
    PERIODS,
    UNDATED,
    check_division,
    may_hold,
    period_of,
    period_of_document,
    period_range,
)

DAYS = st.dates().map(str)


@pytest.mark.parametrize(
    ("date", "names"),
    [
        ("2017-03-07T10:30:00Z", ("2017", "2017-Q1", "2017-03", "2017-W10")),
        ("2017-04-01T00:30:00+02:00", ("2017", "2017-Q1", "2017-03", "2017-W13")),
        ("2016-12-31", ("2016", "2016-Q4", "2016-12", "2016-W52")),
        ("2017-01-01", ("2017", "2017-Q1", "2017-01", "2016-W52")),
        ("2019-12-30", ("2019", "2019-Q4", "2019-12", "2020-W01")),
        ("2017", ("2017", "2017-Q1", "2017-01", "2016-W52")),
        ("0001-01-01", ("0001", "0001-Q1", "0001-01", "0001-W01")),
        ("9999-12-31", ("9999", "9999-Q4", "9999-12", "9999-W52")),
    ],
)
def test_a_document_belongs_to_the_period_of_its_first_moment_in_utc(
    date: str, names: tuple[str, ...]
) -> None:
    document = Document("a", (), date=date)
    assert tuple(period_of_document(document, by) for by in PERIODS) == names


def test_documents_without_a_date_have_a_period_of_their_own() -> None:
    for by in PERIODS:
        assert period_of_document(Document("a", ()), by) == UNDATED
    assert period_range(UNDATED) is None


@given(day=DAYS, by=st.sampled_from([*PERIODS]))
@example(day="9999-12-31", by="week")  # where people write a date that is never reached
def test_a_period_begins_with_its_first_millisecond_and_ends_before_that_of_the_next(
    day: str, by: str
) -> None:
    moment = parse_date_start(day)
    period = period_of(moment, by)
    limits = period_range(period)
    assert limits is not None
    start, end = limits
    assert start <= moment <= end
    assert period_of(max(start, parse_date_start("0001-01-01")), by) == period
    assert period_of(min(end, parse_date_start("9999-12-31")), by) == period
    if start > parse_date_start("0001-01-01"):
        assert period_of(start - 1, by) != period


@given(days=st.lists(DAYS, max_size=20), by=st.sampled_from([*PERIODS]))
def test_names_sort_by_time_and_the_undated_last(days: list[str], by: str) -> None:
    moments: list[int | None] = [*sorted(map(parse_date_start, days)), None]
    names = [period_of(moment, by) for moment in moments]
    assert names == sorted(names)


@given(day=DAYS, start=st.none() | DAYS, end=st.none() | DAYS, by=st.sampled_from([*PERIODS]))
def test_a_period_that_holds_no_wanted_moment_has_no_wanted_document(
    day: str, start: str | None, end: str | None, by: str
) -> None:
    moment = parse_date_start(day)
    first, last = (None if text is None else parse_date_start(text) for text in (start, end))
    is_wanted = (first is None or first <= moment) and (last is None or moment <= last)
    assert may_hold(period_of(moment, by), first, last) or not is_wanted


def test_a_period_is_left_out_if_all_of_it_lies_outside() -> None:
    march = parse_date_start("2017-03-01"), parse_date_start("2017-04-01") - 1
    assert not may_hold("2017-03", march[1] + 1, None)
    assert not may_hold("2017-03", None, march[0] - 1)
    assert may_hold("2017-03", march[1], None)
    assert may_hold("2017-03", None, march[0])
    assert may_hold(UNDATED, None, None)
    assert not may_hold(UNDATED, march[0], None)


def test_an_index_is_divided_only_by_known_periods() -> None:
    with pytest.raises(UsageError, match="fortnight"):
        check_division("fortnight")
