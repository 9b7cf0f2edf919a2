"""Dates as newspapers write them, turned to ISO 8601 where there is one way to read them."""

from __future__ import annotations

import re

from esr.documents.dates import instant, tidy

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
# "January 7, 1999" and "7 January 1999", with or without a weekday, time or edition around them
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s{{1,9}}(\d{{1,2}}),?\s{{1,9}}(\d{{4}})\b", re.I | re.ASCII)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})[\s-]{_MONTH}[\s,-]{{1,2}}(\d{{4}})\b", re.I | re.ASCII)
# "2017/2/7": nobody writes the day before the month after a year.
_YEAR_FIRST = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?:$|(?=[T ]))", re.ASCII)
# The basic form of ISO 8601, as agencies write it: "20240115T084500+0100"
_BASIC_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)(?=$|[T ])", re.ASCII)
_BASIC_TIME = re.compile(r"(?<=\d[T ])(\d\d)(\d\d)(\d\d)?(?!\d)", re.ASCII)
_BASIC_ZONE = re.compile(r"(?<=\d)([+-]\d\d)(\d\d)$", re.ASCII)


def iso(text: str) -> str | None:
    """The date in ISO 8601, or None. "02/03/1999" gives None: it is March in London, February in New York."""
    text = " ".join(text.split())
    if month_first := _MONTH_FIRST.search(text):
        month, day, year = month_first.groups()
    elif day_first := _DAY_FIRST.search(text):
        day, month, year = day_first.groups()
    elif year_first := _YEAR_FIRST.match(text):
        year, month, day = year_first.groups()
        return _valid(tidy(f"{year}-{int(month):02}-{int(day):02}{text[year_first.end() :]}"))
    else:
        return _valid(_extended(tidy(text)))
    return _valid(f"{year}-{_MONTHS.index(month.lower()) + 1:02}-{int(day):02}")


def _extended(date: str) -> str:
    """ "20240115T084500+0100" as "2024-01-15T08:45:00+01:00", so that all dates look and sort alike."""
    day = _BASIC_DAY.match(date)
    rest = date[day.end() :] if day else date[10:]
    rest = _BASIC_TIME.sub(_clock, f"0{rest}")[1:]  # a digit stands before the T
    if "T" in rest or " " in rest:
        rest = _BASIC_ZONE.sub(r"\1:\2", rest)
    return ("-".join(day.groups()) if day else date[:10]) + rest


def _clock(time: re.Match[str]) -> str:
    return ":".join(filter(None, time.groups()))


def _valid(date: str) -> str | None:
    try:
        instant(date)
    except ValueError:
        return None
    return date
