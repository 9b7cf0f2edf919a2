"""Lifts: how much more a term adds to a sentence than to one far from it, stored for one mixture.

With w_d and w_c, the weights of the document and of the collection in a sentence, a term of its
document adds

    log p + log w_c + log(1 + x / p),   x = (near(t,s) + w_d c(t,d) / c(d)) / w_c

to its score. Bounds take log w_c of a short sentence, and log(1 + scale / p) instead of the last part for
each term that is in `context`: the base. What a term adds above that is stored, rounded up: its lift. Most
lifts are those of the terms near the sentence; others are of short documents, and of terms that are
frequent in theirs. In a shorter sentence than the base's, log w_c is greater: that is a lift too, for all
terms of a query alike.

All of that together bounds the score. Elasticsearch adds it up without a script, and leaves out
sentences that cannot be among the best.

p is p(t|C) of when the sentence was loaded: docs/performance.md, "Lifts after a delivery".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from esr.plans.evaluate import affine, beta
from esr.plans.evidence import Array
from esr.plans.plan import Mixture
from esr.plans.rounding import round_outward

LIFTS_FIELD = "lifts"
EMPTY = " "
"""Stands for no term: its lift is that of a short sentence."""
LIFT_BOOST = 2.0**123
"""What a stored weight is multiplied with: lifts are of an eighth and more. The weights are the smallest that
Elasticsearch takes, since its postings keep 16 bits of a weight, and fewer of small ones."""
_SMALLEST_WEIGHT = 2.0**-126
_SHORT = 6.0
"""Shorter sentences have a lift for their length. With more of them, bounds are tighter, and slower."""
_SENTENCE, _DOCUMENT = 13.0, 156.0
"""The lengths of a sentence and of its document for which a term that occurs once adds log(1 + scale / p)."""


@dataclass(frozen=True, slots=True)
class LiftBase:
    """What bounds take of any sentence, without its lifts.

    `length` is that of the sentence whose log w_c they take. `scale` is as above: with less, more lifts are
    stored; with more, bounds are less tight. An index says both (`lift_description.py`).
    """

    transform: Mixture
    length: float
    scale: float

    @property
    def log_collection(self) -> float:
        """log w_c."""
        return float(log_collection(self.transform, np.array([self.length]))[0])


def choose_base(transform: Mixture) -> LiftBase:
    """The base for the lifts of a new index."""
    scale = document_weights(transform, np.array([_SENTENCE]))[0] / _DOCUMENT
    return LiftBase(transform, _SHORT, float(scale))


def log_collection(transform: Mixture, lengths: Array) -> Array:
    """log w_c in sentences of these lengths."""
    weights: Array = np.log(affine(transform.collection, beta(transform, lengths)))
    return weights


def document_weights(transform: Mixture, lengths: Array) -> Array:
    """The weight of the document over that of the collection, in sentences of these lengths: w_d / w_c."""
    at = beta(transform, lengths)
    weights: Array = affine(transform.document, at) / affine(transform.collection, at)
    return weights


def lift_codes(lifts: Array) -> npt.NDArray[np.int32]:
    """The upper bits of the weights that stand for lifts, rounded up: `store.term_maxima.short_float`."""
    eighths = np.maximum(lifts / (LIFT_BOOST * _SMALLEST_WEIGHT), 1.0)
    # Weights are smaller by a power of two, so only their exponents are different.
    bits = round_outward(eighths, up=True).view(np.int32) - _bits(1.0) + _bits(_SMALLEST_WEIGHT)
    codes: npt.NDArray[np.int32] = -(-bits >> 15)
    return codes


def _bits(number: float) -> int:
    return int(np.float32(number).view(np.int32))
