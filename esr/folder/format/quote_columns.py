"""The quotations of a layer: their spans, and a table of the texts of speakers, names and verbs.

`quote.ends` has the number of quotations up to the end of each sentence, `quote.spans` the start and end of
each. `quote.of` has the numbers in the table of each quotation's speaker, speaker's key, name and verb, -1
for none. The texts are in code point order. `quote.certainty` has the place of each quotation's certainty in
_CERTAINTIES; it is missing where nothing is known, as in layers of earlier versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Arrays, Mask, Numbers
from esr.folder.format.strings import find_string
from esr.index.names import name_key
from esr.stdlib import cached_property
from esr.text.document import CERTAIN, PROBABLE, Quote

_CERTAINTIES = (None, PROBABLE, CERTAIN)
_TEXTS = 4
"""Number of texts of each quotation: speaker, speaker's key, name, verb."""


def encode_quotes(sentences: Sequence[Sequence[Quote]]) -> Arrays:
    """The arrays of the quotations of these sentences."""
    quotes = [quote for sentence in sentences for quote in sentence]
    rows = [(q.speaker, None if q.speaker is None else name_key(q.speaker), q.name, q.cue) for q in quotes]
    table = sorted({text for row in rows for text in row if text is not None})
    numbers: dict[str | None, int] = {text: number for number, text in enumerate(table)}
    return {
        "quote.ends": np.cumsum([0, *map(len, sentences)], dtype=np.int64),
        "quote.spans": np.array([n for quote in quotes for n in (quote.start, quote.end)], np.int32),
        "quote.of": np.array([numbers.get(text, -1) for row in rows for text in row], np.int32),
        **_certainties([_CERTAINTIES.index(quote.certainty) for quote in quotes]),
        **_table(table),
    }


def _certainties(numbers: Sequence[int] | npt.NDArray[np.int8]) -> Arrays:
    column = np.asarray(numbers, np.int8)
    return {"quote.certainty": column} if column.any() else {}


def _table(texts: Sequence[str]) -> Arrays:
    encoded = [text.encode() for text in texts]
    return {
        "quote.text_ends": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        "quote.texts": np.frombuffer(b"".join(encoded), np.uint8),
    }


class LayerQuotes:
    """The quotations of a layer, whose sentences are numbered from 0."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.ends: npt.NDArray[Any] = arrays["quote.ends"]
        self.spans: npt.NDArray[Any] = arrays["quote.spans"]
        self.of: npt.NDArray[Any] = arrays["quote.of"].reshape(-1, _TEXTS)
        unknown = np.zeros(len(self.of), np.int8)
        self.certainty: npt.NDArray[np.int8] = arrays.get("quote.certainty", unknown)
        self._text_ends, self._bytes = arrays["quote.text_ends"], arrays["quote.texts"]

    @property
    def texts(self) -> list[str]:
        return [self._encoded(number).decode() for number in range(len(self._text_ends) - 1)]

    def read(self, sentences: Numbers) -> list[tuple[Quote, ...]]:
        """The quotations of each of these sentences."""
        starts, stops = self.ends[sentences].tolist(), self.ends[sentences + 1].tolist()
        return [tuple(map(self._quote, range(*bounds))) for bounds in zip(starts, stops, strict=True)]

    def select(self, sentences: Mask) -> Arrays:
        """The arrays of the quotations of these sentences."""
        sizes = np.diff(self.ends)
        remain = np.repeat(sentences, sizes)
        of, texts = self.of[remain], self.texts
        used = np.zeros(len(texts) + 1, bool)
        used[of] = True  # -1, for none, marks the last one
        new = np.cumsum(used, dtype=np.int32) - 1
        new[-1] = -1
        return {
            "quote.ends": np.cumsum([0, *sizes[sentences]], dtype=np.int64),
            "quote.spans": self.spans.reshape(-1, 2)[remain].reshape(-1),
            "quote.of": new[of].reshape(-1),
            **_certainties(self.certainty[remain]),
            **_table([text for text, is_used in zip(texts, used[:-1].tolist(), strict=True) if is_used]),
        }

    def has_quote(self) -> Mask:
        """Mask of the sentences with a quotation."""
        mask: Mask = np.diff(self.ends) > 0
        return mask

    def said_by(self, keys: Iterable[str], probable: bool = True) -> Mask:
        """Mask of the sentences with a quotation whose speaker or name has one of these keys.

        `probable`: also if the speaker is only probable.
        """
        speakers: list[int] = []
        names: list[int] = []
        for key in keys:
            number = find_string(len(self._text_ends) - 1, self._encoded, key)
            speakers += [] if number is None else [number]
            names += self._names.get(key, ())
        mask = np.zeros(len(self.ends) - 1, bool)
        is_own = np.isin(self.of[:, 1], speakers) | np.isin(self.of[:, 2], names)
        if not probable:
            is_own &= self.certainty != _CERTAINTIES.index(PROBABLE)
        quotes = np.flatnonzero(is_own)
        mask[np.searchsorted(self.ends, quotes, "right") - 1] = True
        return mask

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        """The numbers of names by key. Names given in documents need not be keys."""
        names: dict[str, list[int]] = {}
        for number in sorted({*self.of[:, 2].tolist()} - {-1}):
            names.setdefault(name_key(self._encoded(number).decode()), []).append(number)
        return names

    def _quote(self, number: int) -> Quote:
        start, end = self.spans[2 * number : 2 * number + 2].tolist()
        speaker, _, name, cue = map(self._text, self.of[number].tolist())
        return Quote(start, end, speaker, name, cue, _CERTAINTIES[self.certainty[number]])

    def _text(self, number: int) -> str | None:
        return None if number < 0 else self._encoded(number).decode()

    def _encoded(self, number: int) -> bytes:
        return self._bytes[self._text_ends[number] : self._text_ends[number + 1]].tobytes()


def merge_quotes(layers: Sequence[LayerQuotes]) -> Arrays:
    """The arrays of the concatenated quotations of several layers."""
    table = sorted({text for layer in layers for text in layer.texts})
    numbers = {text: number for number, text in enumerate(table)}
    of = [
        np.array([*(numbers[text] for text in layer.texts), -1], np.int32)[layer.of].reshape(-1)
        for layer in layers
    ]
    shifts = np.cumsum([0, *(layer.ends[-1] for layer in layers)])
    ends = [layer.ends[1:] + shift for layer, shift in zip(layers, shifts, strict=False)]
    return {
        "quote.ends": np.concatenate([np.zeros(1, np.int64), *ends]),
        "quote.spans": np.concatenate([layer.spans for layer in layers]),
        "quote.of": np.concatenate([np.zeros(0, np.int32), *of]),
        **_certainties(np.concatenate([np.zeros(0, np.int8), *(layer.certainty for layer in layers)])),
        **_table(table),
    }
