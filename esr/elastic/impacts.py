"""Stored numbers that bound scores: impacts for one mixture, by sentence, and term maxima for any ranking.

An impact is how much more a term adds to a sentence than to a sentence far from the term. Impacts and term
maxima are stored as weights of sparse vectors. So Elasticsearch sums bounds by impacts without a script, and
skips sentences that cannot be among the best. Bounds must never be too low, so all numbers are rounded to the
safe side. Impacts depend on p(t|C), which deliveries change (`Slack`); term maxima do not.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.plans.bounds import Bound
from esr.plans.evaluate import Array, affine, beta, round_outward
from esr.plans.plan import Affine, CollectionStatistics, Mixture, Plan, PlanTerm, Statistics

IMPACTS_FIELD = "lifts"
"""The field of stored impacts. The name stays until the next index format."""
EMPTY = " "
"""A token that is no term. Its impact is the impact of a sentence for being short."""
IMPACT_BOOST = 2.0**123
"""The factor of stored weights. Impacts start at an eighth. Their weights are the smallest that Elasticsearch
takes, since its postings keep 16 bits of a weight, and fewer of small ones."""
_SMALLEST_WEIGHT = 2.0**-126
SHORT_SENTENCE = 6.0
"""Length below which a sentence has an impact for its length.

A greater length makes bounds tighter and searches slower.
"""
_SENTENCE, DOCUMENT_LENGTH = 13.0, 156.0
"""The lengths of a sentence and of its document for which a term that occurs once adds log(1 + scale / p)."""


@dataclass(frozen=True, slots=True)
class ImpactBase:
    """The part of a bound that all sentences share. The rest are their impacts. An index stores it.

    With p = p(t|C), and w_d and w_c, the weights of the document and of the collection in a sentence, a term
    of its document adds

        log p + log w_c + log(1 + x / p),   x = (near(t,s) + w_d c(t,d) / c(d)) / w_c

    to the sentence's score. The base has log w_c of a sentence of this `length`, and for each term in
    `context` log(1 + scale / p) instead of the last part. The impact is what the term adds above the base.
    Most impacts belong to terms near the sentence; the others to short documents, and to terms that are
    frequent in their document. A shorter sentence has a greater log w_c: the difference is a separate impact,
    common to all terms of a query. A smaller `scale` means more stored impacts, a greater one looser bounds.
    """

    transform: Mixture
    length: float
    scale: float

    @property
    def log_collection(self) -> float:
        """log w_c."""
        return float(log_collection(self.transform, np.array([self.length]))[0])


def choose_base(transform: Mixture) -> ImpactBase:
    """The base for the impacts of a new index."""
    scale = document_weights(transform, np.array([_SENTENCE]))[0] / DOCUMENT_LENGTH
    return ImpactBase(transform, SHORT_SENTENCE, float(scale))


def log_collection(transform: Mixture, lengths: Array) -> Array:
    """log w_c in sentences of these lengths."""
    weights: Array = np.log(affine(transform.collection, beta(transform, lengths)))
    return weights


def document_weights(transform: Mixture, lengths: Array) -> Array:
    """w_d / w_c, the weight of the document over that of the collection, in sentences of these lengths."""
    at = beta(transform, lengths)
    weights: Array = affine(transform.document, at) / affine(transform.collection, at)
    return weights


def impact_codes(impacts: Array) -> npt.NDArray[np.int32]:
    """The upper bits of the weights that encode impacts, rounded up: arguments of `short_float`."""
    eighths = np.maximum(impacts / (IMPACT_BOOST * _SMALLEST_WEIGHT), 1.0)
    # Weights are smaller by a power of two, so only their exponents differ.
    bits = round_outward(eighths, up=True).view(np.int32) - _impact_bits(1.0) + _impact_bits(_SMALLEST_WEIGHT)
    codes: npt.NDArray[np.int32] = -(-bits >> 15)
    return codes


def _impact_bits(number: float) -> int:
    return int(np.float32(number).view(np.int32))


_PARTS = ("sentence", "surrounding", "document", "collection")


@dataclass(frozen=True, slots=True)
class Slack:
    """The base of an index's impacts, and the slack that deliveries since its load add to bounds.

    Impacts are computed with p(t|C) at the time of their load. A bound grows by no more than log p(t|C)
    falls. `growth` is added for every term in a sentence's document, and `losses` for these terms in
    particular (docs/performance-elasticsearch-notes.md).
    """

    base: ImpactBase
    growth: float
    losses: Mapping[str, float]

    def slack_for(self, term: str) -> float:
        """The slack to add for this term if the document contains it."""
        return self.growth + self.losses.get(term, 0.0)

    def mean(self, terms: Sequence[PlanTerm]) -> float:
        """The weighted mean slack per term of a query, if all of its terms are in the document."""
        added = math.fsum(term.weight * self.slack_for(term.term) for term in terms)
        return added / math.fsum(term.weight for term in terms)


def describe_impacts(base: ImpactBase, collection: CollectionStatistics) -> dict[str, Any]:
    """The stored description of an index's impacts: their base and their collection.

    `least_occurrences` is the least collection length that any impacts were computed for. `lost` bounds the
    occurrences that any term has lost since the first impacts were computed.
    """
    return {
        "mu": base.transform.mu,
        **{name: list(getattr(base.transform, name)) for name in _PARTS},
        "length": base.length,
        "scale": base.scale,
        **_describe_collection(collection),
        "least_occurrences": collection.occurrences,
        "lost": 0,
    }


def describe_after_delivery(
    description: Mapping[str, Any], before: CollectionStatistics, after: CollectionStatistics, lost: int
) -> dict[str, Any]:
    """The description after a delivery. The delivery's own impacts are for the collection `after` it.

    `lost` is the most occurrences that any term loses by the delivery. Returns {} if the impacts do not apply
    to `before`.
    """
    if not _describes(description, before):
        return {}
    return {
        **description,
        **_describe_collection(after),
        "least_occurrences": min(description["least_occurrences"], after.occurrences),
        "lost": description["lost"] + lost,
    }


def _describe_collection(collection: CollectionStatistics) -> dict[str, int]:
    return {name: getattr(collection, name) for name in ("documents", "sentences", "occurrences")}


def _describes(description: Mapping[str, Any], collection: CollectionStatistics) -> bool:
    """Whether the impacts are for this collection. A load that set documents aside changes the collection."""
    return "lost" in description and _describe_collection(collection).items() <= description.items()


def described_base(description: Mapping[str, Any]) -> ImpactBase:
    """The base in a stored description."""
    transform = Mixture(description["mu"], *(Affine(*description[name]) for name in _PARTS))
    return ImpactBase(transform, description["length"], description["scale"])


def find_slack(description: Mapping[str, Any], plan: Plan, statistics: Statistics) -> Slack | None:
    """The base and slack of bounds by impacts for a plan; None if the impacts do not apply to it.

    `statistics` are those of the plan's terms.
    """
    transform, collection = plan.transform, statistics.collection
    if not isinstance(transform, Mixture) or not _describes(description, collection):
        return None
    base = described_base(description)
    if base.transform != transform:
        return None
    for term in plan.terms:
        if not term.own or term.weight <= 0 or term.term not in statistics.terms:
            return None
        if term.background != collection.background(statistics.terms[term.term]):
            return None
    growth = collection.occurrences / max(description["least_occurrences"], 1)
    losses = {}
    if description["lost"]:
        for term in plan.terms:
            left = max(statistics.terms[term.term].cf, 1)
            losses[term.term] = math.log((left + description["lost"]) / left)
    return Slack(base, math.log(max(growth, 1.0)), losses)


def has_bounds(transform: Mixture, collection: CollectionStatistics) -> bool:
    """Whether this mixture has bounds at all."""
    return Bound(transform, collection.longest_sentence).unavailable_reason([]) is None


# Term maxima. Of a term in a document: its greatest count in one sentence, the length of the shortest
# sentence that contains it, and its greatest share in the surrounding of any sentence, c(t,c_s)/c(c_s). The
# three are packed into one number, a weight of a sparse vector, whose postings keep 16 bits of it. Lengths
# and shares are small floats, with two bits behind the leading one, which scripts unpack without computing.
MAXIMA_FIELD = "term_maxima"
"""The stored field of the term maxima."""
COUNTS, LENGTHS, SHARES = 8, 32, 64
"""The number of values of each part. The last count means: unknown."""
_SHORTEST_LENGTH, _SMALLEST_SHARE = 1.0, 2.0**-15
"""The smallest length and the smallest share that can be stored."""
_DROPPED_BITS = 21
"""Bits of a 32-bit float that a small float drops."""
FIRST = 24320
"""The upper bits of the weight of code 0. They make weights numbers around 1, which are short as JSON."""
_LENGTH_BITS = 21
"""Bits of each number in `extent`."""
GREATEST_LENGTH = (1 << _LENGTH_BITS) - 1
"""The greatest length that `extent` can store. A document's length is only a divisor, so a smaller one still
gives a bound. A longer sentence has no bound: searches of a collection with one score every candidate."""


def pack_lengths(document_length: int, sentence_lengths: Sequence[int]) -> int:
    """The field `extent`: the lengths of a document, of its longest and of its shortest sentence."""
    lengths = document_length, max(sentence_lengths, default=0), min(sentence_lengths, default=0)
    document, longest, shortest = (min(length, GREATEST_LENGTH) for length in lengths)
    return document << 2 * _LENGTH_BITS | longest << _LENGTH_BITS | shortest


def pack_maxima(counts: Array, lengths: Array, shares: Array) -> npt.NDArray[np.int32]:
    """The codes of maxima, all of one shape. Counts and shares are rounded up, lengths are rounded down.

    Counts and lengths are at least 1, shares are above 0.
    """
    bit_lengths = np.frexp(counts - 1)[1]
    count_codes = np.where(counts <= 4, counts - 1, np.minimum(bit_lengths + 1, COUNTS - 1))
    length_codes = (_small_floats(lengths) >> _DROPPED_BITS) - (
        _maximum_bits(_SHORTEST_LENGTH) >> _DROPPED_BITS
    )
    share_bits = _small_floats(np.minimum(shares * (1 + 1e-6), 1.0))  # 32 bits may round the share down
    share_codes = -(-share_bits >> _DROPPED_BITS) - (_maximum_bits(_SMALLEST_SHARE) >> _DROPPED_BITS)
    high = np.maximum(share_codes, 0) * LENGTHS + np.minimum(length_codes, LENGTHS - 1)
    codes: npt.NDArray[np.int32] = (high * COUNTS + count_codes).astype(np.int32)
    return codes


@lru_cache(COUNTS * LENGTHS * SHARES)
def code_weight(code: int) -> float:
    """The weight of a code: `code + FIRST` are the upper bits of its float, which Elasticsearch keeps."""
    return short_float(code + FIRST)


def short_float(upper_bits: int) -> float:
    """A positive number with few digits whose 32-bit float has these 16 upper bits below the sign.

    These are the bits of a weight that the postings of a sparse vector keep.
    """
    low, high = (_float((upper_bits + more) << 15) for more in (0, 1))
    return float(f"{(low + high) / 2:.3e}")


def _small_floats(numbers: Array) -> npt.NDArray[np.int32]:
    """The bits of the numbers as 32-bit floats."""
    return numbers.astype(np.float32).view(np.int32)


def _maximum_bits(number: float) -> int:
    bits: int = struct.unpack("i", struct.pack("f", number))[0]
    return bits


def _float(bits: int) -> float:
    number: float = struct.unpack("f", struct.pack("i", bits))[0]
    return number
