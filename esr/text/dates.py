"""ISO 8601 dates as milliseconds since 1970-01-01T00:00Z, for filters."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from esr.stdlib import compile_lazily, import_lazily

if TYPE_CHECKING:
    import calendar
else:
    calendar = import_lazily("calendar")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = timedelta(days=1)
DAY = _DAY // _MILLISECOND
"""Milliseconds per day."""

_YEAR = compile_lazily(r"\d{4}", re.ASCII)
_MONTH = compile_lazily(r"(\d{4})-(\d{2})", re.ASCII)
_WEEK = compile_lazily(r"\d{4}-?W\d{2}", re.ASCII)
_FULL_DAY = compile_lazily(r"\d{4}-\d{2}-\d{2}|\d{8}|\d{4}-W\d{2}-\d|\d{4}W\d{3}", re.ASCII)
# A day and a time of day. The standard library validates the numbers; this pattern excludes what the library
# accepts beyond ISO 8601, such as any letter between day and time. A blank between them is not strict ISO
# 8601 either (it is RFC 3339), but common.
_MOMENT = compile_lazily(
    r"(?:\d{4}-\d{2}-\d{2}|\d{8})[Tt ]\d{2}[\d:.,]*(?:[Zz]|[+-]\d{2}:?(?:\d{2})?)?", re.ASCII
)

# Archives write hours with one digit.
_SHORT_HOUR = compile_lazily(r"(\d{4}-\d{2}-\d{2}) (\d{1,2}:\d{2}.*)", re.ASCII)


def normalise_date(date: str) -> str:
    """Strip the date, and write "2016-12-30 7:11" as "2016-12-30T07:11". Validates nothing."""
    date = date.strip()
    if moment := _SHORT_HOUR.fullmatch(date):
        hour, rest = moment[2].split(":", 1)
        return f"{moment[1]}T{hour:0>2}:{rest}"
    return date


@lru_cache(maxsize=4096)  # dates repeat in news
def is_iso_date(text: str) -> bool:
    """Whether a document may have this date, as written."""
    try:
        parse_date_start(normalise_date(text))
    except ValueError:
        return False
    return True


def parse_date_start(date: str) -> int:
    """The first millisecond of a date, or the millisecond of a date-time, in UTC without a zone.

    Accepts "2017", "2017-02", "2017-02-07", "2017-02-07T10:30:00+01:00" and the other ISO 8601 forms of a
    year, month, week, day or date-time. Raises ValueError for anything else.
    """
    return _parse_period(date)[0]


@lru_cache(maxsize=4096)
def date_key(text: str | None) -> tuple[bool, int]:
    """A key that sorts dates as written by their first moment in UTC. What is no date comes last."""
    try:
        return False, parse_date_start(normalise_date(text or ""))
    except ValueError:
        return True, 0


def parse_date_end(date: str) -> int:
    """The last millisecond of a date, so that "up to 2017-02" includes the whole month.

    A date-time starts and ends in the same millisecond. Raises ValueError like `parse_date_start`.
    """
    return _parse_period(date)[1]


def format_moment(milliseconds: int) -> str:
    """The text of a moment as `parse_date_start` reads it: a day, or a date-time. Years end with 9999."""
    moment = min(milliseconds, _to_milliseconds(datetime.max.replace(tzinfo=UTC)))
    text = (_EPOCH + moment * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return text.removesuffix("T00:00:00.000Z").replace(".000Z", "Z")


def read_day(text: str) -> date | None:
    """The day of a full date, with or without a time of day; None for anything else."""
    try:
        return date.fromisoformat(normalise_date(text)[:10])
    except ValueError:
        return None


MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
"""Their English names, which those of `strftime` are only until a program sets a locale."""


def month_of(day: date) -> str:
    """The English name of a day's month."""
    return MONTHS[day.month - 1]


def write_day(text: str) -> str:
    """A date in English words, such as 3 March 2017; anything but a full date as it is."""
    day = read_day(text)
    return f"{day.day} {month_of(day)} {day.year}" if day else text


def _parse_period(text: str) -> tuple[int, int]:
    try:
        if _MOMENT.fullmatch(text):
            moment = datetime.fromisoformat(text.upper())
            # In UTC it may be a day of the year 0 or 10000, which astimezone refuses.
            start = _to_milliseconds(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
            return start, start
        first, last = _parse_days(text)
        # `last` may be 9999-12-31, the last day of datetime: compute its end from its start.
        return _midnight(first), _midnight(last) + DAY - 1
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text[:40]!r} is not an ISO 8601 date, like 2017-02-07 or 2017-02-07T10:30:00Z"
        ) from None


def _parse_days(text: str) -> tuple[date, date]:
    """The first and the last day of a year, month, week or day."""
    if _YEAR.fullmatch(text):
        return date(int(text), 1, 1), date(int(text), 12, 31)
    if month := _MONTH.fullmatch(text):
        first = date(int(month[1]), int(month[2]), 1)
        return first, first.replace(day=calendar.monthrange(first.year, first.month)[1])
    if _WEEK.fullmatch(text):
        monday = date.fromisoformat(text)
        return monday, monday + 6 * _DAY
    if _FULL_DAY.fullmatch(text):
        day = date.fromisoformat(text)
        return day, day
    raise ValueError(text)


def _midnight(day: date) -> int:
    return _to_milliseconds(datetime.combine(day, time(), UTC))


def _to_milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND
