"""What a term can add to a sentence of a document at most, whatever the plan: what pruning stands on.

A sentence that holds the term is a *row*: its exact evidence is at hand, and so is what the term adds there.
The greatest of a document's rows is no estimate. Of the document's other sentences only two things are open:

*Mixture*     beta, between those of the shortest and the longest sentence, and c(t,c_s)/c(c_s), between
              0 and the greatest c(t,s)/c(s) of the rows: a window without the term in its middle has it from
              one or two of them, and the share in both together is no greater than the greater share
              (mediant). The evidence is affine in either, so its extremes lie in the corners.
*Saturation*  what the surrounding gives, between 0 and a like mediant; the curve rises with it.

A term with a negative weight adds most where its evidence is least. The bound of a document is the sum over
the terms, each at its best sentence, and over the statics. Terms that the document lacks add what the
collection gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from esr.plans.evaluate import affine, beta, curve, mixture_shares, saturation_shares
from esr.plans.evidence import Array
from esr.plans.plan import FieldName, Mixture, Plan, Saturation

Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Rows:
    """Terms in sentences that hold them. Shapes: (r,) for each, (g,) for the groups of one term and document.

    `starts` has the first row of each group, `entry` the entry of each group.
    """

    counts: Mapping[FieldName, Array]
    lengths: Mapping[FieldName, Array]
    starts: Numbers
    entry: Numbers


@dataclass(frozen=True, slots=True)
class Entries:
    """Terms in documents, of shape (e,): the term's place in the plan, c(t,d), c(d), the shortest and the
    longest sentence. There may be some that no row belongs to: terms of a title."""

    term: Numbers
    count: Array
    length: Array
    shortest: Array
    longest: Array


class Bound:
    """The bounds of one plan, in a collection whose sentences have at most `longest` terms."""

    def __init__(self, plan: Plan, longest: int) -> None:
        self._plan = plan
        self._longest = float(longest)
        self._weight = np.array([term.weight for term in plan.terms])
        self._background = np.array([term.background for term in plan.terms])
        self._own = np.array([term.own for term in plan.terms], bool)

    def impossible(self) -> str | None:
        """Why there is no bound, or None. With one, every score is finite but for the statics."""
        transform = self._plan.transform
        if not np.isfinite(self._weight).all():
            return "a weight is no finite number"
        if isinstance(transform, Saturation):
            fields = [getattr(transform, name) for name in transform.fields()]
            usual = all(f.share >= 0 and 0 <= f.b <= 1 and 0 < f.average < np.inf for f in fields)
            usual &= transform.k1 is None or 0 <= transform.k1 < np.inf
            return None if usual else "the saturation need not rise with the evidence"
        ends = self._betas(np.array([0.0, self._longest]))
        for name in transform.fields():
            if not (affine(getattr(transform, name), ends) >= 0).all():
                return "a share of the mixture is negative"
        # As small as that, its logarithm would be finite for one sentence and not for another.
        if not (affine(transform.collection, ends) * self._background.min(initial=1.0) > 1e-290).all():
            return "the mixture may be 0 without the collection's part"
        return None

    def slack(self, most: float) -> float:
        """What rounding may put between a bound and a score. `most`: what an entry or static adds at most."""
        transform, n = self._plan.transform, len(self._weight) + len(self._plan.statics)
        eps = float(np.finfo(float).eps)
        if isinstance(transform, Saturation):
            return 64 * eps * (n + 4) * (n + 1) * most
        # A difference such as 1 - beta has lost digits; what is lost counts most where the evidence is least.
        parts = (transform.sentence, transform.surrounding, transform.document, transform.collection)
        whole = sum(abs(part.constant) + abs(part.slope) for part in parts)
        ends = affine(transform.collection, self._betas(np.array([0.0, self._longest])))
        least = self._background * ends.min()
        lost = 16 * eps * whole / least + 64 * eps * (n + 4) * (1.0 + np.abs(np.log(least)))
        return float((np.abs(self._weight) * lost).sum()) + 64 * eps * (n + 4) * (n + 1) * most

    def base(self, shortest: Array, longest: Array) -> Array:
        """What documents of these shortest and longest sentences can have without any term, of shape (n,)."""
        transform = self._plan.transform
        found = np.zeros(len(shortest))
        if not isinstance(transform, Mixture) or not self._own.any():
            return found
        weight = self._weight[self._own]
        ends = np.log(self._collection(shortest)), np.log(self._collection(longest))
        found += float((weight * np.log(self._background[self._own])).sum())
        found += float(np.maximum(weight, 0.0).sum()) * np.maximum(*ends)
        if (weight < 0).any():
            found += float(np.minimum(weight, 0.0).sum()) * np.minimum(*ends)
        return found

    def above(self, rows: Rows, entries: Entries) -> Array:
        """What each entry's term can add at most in its document, above its part of `base`, of shape (e,)."""
        if isinstance(self._plan.transform, Mixture):
            return self._mixture(self._plan.transform, rows, entries)
        return self._saturation(self._plan.transform, rows, entries)

    def _mixture(self, transform: Mixture, rows: Rows, entries: Entries) -> Array:
        weight, p, own = (a[entries.term] for a in (self._weight, self._background, self._own))
        of_row = np.diff(rows.starts, append=len(rows.counts["sentence"]))
        collection = affine(transform.collection, beta(transform, rows.lengths["sentence"]))
        collection *= np.repeat(p[rows.entry], of_row)
        x = collection.copy()
        for name, share in mixture_shares(transform, rows.lengths).items():
            x += share * rows.counts[name]
        if not own.all():
            x = np.where(np.repeat(own[rows.entry], of_row), x, x / collection)
        near = self._near(rows, lambda: rows.counts["sentence"] / np.maximum(rows.lengths["sentence"], 1.0))
        here = entries.count / np.maximum(entries.length, 1.0)
        elsewhere, empty = [], []
        for length in (entries.shortest, entries.longest):
            at = beta(transform, length)
            nothing = affine(transform.collection, at) * p
            least = nothing + affine(transform.document, at) * here
            corners = [least]
            if near is not None:
                corners.append(least.copy())
                corners[1][rows.entry] += affine(transform.surrounding, at[rows.entry]) * near
            elsewhere += corners if own.all() else [np.where(own, c, c / nothing) for c in corners]
            empty.append(nothing if own.all() else np.where(own, nothing, 1.0))
        return weight * np.log(self._best(x, rows, elsewhere, weight) / self._extreme(empty, weight))

    def _saturation(self, transform: Saturation, rows: Rows, entries: Entries) -> Array:
        weight = self._weight[entries.term]
        x = np.zeros(len(rows.counts["sentence"]))
        for name, share in saturation_shares(transform, rows.lengths).items():
            x += share * rows.counts[name]

        def windows() -> Array:
            field, counts, lengths = transform.surrounding, rows.counts["sentence"], rows.lengths["sentence"]
            return field.share * counts / ((1.0 - field.b) / 2.0 + field.b * lengths / field.average)

        near = self._near(rows, windows)
        least = np.zeros(len(weight))
        if transform.document.share:
            one = saturation_shares(transform, dict.fromkeys(transform.fields(), entries.length))
            least = one["document"] * entries.count
        corners = [least]
        if near is not None:
            corners.append(least.copy())
            corners[1][rows.entry] += near
        return weight * curve(transform, self._best(x, rows, corners, weight))

    def _near(self, rows: Rows, windows: Callable[[], Array]) -> Array | None:
        """The most that the surrounding can give where the term is not in the middle, of shape (g,)."""
        if "surrounding" not in self._plan.transform.fields() or not len(rows.starts):
            return None
        return np.maximum.reduceat(windows(), rows.starts)

    def _best(self, x: Array, rows: Rows, elsewhere: list[Array], weight: Array) -> Array:
        """The evidence of the best sentence of each entry's document, in its rows or elsewhere."""
        high = reduce(np.maximum, elsewhere).copy()
        negative = (weight < 0).any()
        low = reduce(np.minimum, elsewhere).copy() if negative else high
        if len(rows.starts):
            high[rows.entry] = np.maximum(high[rows.entry], np.maximum.reduceat(x, rows.starts))
            if negative:
                low[rows.entry] = np.minimum(low[rows.entry], np.minimum.reduceat(x, rows.starts))
        return np.where(weight < 0, low, high) if negative else high

    @staticmethod
    def _extreme(ends: list[Array], weight: Array) -> Array:
        high = reduce(np.maximum, ends)
        return np.where(weight < 0, reduce(np.minimum, ends), high) if (weight < 0).any() else high

    def _betas(self, lengths: Array) -> Array:
        assert isinstance(self._plan.transform, Mixture)
        return beta(self._plan.transform, lengths)

    def _collection(self, lengths: Array) -> Array:
        assert isinstance(self._plan.transform, Mixture)
        return affine(self._plan.transform.collection, self._betas(lengths))
