"""Dates as newspapers and agencies write them, converted to ISO 8601 where they are unambiguous."""

from __future__ import annotations

import re

from esr.documents.dates import normalise_date, parse_date_start

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
# "January 7, 1999" and "7 January 1999", with or without a weekday, time or edition around them
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s{{1,9}}(\d{{1,2}}),?\s{{1,9}}(\d{{4}})\b", re.I | re.ASCII)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})[\s-]{_MONTH}[\s,-]{{1,2}}(\d{{4}})\b", re.I | re.ASCII)
# "2017/2/7": after a year, the month always comes before the day.
_YEAR_FIRST = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?:$|(?=[T ]))", re.ASCII)
# The basic form of ISO 8601, as agencies write it: "20240115T084500+0100"
_BASIC_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)(?=$|[T ])", re.ASCII)
_BASIC_TIME = re.compile(r"(?<=\d[T ])(\d\d)(\d\d)(\d\d)?(?!\d)", re.ASCII)
_BASIC_ZONE = re.compile(r"(?<=\d)([+-]\d\d)(\d\d)$", re.ASCII)


def to_iso_date(text: str) -> str | None:
    """The date in ISO 8601, or None if it is ambiguous: "02/03/1999" is in March in London only."""
    text = " ".join(text.split())
    if month_first := _MONTH_FIRST.search(text):
        month, day, year = month_first.groups()
    elif day_first := _DAY_FIRST.search(text):
        day, month, year = day_first.groups()
    elif year_first := _YEAR_FIRST.match(text):
        year, month, day = year_first.groups()
        date = f"{year}-{int(month):02}-{int(day):02}{text[year_first.end() :]}"
        return _valid_or_none(normalise_date(date))
    else:
        return _valid_or_none(_to_extended_form(normalise_date(text)))
    return _valid_or_none(f"{year}-{_MONTHS.index(month.lower()) + 1:02}-{int(day):02}")


def _to_extended_form(date: str) -> str:
    """ "20240115T084500+0100" as "2024-01-15T08:45:00+01:00", so that all dates look and sort alike."""
    day = _BASIC_DAY.match(date)
    rest = date[day.end() :] if day else date[10:]
    rest = _BASIC_TIME.sub(_join_with_colons, f"0{rest}")[1:]  # the pattern needs a digit before the T
    if "T" in rest or " " in rest:
        rest = _BASIC_ZONE.sub(r"\1:\2", rest)
    return ("-".join(day.groups()) if day else date[:10]) + rest


def _join_with_colons(time: re.Match[str]) -> str:
    return ":".join(filter(None, time.groups()))


def _valid_or_none(date: str) -> str | None:
    try:
        parse_date_start(date)
    except ValueError:
        return None
    return date
