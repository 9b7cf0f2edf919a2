"""The language of a page: how a request gets it, and the functions that translate messages into it.

A message is written once, in English, where it is used: `_("No sentences found")`, and in templates also
`{% trans %}`. `docs/translations.md` says how to mark messages and how to add a language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

from esr.stdlib import cached_property
from webui.translations.catalogue import ENGLISH, Catalogue, read_catalogue
from webui.translations.formats import EnglishFormats, Formats


class Language:
    """A language of the pages. `name`: its tag, such as de. `label`: its name in itself.

    `catalogue`: its messages, if it has no file.
    """

    def __init__(
        self,
        name: str,
        label: str,
        direction: str = "ltr",
        catalogue: Catalogue | None = None,
        formats: Formats | None = None,
    ) -> None:
        self.name, self.label, self.direction = name, label, direction
        self._catalogue = catalogue
        self.formats = formats or Formats(name)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Its messages, read at first use."""
        return self._catalogue or read_catalogue(self.name)


DEFAULT = Language("en", "English", catalogue=ENGLISH, formats=EnglishFormats())
LANGUAGES = {
    language.name: language
    for language in (
        DEFAULT,
        Language("de", "Deutsch"),
        Language("fr", "Français"),
        Language("es", "Español"),
        Language("ar", "العربية", "rtl"),
    )
}
"""The languages of the pages by name, in the order of the menu."""

_CURRENT: ContextVar[Language] = ContextVar("language", default=DEFAULT)


def current_language() -> Language:
    """The language of the request that is answered; English outside of requests."""
    return _CURRENT.get()


def set_language(language: Language) -> None:
    """Set the language of what this thread answers from here on."""
    _CURRENT.set(language)


def choose_language(
    chosen: str | None, accepted: Callable[[Iterable[str]], str | None], default: str
) -> Language:
    """The language that the reader has chosen, else the best that the browser accepts, else the default."""
    name = chosen if chosen in LANGUAGES else accepted(LANGUAGES) or default
    return LANGUAGES.get(name, DEFAULT)


def _(message: str, /, **values: Any) -> str:
    """A message in the language of the page, with values for its placeholders, such as `%(name)s`.

    Whole numbers are written as the language writes them.
    """
    translated = _CURRENT.get().catalogue.translate(message)
    return translated % write_numbers(values) if values else translated


def pgettext(context: str, message: str, /, **values: Any) -> str:
    """A message that has another meaning elsewhere. `context` tells translators which is meant."""
    translated = _CURRENT.get().catalogue.translate(message, context)
    return translated % write_numbers(values) if values else translated


def ngettext(singular: str, plural: str, number: int, /, **values: Any) -> str:
    """The form of a message for a number of things, which `%(num)s` in it stands for."""
    translated = _CURRENT.get().catalogue.translate_number(singular, plural, number)
    return translated % write_numbers({"num": number, **values})


def N_(message: str, /) -> str:
    """The message unchanged: marks a message that is translated later, where it is used."""
    return message


def capitalize(text: str) -> str:
    """A text with a capital letter at its beginning, unchanged else."""
    return text[:1].upper() + text[1:]


def as_sentence(message: str) -> str:
    """A message as a sentence, with a capital letter and a full stop."""
    return capitalize(message) + ("" if message.endswith((".", "!", "?", "؟")) else ".")


def number(value: float, digits: int = 0) -> str:
    """A number as the language of the page writes it."""
    return _CURRENT.get().formats.number(value, digits)


def write_numbers(values: dict[str, Any]) -> dict[str, Any]:
    """The values of placeholders, whole numbers as the language of the page writes them."""
    return {name: number(value) if type(value) is int else value for name, value in values.items()}
