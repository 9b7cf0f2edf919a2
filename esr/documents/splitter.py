"""Text to sentences, by nupunkt: about the best boundaries of all splitters, at 60,000 sentences a second."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Protocol, cast

# A blank line ends a paragraph. It may hold blanks.
_PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
# No word is this long. nupunkt's time grows with the square of a run of "!", "?" or quotes
# (250,000 of them took 40 s), so such a run is cut out and stands as a sentence of its own.
_MONSTER = re.compile(r"((?<!\S)\S{1000,})")


class _Tokenizer(Protocol):
    def tokenize(self, text: str) -> Iterator[str]: ...


@cache
def _tokenizer() -> _Tokenizer:
    import nupunkt  # here, since it is only needed where texts come unsplit

    return cast(_Tokenizer, nupunkt.load("default"))


def split(text: str) -> list[str]:
    """The sentences of an English text, in order. None of them is empty or crosses a blank line.

    Within a sentence each run of whitespace becomes one blank, so that text wrapped into lines reads
    as one line; nothing else of the text is changed or lost.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    tokenize = _tokenizer().tokenize
    sentences: list[str] = []
    for paragraph in _PARAGRAPH_BREAK.split(text):
        for number, piece in enumerate(_MONSTER.split(paragraph)):
            pieces = [piece] if number % 2 else tokenize(piece)
            sentences += filter(None, (" ".join(sentence.split()) for sentence in pieces))
    return sentences
