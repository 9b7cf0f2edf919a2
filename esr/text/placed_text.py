"""Texts that know where their sentences are: the page of a file, or the second of a recording.

Places are features of sentences, so both engines store them and boosts can use them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from unicodedata import normalize

PAGE = "page"
"""The number of a page in its file, from 1."""
SECOND = "second"
"""Seconds from the beginning of a recording."""
CONFIDENCE = "confidence"
"""The confidence of text recognition in its letters, from 0 to 1."""

Places = Mapping[str, float]


class PlacedText(str):
    """A text in NFC with the places of its sentences.

    `places` are pairs of a number of characters, not counting white space, and the features of a sentence
    that begins after that many.
    """

    places: tuple[tuple[int, Places], ...] = ()


def join_pieces(pieces: Iterable[tuple[str, Places]], separator: str = "\n\n") -> PlacedText:
    """Join pieces, each given with the places of the sentences that begin in it."""
    texts: list[str] = []
    places: list[tuple[int, Places]] = []
    count = 0
    for piece, features in pieces:
        text = normalize("NFC", piece)
        if not text.strip():
            continue
        if not places or places[-1][1] != features:
            places.append((count, features))
        count += _count_characters(text)
        texts.append(text)
    joined = PlacedText(separator.join(texts))
    joined.places = tuple(places)
    return joined


def find_places(text: str, sentences: Iterable[str]) -> Iterator[Places]:
    """The features of each sentence of a text, which must be all of its sentences, in order."""
    places = text.places if isinstance(text, PlacedText) else ()
    count = n = 0
    for sentence in sentences:
        while n + 1 < len(places) and places[n + 1][0] <= count:
            n += 1
        yield places[n][1] if places else {}
        count += _count_characters(sentence) if places else 0


def _count_characters(text: str) -> int:
    return sum(map(len, text.split()))


def describe_place(features: Places) -> str | None:
    """Where a sentence is, for readers: "page 3", or the time "1:02:45"; None if its features do not say."""
    if (second := features.get(SECOND)) is not None and second >= 0:
        minutes, seconds = divmod(int(second), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    page = features.get(PAGE)
    return None if page is None else f"page {page:g}"
