"""Values of arguments, by their types."""

from __future__ import annotations

from typing import Any

from esr.arguments.types import Day, Flag, LanguageCode, LanguageCodes, Only, Pairs, Texts


def example_value(type: Any) -> str:
    """A value of an argument as an address has it."""
    match type:
        case Flag():
            return type.words[0]
        case Day():
            return "2017-03"
        case Pairs():
            return "desk=Berlin"
        case LanguageCodes():
            return "de,ar"
        case LanguageCode():
            return "de"
        case Only():
            return next(iter(type.labels))
        case Texts():
            return "Northern Wire"
    raise TypeError(f"no example of {type}")
