"""Dates as people, newspapers and programs write them, as ISO 8601.

They are converted if they are unambiguous. Only a complete date counts: a day, a month and a year of four
digits. dateutil reads names of months, times and time zones. It completes missing parts from a default date,
so it must give the same day for two different defaults.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from esr.stdlib import compile_lazily, import_lazily
from esr.text.dates import MONTHS, normalise_date, parse_date_start

if TYPE_CHECKING:
    from dateutil import parser
else:
    parser = import_lazily("dateutil.parser")

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
# In lower case: a pattern that ignores case would take ı, İ and ſ for i and s, which no name of a month has.
_OTHER_DAY_FIRST = compile_lazily(
    rf"\b(\d{{1,2}})(?:\.|er|º)?\s(?:de\s)?({'|'.join(_OTHER_MONTHS)})\s(?:de\s|del\s)?(\d{{4}})\b"
)
_EAST_ASIAN = compile_lazily(r"(?<!\d)(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]", re.ASCII)
# The basic form of ISO 8601, as agencies write it: "20240115T084500+0100"
_BASIC_DAY = compile_lazily(r"(\d{4})(\d\d)(\d\d)(?=$|[T ])", re.ASCII)
_BASIC_TIME = compile_lazily(r"(?<=\d[T ])(\d\d)(\d\d)(\d\d)?(?!\d)", re.ASCII)
_BASIC_ZONE = compile_lazily(r"(?<=\d)([+-]\d\d)(\d\d)$", re.ASCII)


def to_iso_date(text: str) -> str | None:
    """The date in ISO 8601, or None if ambiguous: "02/03/1999" is in March in London only."""
    text = " ".join(normalize("NFC", text).split())
    if month_first := _MONTH_FIRST.search(text):
        month, day, year = month_first.groups()
    elif day_first := _DAY_FIRST.search(text):
        day, month, year = day_first.groups()
    elif year_first := _NEWSPAPER_YEAR_FIRST.match(text):
        year, month, day = year_first.groups()
        date = f"{year}-{int(month):02}-{int(day):02}{text[year_first.end() :]}"
        return _valid_or_none(normalise_date(date))
    elif other := _OTHER_DAY_FIRST.search(text.lower()):
        return _valid_or_none(f"{other[3]}-{_OTHER_MONTHS[other[2]]:02}-{int(other[1]):02}")
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


# Dates as readers type them, as a filter or among words, also months, and days relative to today

_FULL_MONTHS = tuple(map(str.lower, MONTHS))
_TYPED_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in _FULL_MONTHS) + r"|sept\.?"
_TYPED_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_TYPED_YEAR = r"(?P<year>(?:1[0-9]|20)\d\d)"
_TYPED_FORMS = tuple(
    compile_lazily(rf"(?<!\w){form}(?!\w)", re.IGNORECASE | re.ASCII)
    for form in (
        rf"(?:(?:on|of)\s+)?(?:the\s+)?{_TYPED_DAY}\s+(?:of\s+)?(?P<month>{_TYPED_MONTH}),?\s+{_TYPED_YEAR}",
        rf"(?:on\s+)?(?P<month>{_TYPED_MONTH})\s+{_TYPED_DAY},?\s+{_TYPED_YEAR}",
        rf"(?:in\s+|of\s+)?(?P<month>{_TYPED_MONTH}),?\s+{_TYPED_YEAR}",
        rf"(?P<day>\d{{1,2}})\.\s?(?P<number>\d{{1,2}})\.\s?{_TYPED_YEAR}",
        r"(?P<word>today|yesterday)",
    )
)


class TypedDate(NamedTuple):
    """A date in a text, from `start` to `end`. `iso`: the day or the month, such as 2017-03-22 or 2017-03."""

    start: int
    end: int
    iso: str


def find_typed_date(text: str, today: date | None = None) -> TypedDate | None:
    """The first date that is written out in a text. Yesterday is the day before `today` (UTC)."""
    for form in _TYPED_FORMS:
        match = form.search(text)
        iso = _read_typed(match, today) if match else None
        if match and iso:
            return TypedDate(match.start(), match.end(), iso)
    return None


def parse_typed_date(text: str, today: date | None = None) -> str | None:
    """The date that is the whole of a text, in ISO 8601; None for anything else."""
    found = find_typed_date(text.strip(), today)
    if found and (found.start, found.end) == (0, len(text.strip())):
        return found.iso
    return to_iso_date(text)


def _read_typed(match: re.Match[str], today: date | None) -> str | None:
    parts = match.groupdict()
    if parts.get("word"):
        day = today or datetime.now(UTC).date()
        return (day - timedelta(days=parts["word"].lower() == "yesterday")).isoformat()
    number = int(parts.get("number") or _month_number(parts.get("month") or ""))
    if parts.get("day") is None:
        return f"{parts['year']}-{number:02}"
    try:
        return date(int(parts["year"]), number, int(parts["day"])).isoformat()
    except ValueError:
        return None


def _month_number(text: str) -> int:
    return next(n for n, name in enumerate(_FULL_MONTHS, 1) if name[:3] == text[:3].lower())
