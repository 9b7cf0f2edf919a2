"""How values of a document are shown: links, dates, languages, numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from urllib.parse import urlsplit

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")


def link(url: str | None) -> str | None:
    """The address, if it is one of the web: a document may hold anything there."""
    if not url or any(c.isspace() or not c.isprintable() for c in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def day(text: str) -> str:
    """A date for readers, such as 3 March 2017. What is not a full date stays as it is."""
    match = _DAY.match(text)
    if not match:
        return text
    try:
        found = date(*map(int, match.groups()))
    except ValueError:
        return text
    return f"{found.day} {found:%B} {found.year}"


def month(text: str) -> str:
    """A month for readers, such as March 2017. What is no month stays as it is."""
    shown = day(f"{text}-01")
    return shown.removeprefix("1 ") if shown.startswith("1 ") else text


def full_date(text: str) -> bool:
    """Whether a browser's field for dates can hold the text."""
    return not text or bool(_DAY.fullmatch(text))


def language(tag: str | None) -> str | None:
    """The language tag for the browser, if it is formed as one."""
    return tag if tag and _LANGUAGE.fullmatch(tag) else None


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 sentence, 2,310 sentences."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(milliseconds: float) -> str:
    """A time as people say it: under 1 ms, 12 ms, 1.4 s."""
    if milliseconds < 1:
        return "under 1 ms"
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def score(value: float) -> str:
    """A score to three places, with a minus sign that can be seen."""
    return f"{value:z.3f}".replace("-", "−")


def signed(value: float) -> str:
    """What is added to a score, to three places, with its sign; a dash for no number."""
    return f"{value:+.3f}".replace("-", "−") if math.isfinite(value) else "–"


def plain(value: object) -> str:
    """A number without needless digits; other things as they are."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def brief(value: float) -> str:
    """A feature's value to two places, without needless ones."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def told(features: Mapping[str, float]) -> dict[str, str]:
    """The features of a sentence that say something: those that are not 0."""
    return {name: brief(value) for name, value in features.items() if value}


def first_part(description: str) -> str:
    """The first part of a description: an option has little room."""
    return re.split(r"[:;,(]", description, maxsplit=1)[0].strip()


def unremarked(description: str) -> str:
    """A description without the remarks that follow in brackets or behind a semicolon."""
    return re.split(r" \((?=[a-z ]{4})|;", description, maxsplit=1)[0]
