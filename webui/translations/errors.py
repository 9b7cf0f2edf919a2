"""The messages of errors in the language of the page.

esr raises errors in English, with the values at fault in the message. A message is written once, where the
error is raised; `tools/error_messages.py` extracts it from there with a placeholder for each value. Here the
message becomes a pattern that finds it again, with its values.
"""

from __future__ import annotations

import re
from functools import lru_cache

from webui.translations.language import DEFAULT, Language, as_sentence, current_language

CONTEXT = "error"
"""The context of the messages of errors in the catalogues."""
_OPTION = re.escape("--")
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def translate_error(message: str) -> str:
    """The message of an error as a sentence in the language of the page; unchanged without a translation."""
    language = current_language()
    if language is DEFAULT:
        return message
    translated = _translate(language, message.removesuffix(".")) or _translate(language, message)
    return message if translated is None else as_sentence(translated)


def _translate(language: Language, text: str) -> str | None:
    for pattern, translation in _patterns(language):
        if match := pattern.fullmatch(text):
            values = match.groupdict()
            return translation % {name: _translate_value(language, value) for name, value in values.items()}
    return None


def _translate_value(language: Language, value: str) -> str:
    """A value may be a message or a word of the pages, such as the name of an interval."""
    return _translate(language, value) or language.catalogue.translate(value)


@lru_cache(maxsize=16)
def _patterns(language: Language) -> list[tuple[re.Pattern[str], str]]:
    """The messages of errors, those with the longest text first, with their translations."""
    messages = [
        (key[1], forms[0])
        for key, forms in language.catalogue.messages.items()
        if isinstance(key, tuple) and key[0] == CONTEXT
    ]
    messages.sort(key=lambda message: -len(_PLACEHOLDER.sub("", message[0])))
    return [(_compile(message), translation) for message, translation in messages]


def _compile(message: str) -> re.Pattern[str]:
    """What matches the message with values in its placeholders, as pages show it.

    Its first letter may be a capital, and options may have become arguments (`blame_argument`).
    """
    pattern = ""
    for position, part in enumerate(_PLACEHOLDER.split(message)):
        text = re.escape(part.replace("%%", "%")).replace(_OPTION, f"(?:{_OPTION})?")
        text = text.replace(r"query\-language", "query[-_]language")
        pattern += f"(?P<{part}>.+?)" if position % 2 else text
    if message[:1].isalpha():
        pattern = f"[{message[0]}{message[0].upper()}]{pattern[1:]}"
    return re.compile(pattern, re.DOTALL)
