"""ISO 8601 dates as milliseconds since 1970-01-01T00:00Z, for filters, and written dates as ISO 8601.

Dates written by people, newspapers and programs are converted if they are unambiguous. Only a complete date
counts: a day, a month and a year of four digits. dateutil reads names of months, times and time zones. It
completes missing parts from a default date, so it must give the same day for two different defaults.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import NamedTuple

from esr.stdlib import compile_lazily

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = timedelta(days=1)

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


def parse_date_end(date: str) -> int:
    """The last millisecond of a date, so that "up to 2017-02" includes the whole month.

    A date-time starts and ends in the same millisecond. Raises ValueError like `parse_date_start`.
    """
    return _parse_period(date)[1]


def _parse_period(text: str) -> tuple[int, int]:
    try:
        if _MOMENT.fullmatch(text):
            moment = datetime.fromisoformat(text.upper())
            # In UTC it may be a day of the year 0 or 10000, which astimezone refuses.
            start = _to_milliseconds(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
            return start, start
        first, last = _parse_days(text)
        # `last` may be 9999-12-31, the last day of datetime: compute its end from its start.
        return _midnight(first), _midnight(last) + _DAY // _MILLISECOND - 1
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text[:40]!r} is not an ISO 8601 date, like 2017-02-07 or 2017-02-07T10:30:00Z"
        ) from None


def _parse_days(text: str) -> tuple[date, date]:
    """The first and the last day of a year, month, week or day."""
    if _YEAR.fullmatch(text):
        return date(int(text), 1, 1), date(int(text), 12, 31)
    if month := _MONTH.fullmatch(text):
        from calendar import monthrange  # imports locale, and few filters need it

        first = date(int(month[1]), int(month[2]), 1)
        return first, first.replace(day=monthrange(first.year, first.month)[1])
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


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NEWSPAPER_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
# "January 7, 1999" and "7 January 1999", with or without a weekday, time or edition around them
_MONTH_FIRST = compile_lazily(
    rf"\b{_NEWSPAPER_MONTH}\s{{1,9}}(\d{{1,2}}),?\s{{1,9}}(\d{{4}})\b", re.I | re.ASCII
)
_DAY_FIRST = compile_lazily(rf"\b(\d{{1,2}})[\s-]{_NEWSPAPER_MONTH}[\s,-]{{1,2}}(\d{{4}})\b", re.I | re.ASCII)
# "2017/2/7": after a year, the month always comes before the day.
_NEWSPAPER_YEAR_FIRST = compile_lazily(r"(\d{4})/(\d{1,2})/(\d{1,2})(?:$|(?=[T ]))", re.ASCII)
# "29 décembre 2011", "3 de enero de 2001" and "3. März 1993", and dates of East Asia: "2018 年 10 月 7 日"
_OTHER_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "januar januari jänner janvier enero janeiro gennaio",
            "februar februari février fevrier febrero fevereiro febbraio",
            "märz mars marzo março maart marts",
            "april avril abril aprile",
            "mai mayo maio maggio mei maj",
            "juni juin junio junho giugno",
            "juli juillet julio julho luglio",
            "august août aout agosto augustus augusti",
            "september septembre septiembre setiembre setembro settembre",
            "oktober octobre octubre outubro ottobre",
            "november novembre noviembre novembro",
            "dezember décembre decembre diciembre dezembro dicembre december desember",
        ),
        1,
    )
    for name in names.split()
}
_OTHER_DAY_FIRST = compile_lazily(
    rf"\b(\d{{1,2}})(?:\.|er|º)?\s(?:de\s)?({'|'.join(_OTHER_MONTHS)})\s(?:de\s|del\s)?(\d{{4}})\b", re.I
)
_EAST_ASIAN = compile_lazily(r"(?<!\d)(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]", re.ASCII)
# The basic form of ISO 8601, as agencies write it: "20240115T084500+0100"
_BASIC_DAY = compile_lazily(r"(\d{4})(\d\d)(\d\d)(?=$|[T ])", re.ASCII)
_BASIC_TIME = compile_lazily(r"(?<=\d[T ])(\d\d)(\d\d)(\d\d)?(?!\d)", re.ASCII)
_BASIC_ZONE = compile_lazily(r"(?<=\d)([+-]\d\d)(\d\d)$", re.ASCII)


def to_iso_date(text: str) -> str | None:
    """The date in ISO 8601, or None if ambiguous: "02/03/1999" is in March in London only."""
    text = " ".join(text.split())
    if month_first := _MONTH_FIRST.search(text):
        month, day, year = month_first.groups()
    elif day_first := _DAY_FIRST.search(text):
        day, month, year = day_first.groups()
    elif year_first := _NEWSPAPER_YEAR_FIRST.match(text):
        year, month, day = year_first.groups()
        date = f"{year}-{int(month):02}-{int(day):02}{text[year_first.end() :]}"
        return _valid_or_none(normalise_date(date))
    elif other := _OTHER_DAY_FIRST.search(text):
        return _valid_or_none(f"{other[3]}-{_OTHER_MONTHS[other[2].lower()]:02}-{int(other[1]):02}")
    elif east_asian := _EAST_ASIAN.search(text):
        return _valid_or_none("{}-{:02}-{:02}".format(*map(int, east_asian.groups())))
    else:
        return _valid_or_none(_to_extended_form(normalise_date(text)))
    return _valid_or_none(f"{year}-{_MONTHS.index(month.lower()) + 1:02}-{int(day):02}")


def _to_extended_form(date: str) -> str:
    """Write "20240115T084500+0100" as "2024-01-15T08:45:00+01:00", so that dates look and sort alike."""
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


_EPOCH_SECONDS = compile_lazily(r"\d{9,10}(?:\.\d{1,9})?", re.ASCII)
_EPOCH_MILLISECONDS = compile_lazily(r"\d{13}(?:\.\d{1,9})?", re.ASCII)
_COMPACT = compile_lazily(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)", re.ASCII)
_NUMERIC = compile_lazily(r"(\d{1,2})([/.-]) ?(\d{1,2})\2 ?(\d{4})(?=$|[T ,])(.*)", re.ASCII)
_YEAR_FIRST = compile_lazily(r"(\d{4})([/.-])(\d{1,2})\2(\d{1,2})(?=$|[T ,])(.*)", re.ASCII)
_COMMENT = compile_lazily(r"\s*\([^()]*\)$")
# dateutil also reads bare numbers as dates, in a fixed order: require a year and a month's name.
_READABLE = compile_lazily(
    r"(?=.*\d{4})(?=\d{4}-\d\d-\d\d|.*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))[\w ,.:+/-]{8,60}",
    re.ASCII | re.I,
)
# "GMT+0100" of JavaScript is east of Greenwich; dateutil reads it as west.
_NAMED_OFFSET = compile_lazily(r"\b(?:GMT|UTC)(?=[+-]\d)")
# Two default dates that differ in every part, to complete what a text leaves out.
_TODAY = datetime(2001, 2, 3)
_OTHER_DAY = datetime(2012, 10, 27, 13, 17, 19)
# The zones of RFC 2822, and those of Europe; other abbreviations are ambiguous.
_ZONES = {
    **dict.fromkeys(("UTC", "GMT", "UT", "Z", "WET"), 0),
    **{"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7},
    **{"WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3},
}


class WrittenDate(NamedTuple):
    """A date in ISO 8601 and, if it was not certain, a remark on how it was read."""

    iso: str
    reading: str | None = None


class UnclearDate(ValueError):
    """The order of day and month is unknown, or not as declared. The message says what to do."""


@lru_cache(maxsize=4096)  # dates repeat, and dateutil takes a tenth of a millisecond
def read_date(text: str, day_first: bool | None = None) -> WrittenDate | None:
    """Read a date, or return None if the text is not one. Raises UnclearDate.

    `day_first` is the order of day and month in dates such as 05/03/2024; None if unknown.
    """
    text = _NAMED_OFFSET.sub("", _COMMENT.sub("", " ".join(text.split())))
    if epoch := _read_epoch(text):
        return epoch
    reading = None
    if compact := _COMPACT.fullmatch(text):
        text = "{}-{}-{}T{}:{}:{}".format(*compact.groups())
    elif numeric := _NUMERIC.fullmatch(text):
        first, separator, second, year, rest = numeric.groups()
        is_day_first = _is_day_first(text, int(first), int(second), separator, day_first)
        day, month = (first, second) if is_day_first else (second, first)
        text = f"{year}-{int(month):02}-{int(day):02}{rest}"
        if separator != "." and max(int(first), int(second)) <= 12 and first != second:
            reading = f"with the {'day' if is_day_first else 'month'} first"
    elif year_first := _YEAR_FIRST.fullmatch(text):
        year, _, month, day, rest = year_first.groups()
        text = f"{year}-{int(month):02}-{int(day):02}{rest}"
    iso = to_iso_date(text) if text[:4].isdigit() else None
    iso = iso or _read_with_dateutil(text) or to_iso_date(text)
    return WrittenDate(iso, reading) if iso else None


def _read_epoch(text: str) -> WrittenDate | None:
    if _EPOCH_SECONDS.fullmatch(text):
        unit, milliseconds = "seconds", round(float(text) * 1000)
    elif _EPOCH_MILLISECONDS.fullmatch(text):
        unit, milliseconds = "milliseconds", round(float(text))
    else:
        return None
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    precision = "milliseconds" if milliseconds % 1000 else "seconds"
    return WrittenDate(moment.isoformat(timespec=precision).replace("+00:00", "Z"), f"as {unit} since 1970")


def _is_day_first(text: str, first: int, second: int, separator: str, day_first: bool | None) -> bool:
    """Whether the first number is the day. With dots it always is; slashes and hyphens are used both ways."""
    if separator == ".":
        return True
    possible = [order for order, month in ((True, second), (False, first)) if month <= 12] or [True]
    if day_first is None and len(possible) == 2 and first != second:
        raise UnclearDate(f"{text[:40]!r} is ambiguous: choose --day-first or --month-first")
    if day_first is None:
        return possible[0]
    if day_first not in possible:
        raise UnclearDate(
            f"{text[:40]!r} does not have the {'day' if day_first else 'month'} first: correct it"
        )
    return day_first


def _read_with_dateutil(text: str) -> str | None:
    if not _READABLE.fullmatch(text):
        return None
    from dateutil import parser  # slow to import

    try:
        moment, other = (parser.parse(text, default=day, tzinfos=_find_zone) for day in (_TODAY, _OTHER_DAY))
    except (ValueError, OverflowError, ArithmeticError, AttributeError, TypeError):  # it raises all of these
        return None
    day = moment.date().isoformat()
    is_complete = moment.date() == other.date() and day[:4] in re.findall(r"\d+", text)
    # After a year, dateutil 2 swaps a month above 12 with the day.
    if not is_complete or (text[:4].isdigit() and not text.startswith(day)):
        return None
    return day if moment.hour != other.hour else moment.isoformat()


def _find_zone(name: str | None, offset: int | None) -> tzinfo | None:
    """The time zone of a name, or of an offset in seconds. Raises ValueError if unknown."""
    if offset is not None:
        return timezone(timedelta(seconds=offset))
    if name is None:
        return None
    if name.upper() not in _ZONES:
        raise ValueError(name)
    return timezone(timedelta(hours=_ZONES[name.upper()]))
