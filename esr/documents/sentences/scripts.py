"""The script that most letters of a text belong to."""

from __future__ import annotations

import re

SAMPLE = 2_000
"""How many characters of a text are looked at."""

_SCRIPTS = {
    "ja": r"\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "zh": r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "th": r"\u0e00-\u0eff",
    "hi": r"\u0900-\u097f",
    "ar": r"\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff",
    "ru": r"\u0400-\u052f",
    "el": r"\u0370-\u03ff\u1f00-\u1fff",
}
"""By the language whose rules suit it, a script's letters."""
_LETTERS = {language: re.compile(f"[{letters}]") for language, letters in _SCRIPTS.items()}
_ANY_LETTER = re.compile(f"[{''.join(_SCRIPTS.values())}]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


def find_script_language(text: str) -> str | None:
    """The language whose rules suit the script of a text; None for Latin and for scripts without rules."""
    sample = text[:SAMPLE]
    if text.isascii() or not _ANY_LETTER.search(sample):
        return None
    counts = {language: len(letters.findall(sample)) for language, letters in _LETTERS.items()}
    # Japanese has as many Han characters as Kana, and Chinese has no Kana.
    if 10 * counts["ja"] > counts["zh"]:
        counts["ja"] += counts["zh"]
    language = max(counts, key=lambda language: counts[language])
    return language if counts[language] > len(_LATIN.findall(sample)) else None
