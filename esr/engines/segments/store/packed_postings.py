"""Postings of terms in sentences, one number each: that of the sentence, and in its low bits the count.

Nearly all counts are 1, so a column of their own would be a fifth of the postings. All postings of a segment
have the same number of bits for the count, so they ascend by sentence as the numbers alone do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
POSTINGS, COUNT_BITS = "sentence_postings", "sentence_count_bits"
"""The columns of a segment: the postings, and one number, how many of their bits are the count."""


def pack(sentences: Array, counts: Array) -> dict[str, Array]:
    """The columns for these postings: 4 bytes each if numbers and counts have no more than 31 bits."""
    bits = int(counts.max(initial=0)).bit_length()
    packed = sentences.astype(np.int64) << bits | counts
    if packed.max(initial=0) <= np.iinfo(np.int32).max:
        packed = packed.astype(np.int32)
    return {POSTINGS: packed, COUNT_BITS: np.array([bits], np.uint8)}


def unpack(packed: Array, bits: int) -> tuple[Array, Array]:
    """The sentences and the counts of these postings."""
    return packed >> bits, packed & ((1 << bits) - 1)
