"""The terms of a segment, numbered as they come, and where they stand: taken out of batches."""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt

from esr.analysis.term_encoder import EncodedTexts

Numbers = npt.NDArray[np.int32]


class Tokens:
    """The terms of texts, end to end. The last text of each document is its title."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        """Their numbers."""
        self._tokens = array("i")
        self._lengths = array("i")
        self._batch = EncodedTexts([], np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._texts = self._numbers = slice(0, 0)

    def add(self, batch: EncodedTexts, texts: slice, numbers: slice) -> None:
        """Take a document: its texts' places in a batch, and those of its terms' numbers."""
        if batch is self._batch and texts.start == self._texts.stop:
            self._texts = slice(self._texts.start, texts.stop)
            self._numbers = slice(self._numbers.start, numbers.stop)
        else:
            self._take()
            self._batch, self._texts, self._numbers = batch, texts, numbers

    def taken(self) -> tuple[Numbers, Numbers]:
        """The numbers of all terms that were taken, and how many each text has."""
        self._take()
        self._texts = self._numbers = slice(0, 0)
        return np.frombuffer(self._tokens, np.int32), np.frombuffer(self._lengths, np.int32)

    def _take(self) -> None:
        """Take what was added of a batch. Its other documents are of other segments, or set aside."""
        terms, numbers = self._batch.terms, self._batch.term_ids[self._numbers]
        here = np.flatnonzero(np.bincount(numbers, minlength=len(terms)))
        own = np.zeros(len(terms), np.int32)
        number = self.terms.setdefault
        own[here] = [number(terms[n], len(self.terms)) for n in here.tolist()]
        self._tokens.frombytes(own[numbers].tobytes())
        self._lengths.frombytes(self._batch.lengths[self._texts].tobytes())
