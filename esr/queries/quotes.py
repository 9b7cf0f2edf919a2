"""Quotation marks that enclose a phrase."""

from __future__ import annotations

import re

CLOSING_MARKS = {
    '"': '"',
    "“": "”",  # English, Spanish, Turkish, Chinese
    "„": "“”",  # German, Czech; Polish, Romanian, Dutch
    "”": "”",  # Swedish, Finnish
    "«": "»",  # French, Italian, Russian, Arabic
    "»": "«",  # Danish, German in print
    "「": "」",  # Japanese, Chinese
    "『": "』",
    "＂": "＂",  # as input methods for Chinese and Japanese type it
}
"""By the mark that opens a phrase, those that close it.

These are the marks of the languages that esr has analyzers for: phones and word processors type them
unasked. Single marks are left out, as most of them are apostrophes too. So is the »…» of Finnish, since »
also separates the parts of a path (Home » News » Europe).
"""

_CLOSING = {mark: re.compile(f"[{closing}]") for mark, closing in CLOSING_MARKS.items()}


class QuoteFinder:
    """Finds where the quotes of a text end.

    It knows in advance where each closing mark occurs for the last time. Otherwise a text of many marks
    without partners would take quadratic time, as each would be looked for up to the end.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = {
            mark: max(map(text.rfind, closing)) for mark, closing in CLOSING_MARKS.items() if mark in text
        }

    def opens_at(self, position: int) -> bool:
        """Is there a mark that opens quotes, with or without a partner?"""
        return self._text[position : position + 1] in CLOSING_MARKS

    def find_end(self, start: int) -> int | None:
        """The end of the quote that opens at `start`, behind its closing mark; None if it has none."""
        mark = self._text[start]
        if self._last[mark] <= start:
            return None
        closing = _CLOSING[mark].search(self._text, start + 1)
        assert closing
        return closing.end()
