from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.text.dates import normalise_date, parse_date_end, parse_date_start

DAY = 86_400_000


def milliseconds(*moment: int) -> int:
    return round(datetime(*moment, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("date", "start", "end"),
    [
        ("2017", (2017, 1, 1), (2018, 1, 1)),
        ("2017-02", (2017, 2, 1), (2017, 3, 1)),
        ("2016-02", (2016, 2, 1), (2016, 3, 1)),
        ("2017-12", (2017, 12, 1), (2018, 1, 1)),
        ("2017-02-07", (2017, 2, 7), (2017, 2, 8)),
        ("20170207", (2017, 2, 7), (2017, 2, 8)),
        ("2017-W06", (2017, 2, 6), (2017, 2, 13)),
        ("2017-W06-2", (2017, 2, 7), (2017, 2, 8)),
    ],
)
def test_a_date_without_time_goes_from_its_first_to_its_last_millisecond(date, start, end):
    assert parse_date_start(date) == milliseconds(*start)
    assert parse_date_end(date) == milliseconds(*end) - 1


@pytest.mark.parametrize(
    "date",
    [
        "2017-02-07T10:30",
        "2017-02-07 10:30:00",
        "2017-02-07T10:30:00Z",
        "2017-02-07t10:30:00z",
        "2017-02-07T11:30:00+01:00",
        "2017-02-07T05:00:00.000-05:30",
        "20170207T103000Z",
        "20170207T113000+0100",
    ],
)
def test_a_date_time_is_one_millisecond_and_in_utc_without_a_zone(date):
    assert parse_date_start(date) == parse_date_end(date) == milliseconds(2017, 2, 7, 10, 30)


def test_fractions_of_a_second_count_to_the_millisecond():
    assert parse_date_start("2017-02-07T10:30:00.1239") == milliseconds(2017, 2, 7, 10, 30) + 123


def test_the_first_and_the_last_year_are_valid():
    assert parse_date_start("0001-01-01") == milliseconds(1, 1, 1)
    assert parse_date_end("9999") == milliseconds(9999, 12, 31) + DAY - 1


def test_dates_before_1970_are_negative():
    assert parse_date_start("1969-12-31") == -DAY
    assert parse_date_start("1969-12-31T23:59:59.9995Z") == -1


@pytest.mark.parametrize(
    "date",
    [
        *(
            "",
            " ",
            "now",
            "yesterday",
            "7 February 2017",
            "07/02/2017",
            "02-07-2017",
            "2017/02/07",
            "2017-2-7",
        ),
        *("2017-02-30", "2017-13", "2017-00", "0000", "2017-02-07T25:00", "2017-02-07x10:00", "2017-02-07T"),
        *(
            " 2017",
            "2017-02-07\n",
            "2017-02-07T10:30+99:00",
            "２０１７",
            "-2017",
            "+2017",
            "20170",
            "9999-W53",
        ),
        "1e9",
    ],
)
def test_text_that_is_no_iso_date_is_rejected_and_quoted(date):
    for parse in (parse_date_start, parse_date_end):
        with pytest.raises(ValueError, match="is not an ISO 8601 date, like 2017-02-07") as error:
            parse(date)
        assert repr(date) in str(error.value)


@given(st.text())
def test_any_text_is_a_date_or_a_value_error(text):
    with suppress(ValueError):
        assert parse_date_start(text) <= parse_date_end(text)


@given(
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),
    st.integers(-14 * 60, 14 * 60),
)
def test_dates_that_python_writes_are_read_back(moment, minutes):
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    expected = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert parse_date_start(aware.isoformat()) == expected


@pytest.mark.parametrize(
    ("date", "normalised"),
    [
        ("          2016-12-30 7:11", "2016-12-30T07:11"),
        ("2016-12-30 17:11:05Z", "2016-12-30T17:11:05Z"),
        ("2016-12-30T17:11", "2016-12-30T17:11"),
        ("2016-12-30 ", "2016-12-30"),
        ("anything else", "anything else"),
    ],
)
def test_blanks_and_short_hours_of_archives_are_normalised(date, normalised):
    assert normalise_date(date) == normalised
