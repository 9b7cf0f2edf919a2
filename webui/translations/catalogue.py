"""The messages of a language, as its file in `messages` has them: gettext's format, read as it is."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from babel.messages import pofile
else:
    pofile = import_lazily("babel.messages.pofile")

FOLDER = Path(__file__).parent / "messages"
"""The folder with a file for each language, such as de.po."""

Key = str | tuple[str, str]
"""An English message, after its context if it has one."""


class Catalogue(Struct, frozen=True):
    """The messages of a language.

    `messages`: by the English message, its translation, or all plural forms. `plural`: the number of the
    form for a number of things. `scripts`: the messages of scripts, by their English text; a translation with
    plural forms has them by the category of `Intl.PluralRules`.
    """

    messages: Mapping[Key, tuple[str, ...]]
    plural: Callable[[int], int]
    scripts: Mapping[str, str | Mapping[str, str]]

    def translate(self, message: str, context: str = "") -> str:
        """The translation of a message; the message itself if there is none."""
        return self.messages.get((context, message) if context else message, (message,))[0]

    def translate_number(self, singular: str, plural: str, number: int) -> str:
        """The plural form for a number of things; the English one if there is no translation."""
        forms = self.messages.get(singular, ())
        form = self.plural(number)
        return forms[form] if form < len(forms) else singular if number == 1 else plural


ENGLISH = Catalogue({}, lambda number: int(number != 1), {})
"""English has no file: its messages are in the code."""


def read_catalogue(language: str) -> Catalogue:
    """The catalogue of a language that has a file."""
    with (FOLDER / f"{language}.po").open("rb") as file:
        catalogue = pofile.read_po(file, locale=language)
    plural: Callable[[int], int] = gettext.c2py(catalogue.plural_expr)
    messages: dict[Key, tuple[str, ...]] = {}
    scripts: dict[str, str | Mapping[str, str]] = {}
    for message in catalogue:
        if not message.id or message.fuzzy:
            continue
        singular = message.id if isinstance(message.id, str) else message.id[0]
        forms = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        if not all(forms):
            continue
        messages[(message.context, singular) if message.context else singular] = forms
        if any(path.endswith(".js") for path, _ in message.locations):
            scripts[singular] = (
                forms[0] if isinstance(message.id, str) else _by_category(language, forms, plural)
            )
    return Catalogue(messages, plural, scripts)


_SAMPLES = (0, 1, 2, 3, 11, 100, 1_000_000)
"""Numbers of which each category of each language has one."""


def _by_category(language: str, forms: tuple[str, ...], plural: Callable[[int], int]) -> dict[str, str]:
    from babel import Locale

    locale = Locale.parse(language)
    return {locale.plural_form(number): forms[plural(number)] for number in _SAMPLES}
