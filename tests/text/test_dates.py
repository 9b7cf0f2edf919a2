"""Dates: normalising and comparing them, and reading them as newspapers and mails write them."""

import time
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.following.timeline_chart import axis_date, written_date
from esr.text.dates import (
    date_key,
    is_iso_date,
    normalise_date,
    parse_date_end,
    parse_date_start,
    write_day,
)
from esr.text.written_dates import UnclearDate, read_date, to_iso_date
from webui.translations.formats import EnglishFormats


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        # RFC 2822, ctime, Twitter, JavaScript
        ("Tue, 05 Mar 2024 10:30:00 +0100", "2024-03-05T10:30:00+01:00"),
        ("Tue, 5 Mar 2024 10:30:00 GMT", "2024-03-05T10:30:00+00:00"),
        ("05 Mar 2024 10:30:00 EST", "2024-03-05T10:30:00-05:00"),
        ("Tue, 05 Mar 2024 10:30:00 +0100 (CET)", "2024-03-05T10:30:00+01:00"),
        ("Tue Mar  5 10:30:00 2024", "2024-03-05T10:30:00"),
        ("Tue Mar 05 10:30:00 +0000 2024", "2024-03-05T10:30:00+00:00"),
        ("Tue Mar 05 2024 10:30:00 GMT+0100 (Central European Standard Time)", "2024-03-05T10:30:00+01:00"),
        # names of months
        ("March 5, 2024", "2024-03-05"),
        ("5 March 2024", "2024-03-05"),
        ("Mar. 5th, 2024", "2024-03-05"),
        ("5th of March 2024", "2024-03-05"),
        ("Tuesday, March 5, 2024 5:03 PM", "2024-03-05T17:03:00"),
        ("March 5, 2024 at 12:30 am CET", "2024-03-05T00:30:00+01:00"),
        ("05-Mar-2024 10:30:00", "2024-03-05T10:30:00"),
        ("September 17, 1989, Sunday, Home Edition", "1989-09-17"),
        # the time of a zone that is not known is not
        ("5 March 2024 10:30 XYZ", "2024-03-05"),
        # the year first
        ("2024/03/05", "2024-03-05"),
        ("2024/3/5 9:30", "2024-03-05T09:30"),
        ("2024.03.05", "2024-03-05"),
        ("2024-03-05 10:30:00 +0100", "2024-03-05T10:30:00+01:00"),
        ("2024-03-05 10:30:00 UTC", "2024-03-05T10:30:00+00:00"),
        ("20240305103000", "2024-03-05T10:30:00"),
        ("20240305", "2024-03-05"),
        ("2024-03", "2024-03"),
        # the day first
        ("05.03.2024", "2024-03-05"),
        ("5. 3. 2024", "2024-03-05"),
        ("05.03.2024 10:30", "2024-03-05T10:30"),
        ("25/03/2024", "2024-03-25"),
        ("25-03-2024 10:30:00", "2024-03-25T10:30:00"),
        ("05/05/2024", "2024-05-05"),
        # the month first
        ("03/25/2024 5:03 PM", "2024-03-25T17:03:00"),
    ],
)
def test_usual_forms_are_read(written, iso):
    assert read_date(written) == (iso, None)


@pytest.mark.parametrize(
    ("written", "iso", "unit"),
    [
        ("1709596800", "2024-03-05T00:00:00Z", "seconds"),
        ("1709596800.5", "2024-03-05T00:00:00.500Z", "seconds"),
        ("999999999", "2001-09-09T01:46:39Z", "seconds"),
        ("1709596800123", "2024-03-05T00:00:00.123Z", "milliseconds"),
    ],
)
def test_seconds_and_milliseconds_since_1970_are_read_and_it_is_said(written, iso, unit):
    assert read_date(written) == (iso, f"as {unit} since 1970")


@pytest.mark.parametrize("written", ["05/03/2024", "5-3-2024", "05/03/2024, 10:30:15", "12/11/2024 5:03 PM"])
def test_an_ambiguous_order_is_refused_or_read_as_chosen(written):
    with pytest.raises(UnclearDate, match="is ambiguous: choose --day-first or --month-first"):
        read_date(written)
    day_first, month_first = read_date(written, True), read_date(written, False)
    assert (day_first.reading, month_first.reading) == ("with the day first", "with the month first")
    assert day_first.iso[5:7] == month_first.iso[8:10] and day_first.iso[8:10] == month_first.iso[5:7]


def test_a_date_that_contradicts_the_chosen_order_is_refused():
    for written, day_first in (("03/25/2024", True), ("25/03/2024", False)):
        with pytest.raises(UnclearDate, match=f"{written!r} does not have the"):
            read_date(written, day_first)
        assert read_date(written, not day_first) == ("2024-03-25", None)
    assert read_date("05.03.2024", False) == ("2024-03-05", None)


