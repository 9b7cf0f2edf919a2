import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.documents.dates import parse_date_start
from esr.documents.newspaper_dates import to_iso_date


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
    ],
)
def test_unambiguous_dates_become_iso_8601(written, expected):
    assert to_iso_date(written) == expected


@pytest.mark.parametrize("written", ["02/03/1999", "870402", "February 30, 1999", "Monday", "", "May 1999 7"])
def test_ambiguous_and_invalid_dates_give_none(written):
    assert to_iso_date(written) is None


@given(st.text() | st.from_regex(r"\w{0,5}(Jan|dec|may)[a-z]?\.? ?\d{1,3},? \d{3,5}"))
def test_any_result_is_a_valid_date(text):
    date = to_iso_date(text)
    assert date is None or isinstance(parse_date_start(date), int)
