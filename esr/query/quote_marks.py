"""Quotation marks in queries: where a quote begins and ends."""

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
"""The marks that may close a phrase, by the mark that opens it.

These are the marks of the languages that esr has analyzers for, as phones and word processors insert them
automatically. Single marks are left out, since most are apostrophes. So is the »…» of Finnish, since » also
separates the parts of a path (Home » News » Europe).
"""

_CLOSING = {mark: re.compile(f"[{closing}]") for mark, closing in CLOSING_MARKS.items()}


class QuoteFinder:
    """Finds where the quotes of a text end.

    It records the last position of each closing mark in advance. Otherwise, a text with many unmatched marks
    would take quadratic time.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = {
            mark: max(map(text.rfind, closing)) for mark, closing in CLOSING_MARKS.items() if mark in text
        }

    def opens_at(self, position: int) -> bool:
        """Whether there is an opening mark, matched or not."""
        return self._text[position : position + 1] in CLOSING_MARKS

    def find_end(self, start: int) -> int | None:
        """The end of the quote that opens at `start`, after its closing mark; None if unmatched."""
        mark = self._text[start]
        if self._last[mark] <= start:
            return None
        closing = _CLOSING[mark].search(self._text, start + 1)
        assert closing
        return closing.end()
