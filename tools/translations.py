"""The messages of the pages, and their translations: `python -m tools.translations update|check|missing`.

`update` brings the catalogues of webui/translations/messages in line with the messages in the code: new ones
are added without a translation, and those that are gone are removed. `check` says what is wrong with them.
`missing` prints the messages of a language that have no translation.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from tools.error_messages import error_messages
from tools.table_messages import table_messages
from webui.translations.catalogue import FOLDER
from webui.translations.errors import CONTEXT
from webui.translations.language import DEFAULT, LANGUAGES

ROOT = Path(__file__).resolve().parent.parent
_SOURCES = [
    ("webui/templates/**.html", "jinja2"),
    ("webui/**.py", "python"),
    ("webui/static/**.js", "javascript"),
]
_OPTIONS = {
    "webui/templates/**.html": {"newstyle_gettext": "true", "trimmed": "true", "silent": "false"},
    "webui/static/**.js": {"parse_template_string": "true"},
}
_KEYWORDS = {
    "_": None,
    "N_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
}
_PLACEHOLDER = re.compile(r"%\((\w+)\)s|%%|%")

_BREAKING = re.compile(r"« | »|(?:^|\S) [:;!?](?=\s|$)")
"""In French, a sign with a space that does not keep it on the line of its word."""


@cache
def extract() -> Catalog:
    """All messages of the pages, with the files that they are in."""
    catalogue = Catalog(fuzzy=False)
    for path, _, message, comments, context in extract_from_dir(
        ROOT,
        _SOURCES,
        _OPTIONS,
        _KEYWORDS,
        comment_tags=("Translators:",),
        directory_filter=lambda folder: str(Path(folder).relative_to(ROOT)).split("/")[0] == "webui",
    ):
        catalogue.add(message, locations=[(path, 1)], auto_comments=comments, context=context)
    for place, text in table_messages():
        catalogue.add(text, locations=[(place, 1)])
    for error in error_messages():
        values = [f"v{n}: {code}" for n, code in enumerate(error.values, 1)]
        catalogue.add(error.text, locations=[(error.place, 1)], auto_comments=values, context=CONTEXT)
    return catalogue


def read(language: str) -> Catalog:
    """The catalogue of a language; an empty one if it has no file yet."""
    path = FOLDER / f"{language}.po"
    if not path.exists():
        return Catalog(language, fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def update(language: str) -> None:
    """Bring the file of a language in line with the messages in the code."""
    catalogue = read(language)
    old = {(message.context, _one(message)): message for message in catalogue if message.id}
    new = Catalog(language, fuzzy=False)
    for message in extract():
        if message.id:
            known = old.get((message.context, _one(message)))
            fits = known and isinstance(known.id, str) == isinstance(message.id, str)
            new.add(
                message.id,
                known.string if known and fits else None,
                locations=sorted(set(message.locations)),
                auto_comments=message.auto_comments,
                context=message.context,
            )
    (FOLDER / f"{language}.po").write_bytes(_written(new))


def _written(catalogue: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=110, omit_header=True, sort_output=True, include_lineno=False)
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    plural = f'"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'
    return (header + plural).encode() + buffer.getvalue()


def _one(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def check(language: str) -> Iterator[str]:
    """What is wrong with the catalogue of a language, a line each."""
    catalogue, expected = read(language), extract()
    known = {(message.context, _one(message)): message for message in catalogue if message.id}
    for message in expected:
        if not message.id:
            continue
        translation = known.pop((message.context, _one(message)), None)
        if translation is None or isinstance(translation.id, str) != isinstance(message.id, str):
            yield f"{language}: not in the catalogue: {message.id!r}"
            continue
        yield from (f"{language}: {text}: {message.id!r}" for text in _faults(translation, catalogue))
    yield from (f"{language}: no longer in the code: {text!r}" for _, text in known)


def _faults(message: Message, catalogue: Catalog) -> Iterator[str]:
    ids = [message.id] if isinstance(message.id, str) else list(message.id)
    strings = [message.string] if isinstance(message.string, str) else list(message.string or ())
    if not all(strings):
        yield "not translated"
        return
    if message.fuzzy:
        yield "fuzzy"
    if len(ids) > 1 and len(strings) != catalogue.num_plurals:
        yield f"{len(strings)} plural forms, not {catalogue.num_plurals}"
    placeholders = set(_PLACEHOLDER.findall(ids[-1])) - {""}
    for text in strings:
        own = set(_PLACEHOLDER.findall(text)) - {""}
        # A form for exactly one or two things may say so in words.
        if own != placeholders and not (len(ids) > 1 and own == placeholders - {"num"}):
            yield f"placeholders {sorted(own)}, not {sorted(placeholders)}"
        if catalogue.locale_identifier == "fr" and _BREAKING.search(text):
            yield "a space that breaks beside : ; ! ? « or »"


def main(arguments: list[str]) -> int:
    languages = [name for name in LANGUAGES if name != DEFAULT.name]
    match arguments:
        case ["update"]:
            for language in languages:
                update(language)
        case ["check"]:
            faults = [fault for language in languages for fault in check(language)]
            print("\n".join(faults) or "all messages are translated")
            return int(bool(faults))
        case ["missing", language]:
            for message in read(language):
                strings = [message.string] if isinstance(message.string, str) else message.string or ()
                if message.id and not (strings and all(strings)):
                    print(repr(message.id))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
