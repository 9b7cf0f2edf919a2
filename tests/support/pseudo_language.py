"""A language whose messages are the English ones in marks, so that a test sees what is no message."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from functools import cache
from html.parser import HTMLParser

from tools.translations import extract
from webui.translations.catalogue import Catalogue
from webui.translations.formats import EnglishFormats
from webui.translations.language import Language

BEGIN, END = "⟦", "⟧"
NAME = "en-XA"
"""The tag of the language. The Unicode project has it for this purpose."""


def mark(text: str) -> str:
    return f"{BEGIN}{text}{END}"


class MarkedFormats(EnglishFormats):
    def day(self, day: date) -> str:
        return mark(super().day(day))

    def day_month(self, day: date) -> str:
        return mark(super().day_month(day))

    def month(self, day: date) -> str:
        return mark(super().month(day))

    def weekday(self, day: date) -> str:
        return mark(super().weekday(day))

    def short_day(self, day: date, has_year: bool = True) -> str:
        return mark(super().short_day(day, has_year))

    def short_month(self, day: date) -> str:
        return mark(super().short_month(day))

    def language(self, tag: str) -> str:
        return mark(tag)


@cache
def make_pseudo_language() -> Language:
    """The language. Texts that the tool for translations does not find stay without marks."""
    messages: dict[str | tuple[str, str], tuple[str, ...]] = {}
    for message in extract():
        forms = (message.id,) if isinstance(message.id, str) else message.id
        if message.id:
            messages[(message.context, forms[0]) if message.context else forms[0]] = tuple(map(mark, forms))
    catalogue = Catalogue(messages, lambda number: int(number != 1), {})
    return Language(NAME, mark("Pseudo"), catalogue=catalogue, formats=MarkedFormats())


_DATA_TAGS = frozenset(("bdi", "code", "kbd", "mark", "script", "style", "textarea", "title"))
"""Elements with data: names and texts of documents, and what people type."""
_ATTRIBUTES = ("aria-label", "title", "placeholder", "alt", "data-says", "data-slow", "label")
_VOID = frozenset(["meta", "link", "input", "br", "img", "hr"])


class UnmarkedText(HTMLParser):
    """Collects the texts of a page that are neither in marks nor data: messages that are not translated.

    Data are in elements for them, and in elements with a language or a direction of their own.
    """

    def __init__(self, known: Collection[str]) -> None:
        super().__init__()
        self.found: list[str] = []
        self._known = known
        self._depth = 0
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        foreign = (
            attributes.get("lang", NAME) != NAME
            or attributes.get("dir") == "auto"
            or attributes.get("translate") == "no"
        )
        is_data = tag in _DATA_TAGS or foreign or (bool(self._open) and self._open[-1][1])
        for name in _ATTRIBUTES:
            text = attributes.get(name) or ""
            if BEGIN not in text and not is_data and "data-sentence-id" not in attributes:
                self._check(text)
        if tag not in _VOID:
            self._open.append((tag, is_data and tag != "html"))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        outside = ""
        for character in data:
            if character == BEGIN:
                self._depth += 1
            elif character == END:
                self._depth -= 1
            elif not self._depth:
                outside += character
        if not (self._open and self._open[-1][1]):
            self._check(outside)

    def _check(self, text: str) -> None:
        words = [word for word in text.replace("-", " ").split() if sum(map(str.isalpha, word)) > 1]
        if any(word.strip(".,:;()“”") not in self._known for word in words):
            self.found.append(" ".join(text.split()))
