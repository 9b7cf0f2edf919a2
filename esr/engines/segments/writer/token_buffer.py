"""The terms of a segment, numbered in the order of their first occurrence, copied out of batches."""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt

from esr.analysis.term_encoder import EncodedTexts

Numbers = npt.NDArray[np.int32]


class TokenBuffer:
    """The terms of all texts, concatenated. The last text of each document is its title."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        """The numbers of the terms."""
        self._tokens = array("i")
        self._lengths = array("i")
        self._batch = EncodedTexts([], np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._texts = self._numbers = slice(0, 0)

    def add(self, batch: EncodedTexts, texts: slice, numbers: slice) -> None:
        """Add a document: its slices of a batch's texts and of their terms."""
        if batch is self._batch and texts.start == self._texts.stop:
            self._texts = slice(self._texts.start, texts.stop)
            self._numbers = slice(self._numbers.start, numbers.stop)
        else:
            self._copy()
            self._batch, self._texts, self._numbers = batch, texts, numbers

    def finish(self) -> tuple[Numbers, Numbers]:
        """The numbers of all terms, and how many each text has."""
        self._copy()
        self._texts = self._numbers = slice(0, 0)
        return np.frombuffer(self._tokens, np.int32), np.frombuffer(self._lengths, np.int32)

    def _copy(self) -> None:
        """Copy consecutive documents of a batch. Its others are in other segments, or set aside."""
        terms, numbers = self._batch.terms, self._batch.term_ids[self._numbers]
        present = np.flatnonzero(np.bincount(numbers, minlength=len(terms)))
        renumbered = np.zeros(len(terms), np.int32)
        number_of = self.terms.setdefault
        renumbered[present] = [number_of(terms[n], len(self.terms)) for n in present.tolist()]
        self._tokens.frombytes(renumbered[numbers].tobytes())
        self._lengths.frombytes(self._batch.lengths[self._texts].tobytes())
