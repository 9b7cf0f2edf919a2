"""How a language writes dates and numbers, by the data of the Unicode project that Babel has."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from esr.stdlib import import_lazily
from esr.text.dates import month_of

if TYPE_CHECKING:
    import babel
    from babel import dates
else:
    babel = import_lazily("babel")
    dates = import_lazily("babel.dates")

_UNGROUPED = {"es": len("1,234")}
"""By language, the length of numbers whose thousands are not grouped. Babel does not know it."""


class Formats:
    """Dates and numbers as a language writes them, with Western digits."""

    def __init__(self, locale: str) -> None:
        self._locale = locale

    def day(self, day: date) -> str:
        """A day, such as 3 March 2017."""
        return self._write(day, "yMMMMd")

    def day_month(self, day: date) -> str:
        """A day without its year, such as 3 March."""
        return self._write(day, "MMMMd")

    def month(self, day: date) -> str:
        """The month of a day, such as March 2017."""
        return self._write(day, "yMMMM")

    def short_day(self, day: date, has_year: bool = True) -> str:
        """A day as the axis of a chart has it, such as 3 Mar 2017 or 3 Mar."""
        return self._write(day, "yMMMd" if has_year else "MMMd")

    def short_month(self, day: date) -> str:
        """The month of a day as the axis of a chart has it, such as Mar 2017."""
        return self._write(day, "yMMM")

    def year(self, day: date) -> str:
        """The year of a day."""
        return str(day.year)

    def weekday(self, day: date) -> str:
        """The day of the week, such as Friday."""
        return dates.format_date(day, "EEEE", locale=self._locale)

    def number(self, value: float, digits: int = 0) -> str:
        """A number with its thousands grouped, and with so many digits after the point."""
        return self.digits(f"{value:,.{digits}f}")

    def digits(self, text: str) -> str:
        """A number that is written as in English, such as 1,234.5."""
        group, point = _symbols(self._locale)
        whole = text.partition(".")[0].lstrip("-+−")
        if len(whole) <= _UNGROUPED.get(self._locale, 0):
            group = ""
        return text.translate({ord(","): group, ord("."): point})

    def language(self, tag: str) -> str:
        """The name of a language; the tag itself if there is none."""
        try:
            parsed = babel.Locale.parse(tag, sep="-")
        except (ValueError, babel.UnknownLocaleError):
            return tag
        return parsed.get_display_name(self._locale) or tag

    def _write(self, day: date, skeleton: str) -> str:
        return dates.format_skeleton(skeleton, day, locale=self._locale)


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class EnglishFormats(Formats):
    """Those of English, without the data of other languages."""

    def __init__(self) -> None:
        super().__init__("en_GB")

    def day(self, day: date) -> str:
        return f"{day.day} {month_of(day)} {day.year}"

    def day_month(self, day: date) -> str:
        return f"{day.day} {month_of(day)}"

    def month(self, day: date) -> str:
        return f"{month_of(day)} {day.year}"

    def short_day(self, day: date, has_year: bool = True) -> str:
        return f"{day.day} {self.short_month(day)}" if has_year else f"{day.day} {month_of(day)[:3]}"

    def short_month(self, day: date) -> str:
        return f"{month_of(day)[:3]} {day.year}"

    def weekday(self, day: date) -> str:
        return _WEEKDAYS[day.weekday()]

    def digits(self, text: str) -> str:
        return text


@cache
def _symbols(locale: str) -> tuple[str, str]:
    """What is between thousands, and what is before decimals."""
    symbols = babel.Locale.parse(locale).number_symbols["latn"]
    return str(symbols["group"]), str(symbols["decimal"])
