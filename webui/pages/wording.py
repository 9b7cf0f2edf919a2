"""What the pages say of values that the rest of esr says in English: matches, copies, languages, periods."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache

from esr.following.copies import CopyNote
from esr.following.timeline_chart import StoryChart, Tick
from esr.index.hits import Hit
from esr.ranking import answers
from esr.ranking.answers import Match, count_matches, require_record
from esr.text.analyzer import Analyzer
from esr.text.languages import name_language as name_language_in_english
from esr.text.placed_text import PAGE, Places, describe_place
from webui.translations.language import DEFAULT, Language, _, current_language, ngettext


def write_match(match: Match) -> str:
    """Why a sentence is in the list, such as "all four words; twice nearby"."""
    if current_language() is DEFAULT:
        return answers.write_match(match)
    in_sentence, total, beside, is_in_headline = match
    if in_sentence == total:
        parts = [ngettext("the word itself", "all %(num)s words", total)]
    elif in_sentence:
        parts = [ngettext("%(own)s of %(num)s word", "%(own)s of %(num)s words", total, own=in_sentence)]
    else:
        parts = [_("none of the words")]
    parts += [ngettext("%(num)s time nearby", "%(num)s times nearby", beside)] if beside else []
    parts += [_("in the headline")] if is_in_headline else []
    return _("; ").join(parts)


Reasons = Mapping[str, str]
"""Reasons by sentence id."""


def describe_hits(hits: Sequence[Hit], words: Collection[tuple[str, ...]], analyzer: Analyzer) -> Reasons:
    """The reason for each hit; empty without words. `words` have the terms that each word stands for."""
    return {
        hit.sentence_id: write_match(count_matches(require_record(hit), words, analyzer))
        for hit in hits
        if words
    }


def write_copies(note: CopyNote) -> str:
    """Where else a sentence stands, such as "also in 4 sources, first here on 3 March 2024"."""
    sources, documents, day, place = note.facts
    text = (
        ngettext("also in %(num)s source", "also in %(num)s sources", sources)
        if sources
        else ngettext("also in %(num)s other document", "also in %(num)s other documents", documents)
    )
    if day is None:
        return text
    day = write_day(day)
    if place is None:
        return _("%(copies)s, first on %(day)s", copies=text, day=day)
    if not place:
        return _("%(copies)s, first here on %(day)s", copies=text, day=day)
    return _("%(copies)s, first in %(place)s on %(day)s", copies=text, place=place, day=day)


def write_place(features: Places) -> str | None:
    """Where a sentence is in its source, such as "page 3"; None if its features do not say."""
    text = describe_place(features)
    page = features.get(PAGE)
    if page is None or text != f"page {page:g}":
        return text
    return _("page %(number)s", number=text.removeprefix("page "))


def name_language(tag: str) -> str:
    """A language for readers, such as German."""
    language = current_language()
    return name_language_in_english(tag) if language is DEFAULT else language.formats.language(tag)


def translate_filled(text: str, template: str) -> str:
    """The translation of a text that was made of a template with fields in braces, by `str.format`."""
    match = _pattern(template).fullmatch(text)
    return _(template).format(**match.groupdict()) if match else text


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.*)", re.escape(template)), re.DOTALL)


_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")


def write_day(text: str) -> str:
    """A date for readers, such as 3 March 2017. Anything but a full date is returned unchanged."""
    return _write_full_day(text, current_language())


@lru_cache(4096)
def _write_full_day(text: str, language: Language) -> str:
    parsed = _parse_day(text)
    return language.formats.day(parsed) if parsed else text


def _parse_day(text: str) -> date | None:
    match = _DAY.match(text)
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def write_day_month(text: str) -> str:
    """A date without its year, such as 3 March. Anything but a full date is returned unchanged."""
    parsed = _parse_day(text)
    return current_language().formats.day_month(parsed) if parsed else text


def name_weekday(text: str) -> str:
    """The day of the week of a full date, such as Friday; empty for anything else."""
    parsed = _parse_day(text)
    return current_language().formats.weekday(parsed) if parsed else ""


def write_month(text: str) -> str:
    """A month for readers, such as March 2017. Anything but a month is returned unchanged."""
    first_day = _parse_day(f"{text}-01")
    return current_language().formats.month(first_day) if first_day else text


def is_full_date(text: str) -> bool:
    """Whether a browser's date field can hold the text."""
    return not text or bool(_DAY.fullmatch(text))


def write_period(period: str) -> str:
    """A period as a text has it: 13 February 2017, February 2017; weeks and years by their names."""
    day = _first_day(period)
    if day is None:
        return period
    formats = current_language().formats
    return formats.month(day) if len(period) == len("2017-02") else formats.day(day)


def write_axis(period: str, has_year: bool = True) -> str:
    """A period as an axis has it: 13 Feb 2017, 13 Feb, Feb 2017; weeks and years by their names."""
    day = _first_day(period)
    if day is None:
        return period
    formats = current_language().formats
    return formats.short_month(day) if len(period) == len("2017-02") else formats.short_day(day, has_year)


def write_ticks(story: StoryChart, periods: Sequence[str]) -> StoryChart:
    """A chart with the texts of its axes in the language of the page."""
    formats = current_language().formats
    places = [round(tick.at * len(periods) - 0.5) for tick in story.x_ticks]
    x_ticks = [
        Tick(tick.at, write_axis(periods[place], place == places[-1]))
        for tick, place in zip(story.x_ticks, places, strict=True)
    ]
    y_ticks = [Tick(tick.at, formats.digits(tick.text)) for tick in story.y_ticks]
    return story._replace(x_ticks=x_ticks, y_ticks=y_ticks)


def _first_day(period: str) -> date | None:
    """The first day of a day or a month; None for a week and a year."""
    if "W" in period or len(period) < len("2017-02"):
        return None
    return date.fromisoformat(period if len(period) == len("2017-02-13") else f"{period}-01")
