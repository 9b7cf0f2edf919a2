"""What the codes of term maxima mean, as the scripts of Elasticsearch unpack them."""

from __future__ import annotations

import math
import struct

from esr.elastic.lifts import COUNTS, LENGTHS

_SMALLEST_LENGTH = 0x3F800000
"""The bits of 1, as a float."""
_SMALLEST_SHARE = 0x38000000
"""The bits of 2^-15."""
_STEP = 1 << 21
"""From one float of two bits behind the leading one to the next."""


def unpack_maxima(code: int) -> tuple[float, float, float]:
    """The count (infinite if unknown), the length and the share of a code."""
    count_code, rest = code % COUNTS, code // COUNTS
    length_code, share_code = rest % LENGTHS, rest // LENGTHS
    if count_code < 4:
        count = count_code + 1.0
    else:
        count = 2.0 ** (count_code - 1) if count_code < COUNTS - 1 else math.inf
    return count, _float(_SMALLEST_LENGTH + length_code * _STEP), _float(_SMALLEST_SHARE + share_code * _STEP)


def _float(bits: int) -> float:
    number: float = struct.unpack("f", struct.pack("i", bits))[0]
    return number
