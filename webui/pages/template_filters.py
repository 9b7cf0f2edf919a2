"""How templates show values: links, dates, numbers, and texts in their language."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from flask import Flask
from markupsafe import Markup

from esr.documents.attributes import flat_metadata
from esr.documents.direction import is_language_tag, text_direction
from esr.ranking import answers
from esr.wording import count
from webui.arguments.labels import feature_label, first_phrase, plain_number
from webui.pages.tree_picture import describe_term_set

_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")


def install(app: Flask) -> None:
    """Make these functions known to the templates of the application."""
    app.jinja_env.filters.update(
        web_url=web_url,
        day=day,
        month=month,
        term_set=describe_term_set,
        text_attributes=text_attributes,
        lang_attribute=lang_attribute,
        duration=duration,
        score=score,
        plain_number=plain_number,
        without_remarks=without_remarks,
        short_number=short_number,
        nonzero_features=nonzero_features,
        feature_label=feature_label,
        first_phrase=first_phrase,
        signed=signed,
        finite=math.isfinite,
        metadata_rows=metadata_rows,
    )
    app.jinja_env.tests["full_date"] = is_full_date
    app.jinja_env.globals.update(count=count, record=answers.require_record)


def web_url(url: str | None) -> str | None:
    """The URL, if it is one of the web: a document may have anything there."""
    if not url or any(c.isspace() or not c.isprintable() for c in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def metadata_rows(metadata: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Each key of the metadata with its values as texts; the keys of objects in objects are joined."""
    return list(flat_metadata(metadata).items())


def day(text: str) -> str:
    """A date for readers, such as 3 March 2017. Anything but a full date stays as it is."""
    match = _DAY.match(text)
    if not match:
        return text
    try:
        parsed = date(*map(int, match.groups()))
    except ValueError:
        return text
    return f"{parsed.day} {parsed:%B} {parsed.year}"


def month(text: str) -> str:
    """A month for readers, such as March 2017. Anything but a month stays as it is."""
    first_day = day(f"{text}-01")
    return first_day.removeprefix("1 ") if first_day.startswith("1 ") else text


def is_full_date(text: str) -> bool:
    """Whether a browser's date field can hold the text."""
    return not text or bool(_DAY.fullmatch(text))


def lang_attribute(language: str | None) -> Markup:
    """The attribute `lang` of a text in a document's language.

    It is empty where the language is not known, as HTML has it: without it, the text would count as English
    like the page around it.
    """
    return Markup(' lang="{}"').format(language if is_language_tag(language) else "")


def text_attributes(language: str | None) -> Markup:
    """The attributes `lang` and `dir` of a text in a document's language.

    HTML calls dir="auto" a last resort, for text of unknown direction: it goes by the first letter, so an
    Arabic sentence that begins with a Latin name would run from left to right. The language knows better.
    """
    return lang_attribute(language) + Markup(' dir="{}"').format(text_direction(language))


def duration(milliseconds: float) -> str:
    """A time for readers: under 1 ms, 12 ms, 1.4 s."""
    if milliseconds < 1:
        return "under 1 ms"
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def score(value: float) -> str:
    """A score to three places, with a proper minus sign."""
    return f"{value:z.3f}".replace("-", "−")


def signed(value: float) -> str:
    """What is added to a score, to three places, with its sign; a dash where it is no finite number."""
    return f"{value:+.3f}".replace("-", "−") if math.isfinite(value) else "–"


def short_number(value: float) -> str:
    """A number to two places, without needless zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def nonzero_features(features: Mapping[str, float]) -> dict[str, str]:
    """The features of a sentence that are not 0, as texts."""
    return {name: short_number(value) for name, value in features.items() if value}


def without_remarks(description: str) -> str:
    """A description without the remarks in brackets or after a semicolon."""
    return re.split(r" \((?=[a-z ]{4})|;", description, maxsplit=1)[0]
