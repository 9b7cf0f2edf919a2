"""What terms add at most in each document, kept in memory once a query has asked for them.

It depends on the transform, the term and its background, and on nothing else of the query: `Bound.most`. So
the bounds of a query are an addition for each document of each term. Values are rounded up to 32 bits; those
of all terms stand one after another in one array, which is never changed where it is filled.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.layout import HYPERBOLA, LOGARITHM, MIXTURE
from esr.engines.segments.reader.postings import of_term
from esr.plans.bounds import Bound
from esr.plans.plan import Mixture, PlanTerm, Saturation

if TYPE_CHECKING:
    from esr.engines.segments.reader.document_table import Spans
    from esr.engines.segments.reader.snapshot import Snapshot

Values = npt.NDArray[np.float32]
_Key = tuple[str, float, bool, bool]
"""A term, its p(t|C), whether it is the query's own, whether its weight is below 0."""
LIMIT = 1 << 28
"""Bytes that a commit's impacts may take, of all transforms together."""


class Kept(NamedTuple):
    """The impacts of a plan's terms: one array, and where each term's begin. A term has its documents' by
    segment, in the order of the postings. `greatest` is what any of them is at most, times its weight."""

    values: Values
    starts: list[int]
    greatest: float


class Impacts:
    """Of one transform in one commit. Threads share it."""

    def __init__(self, transform: Mixture | Saturation, snapshot: Snapshot) -> None:
        self.bound = Bound(transform, snapshot.collection.longest_sentence)
        self.shape, self.numbers = _numbers(transform)
        """The transform as the kernel takes it."""
        self._fields = set(transform.fields())
        self._ends: tuple[Values, Values] | None = None
        self._lengths: npt.NDArray[np.float64] | None = None
        self._values: Values = np.zeros(0, np.float32)
        self._used = 0
        self._known: dict[_Key, tuple[int, float]] = {}
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return self._values.nbytes + (0 if self._ends is None else 2 * self._ends[0].nbytes)

    def ends(self, spans: Spans) -> tuple[Values, Values]:
        """`Bound.ends` of all documents."""
        if self._ends is None:
            high, low = self.bound.ends(spans.shortest, spans.longest)
            self._ends = outward(high, up=True), outward(low, up=False)
        return self._ends

    def lengths(self) -> npt.NDArray[np.float64]:
        """`Bound.lengths`."""
        if self._lengths is None:
            self._lengths = self.bound.lengths()
        return self._lengths

    def of(self, terms: Sequence[PlanTerm], snapshot: Snapshot) -> Kept:
        """The impacts of these terms, made where they are not yet."""
        keys = [(term.term, term.background, term.own, term.weight < 0) for term in terms]
        with self._lock:
            if not all(map(self._known.__contains__, keys)):
                self._fill(dict(zip(keys, terms, strict=True)), snapshot)
            places, values = [self._known[key] for key in keys], self._values
        greatest = [abs(term.weight) * most for term, (_, most) in zip(terms, places, strict=True)]
        return Kept(values, [start for start, _ in places], max(greatest, default=0.0))

    def _fill(self, asked: Mapping[_Key, PlanTerm], snapshot: Snapshot) -> None:
        """Keep the impacts of these terms. Where there is no room for more, all others go."""
        made = {key: self._made(term, snapshot) for key, term in asked.items() if key not in self._known}
        if (self._used + sum(map(len, made.values()))) * self._values.itemsize > LIMIT:
            self._known, self._used, self._values = {}, 0, np.zeros(0, np.float32)
            made = {key: self._made(term, snapshot) for key, term in asked.items()}
        for key, values in made.items():
            self._keep(key, values)

    def _made(self, term: PlanTerm, snapshot: Snapshot) -> Values:
        rows, entries = of_term(snapshot, term.term, self._fields)
        return outward(self.bound.most(term, rows, entries), up=term.weight >= 0)

    def _keep(self, key: _Key, values: Values) -> None:
        end = self._used + len(values)
        if end > len(self._values):
            # Searches that run keep the array that they have.
            grown = np.empty(max(2 * len(self._values), end, 1 << 16), np.float32)
            grown[: self._used] = self._values[: self._used]
            self._values = grown
        self._values[self._used : end] = values
        self._known[key] = self._used, float(np.abs(values).max(initial=0.0))
        self._used = end


def impacts(transform: Mixture | Saturation, snapshot: Snapshot) -> Impacts:
    """The impacts of a transform. Those that were not asked for the longest are forgotten first."""
    kept = snapshot.impacts
    with snapshot.lock:
        found = kept.pop(transform, None) or Impacts(transform, snapshot)
        kept[transform] = found
        while len(kept) > 1 and sum(each.nbytes for each in kept.values()) > LIMIT:
            del kept[next(iter(kept))]
    return found


def _numbers(transform: Mixture | Saturation) -> tuple[int, npt.NDArray[np.float64]]:
    fields = (transform.sentence, transform.surrounding, transform.document)
    numbers = [number for field in fields for number in field]
    if isinstance(transform, Mixture):
        return MIXTURE, np.array([transform.mu, *numbers, *transform.collection])
    shape = LOGARITHM if transform.k1 is None else HYPERBOLA
    return shape, np.array([transform.k1 or 0.0, *numbers])


def outward(values: npt.NDArray[np.float64], *, up: bool) -> Values:
    """Rounded to the side where a bound stays one."""
    near = values.astype(np.float32)
    wrong = near < values if up else near > values
    near[wrong] = np.nextafter(near[wrong], np.float32(np.inf if up else -np.inf))
    return near