@pytest.mark.parametrize(
    "written",
    [
        *(
            "Monday",
            "May",
            "March 2024",
            "March 5",
            "5 2024",
            "12:30",
            "yesterday",
            "2 days ago",
            "today",
            "",
        ),
        *("05/03/24", "5-Mar-24", "March 5, 24", "3 5 2024", "5 3 2024"),
        *(
            "31 February 2024",
            "2024-13-05",
            "2024/13/05",
            "2024-02-30 10:30:00 UTC",
            "32.03.2024",
            "13/13/2024",
        ),
        *("202403051030", "12345678", "-1709596800", "1", "17095968001234567"),
    ],
)
def test_what_is_not_a_complete_date_is_none(written):
    assert read_date(written) is None


PIECES = "May 2024 5 GMT +0100 10:30 T , - / am + ( ) of 31 13 h Z"


@given(
    st.text(max_size=30)
    | st.from_regex(r"(Mon, )?\d{1,4}[/. -](Jan|dec|5|may)[/. ,-]{1,2}\d{2,4}( \d\d:\d\d)?( [+-]?\w{1,5})?")
    | st.lists(st.sampled_from(PIECES.split()), max_size=8).map(" ".join),
    st.none() | st.booleans(),
)
def test_any_result_is_a_valid_date(text, day_first):
    try:
        written = read_date(text, day_first)
    except UnclearDate as error:
        assert str(error).isprintable()
    else:
        assert written is None or isinstance(parse_date_start(written.iso), int)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("January 7, 1999", "1999-01-07"),
        ("September 17, 1989, Sunday, Home Edition", "1989-09-17"),
        ("Thursday 7 February 2017", "2017-02-07"),
        ("Sept. 3, 2001", "2001-09-03"),
        ("26-FEB-1987 15:01:01.79", "1987-02-26"),
        (" 1999-01-01 00:10:27 ", "1999-01-01T00:10:27"),
        ("1999-01-01", "1999-01-01"),
        ("19990101", "1999-01-01"),
        ("19990101T001027", "1999-01-01T00:10:27"),
        ("19990101T0010Z", "1999-01-01T00:10Z"),
        ("19990101T001027+0100", "1999-01-01T00:10:27+01:00"),
        ("1999-01-01T00:10:27-0500", "1999-01-01T00:10:27-05:00"),
        ("1999-W01", "1999-W01"),
        ("2 DÉCEMBRE 2020", "2020-12-02"),
        ("2 de\u0301cembre 2020", "2020-12-02"),
    ],
)
def test_unambiguous_dates_become_iso_8601(written, expected):
    assert to_iso_date(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        *("02/03/1999", "870402", "February 30, 1999", "Monday", "", "May 1999 7"),
        *("3 JANV\u0130ER 2012", "3 janv\u0131er 2012", "3 \u017feptembre 2012"),
    ],
)
def test_ambiguous_and_invalid_dates_give_none(written):
    assert to_iso_date(written) is None


@given(st.text() | st.from_regex(r"\w{0,5}(Jan|dec|may)[a-z]?\.? ?\d{1,3},? \d{3,5}"))
def test_any_result_is_a_valid_date_of_newspaper_dates(text):
    date = to_iso_date(text)
    assert date is None or isinstance(parse_date_start(date), int)


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
        # In UTC these are in the years 0 and 10000.
        *("0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"),
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


@pytest.mark.parametrize(
    ("text", "is_iso"), [("2017", True), ("2017-02-30", False), ("soon", False), ("2017-02-07T10:30", True)]
)
def test_a_date_of_a_document_is_one_of_the_calendar(text: str, is_iso: bool) -> None:
    assert is_iso_date(text) is is_iso


def test_dates_are_sorted_by_their_first_moment_and_what_is_none_comes_last() -> None:
    texts = ["soon", "2017-03", "1969", "2017-02-28T23:59:00-05:00", None]
    assert sorted(texts, key=date_key) == ["1969", "2017-03", "2017-02-28T23:59:00-05:00", "soon", None]


def test_months_are_english_also_in_a_program_that_has_set_a_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda form, moment: "März")  # what dates ask
    day, formats = date(2024, 3, 4), EnglishFormats()
    assert (write_day("2024-03-04"), written_date("2024-03")) == ("4 March 2024", "March 2024")
    assert (axis_date("2024-03-04"), axis_date("2024-03")) == ("4 Mar 2024", "Mar 2024")
    assert [written_date("2024-03-04"), formats.day(day)] == ["4 March 2024"] * 2
    assert [formats.day_month(day), formats.month(day)] == ["4 March", "March 2024"]
    assert [formats.short_day(day), formats.short_day(day, False)] == ["4 Mar 2024", "4 Mar"]
    assert [formats.short_month(day), formats.weekday(day)] == ["Mar 2024", "Monday"]
