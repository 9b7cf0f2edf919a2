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
collection gives. What a term adds at most is had per unit of its weight, so that it holds for any query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.plans.evaluate import affine, beta, curve, mixture_shares, saturation_shares
from esr.plans.evidence import Array
from esr.plans.plan import FieldName, Mixture, Plan, PlanTerm, Saturation

Numbers = npt.NDArray[np.intp]
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class Rows:
    """One term in sentences that hold it. Shapes: (r,) for each, (g,) for the groups of one document.

    `starts` has the first row of each group, `entry` the entry of each group.
    """

    counts: Mapping[FieldName, Array]
    lengths: Mapping[FieldName, Array]
    starts: Numbers
    entry: Numbers


@dataclass(frozen=True, slots=True)
class Entries:
    """One term in documents, of shape (e,): c(t,d), c(d), the shortest and the longest sentence.

    There may be some that no row belongs to: terms of a title.
    """

    count: Array
    length: Array
    shortest: Array
    longest: Array


class Unprunable(NamedTuple):
    """A search that cannot be pruned, and why: every candidate has to be scored."""

    reason: str


class Base(NamedTuple):
    """What a sentence has without any term: a constant, and these weights times `Bound.ends`."""

    constant: float
    rising: float
    falling: float


class Bound:
    """The bounds of one transform, in a collection whose sentences have at most `longest` terms."""

    def __init__(self, transform: Mixture | Saturation, longest: int) -> None:
        self._transform = transform
        self._longest = longest
        self._least = self._whole = 0.0
        self._why = (
            self._saturation_why() if isinstance(transform, Saturation) else self._mixture_why(longest)
        )

    def _saturation_why(self) -> str | None:
        transform = self._transform
        assert isinstance(transform, Saturation)
        fields = [getattr(transform, name) for name in transform.fields()]
        usual = all(f.share >= 0 and 0 <= f.b <= 1 and 0 < f.average < np.inf for f in fields)
        usual &= transform.k1 is None or 0 <= transform.k1 < np.inf
        return None if usual else "the saturation need not rise with the evidence"

    def _mixture_why(self, longest: int) -> str | None:
        transform = self._transform
        assert isinstance(transform, Mixture)
        ends = beta(transform, np.array([0.0, longest]))
        self._least = float(affine(transform.collection, ends).min())
        parts = (transform.sentence, transform.surrounding, transform.document, transform.collection)
        self._whole = sum(abs(part.constant) + abs(part.slope) for part in parts)
        for name in transform.fields():
            if not (affine(getattr(transform, name), ends) >= 0).all():
                return "a share of the mixture is negative"
        return None

    def impossible(self, terms: Sequence[PlanTerm]) -> str | None:
        """Why there is no bound, or None. With one, every score is finite but for the statics."""
        if not all(math.isfinite(term.weight) for term in terms):
            return "a weight is no finite number"
        if self._why is not None or isinstance(self._transform, Saturation):
            return self._why
        # As small as that, its logarithm would be finite for one sentence and not for another.
        least = self._least * min((term.background for term in terms), default=1.0)
        return None if least > 1e-290 else "the mixture may be 0 without the collection's part"

    def slack(self, plan: Plan, most: float) -> float:
        """What rounding may put between a bound and a score. `most`: what an entry or static adds at most."""
        n = len(plan.terms) + len(plan.statics)
        slack = 64 * EPS * (n + 4) * (n + 1) * most
        if isinstance(self._transform, Saturation):
            return slack
        # A difference such as 1 - beta has lost digits; what is lost counts most where the evidence is least.
        for term in plan.terms:
            least = term.background * self._least
            lost = 16 * EPS * self._whole / least + 64 * EPS * (n + 4) * (1.0 + abs(math.log(least)))
            slack += abs(term.weight) * lost
        return slack

    def ends(self, shortest: Array, longest: Array) -> tuple[Array, Array]:
        """The logarithm of the collection's weight, at most and at least, in documents of these shortest and
        longest sentences."""
        if isinstance(self._transform, Saturation):
            return np.zeros(len(shortest)), np.zeros(len(shortest))
        transform = self._transform
        low, high = (np.log(affine(transform.collection, beta(transform, at))) for at in (shortest, longest))
        return np.maximum(low, high), np.minimum(low, high)

    def lengths(self) -> Array:
        """Of a mixture, of shape (longest + 1, 4), by the length of a sentence: what one occurrence is worth
        over the collection's weight, in the sentence, per term of the surroundings, as a share of the
        document; and the logarithm of that weight."""
        if isinstance(self._transform, Saturation):
            return np.zeros((1, 4))
        transform, length = self._transform, np.arange(self._longest + 1.0)
        at = beta(transform, length)
        sentence, surrounding, document, collection = (
            affine(weight, at)
            for weight in (
                transform.sentence,
                transform.surrounding,
                transform.document,
                transform.collection,
            )
        )
        sentence /= np.maximum(length, 1.0)
        worth = [each / collection for each in (sentence, surrounding, document)]
        return np.stack([*worth, np.log(collection)], axis=1)

    def base(self, terms: Sequence[PlanTerm]) -> Base:
        """Of a plan with these terms. The rising weight goes with the greater ends, the other not."""
        if isinstance(self._transform, Saturation):
            return Base(0.0, 0.0, 0.0)
        own = [term for term in terms if term.own]
        return Base(
            math.fsum(term.weight * math.log(term.background) for term in own),
            math.fsum(term.weight for term in own if term.weight > 0),
            math.fsum(term.weight for term in own if term.weight < 0),
        )

    def most(self, term: PlanTerm, rows: Rows, entries: Entries) -> Array:
        """What the term adds at most in each document, above its part of `base`, of shape (e,).

        It is per unit of the weight: times a negative weight, the least becomes the most.
        """
        if isinstance(self._transform, Mixture):
            p = np.array(term.background)
            return self._mixture(self._transform, term, rows, entries, p, p)
        return self._saturation(self._transform, term, rows, entries)

    def most_of_several(self, rows: Rows, entries: Entries, background: Array) -> Array:
        """The same of several terms of a mixture together, a query's own, with weights above 0.

        `background`, of shape (e,), is p(t|C) of each entry's term.
        """
        assert isinstance(self._transform, Mixture)
        of_rows = np.repeat(background[rows.entry], np.diff(rows.starts, append=len(rows.counts["sentence"])))
        return self._mixture(self._transform, PlanTerm("", 1.0, 1.0), rows, entries, of_rows, background)

    @property
    def least(self) -> float:
        """What `ends` has at least in any document. Of a mixture that has bounds."""
        return math.log(self._least)

    def _mixture(
        self, transform: Mixture, term: PlanTerm, rows: Rows, entries: Entries, of_rows: Array, p: Array
    ) -> Array:
        """`of_rows` and `p` are p(t|C) of the rows' and of the entries' terms, or of the one term."""
        collection = affine(transform.collection, beta(transform, rows.lengths["sentence"])) * of_rows
        x = collection.copy()
        for name, share in mixture_shares(transform, rows.lengths).items():
            x += share * rows.counts[name]
        if not term.own:
            x /= collection
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
            elsewhere += corners if term.own else [corner / nothing for corner in corners]
            empty.append(nothing if term.own else np.ones(len(nothing)))
        best = _best(x, rows, elsewhere, term.weight)
        return np.log(best / reduce(_of(term.weight), empty))

    def _saturation(self, transform: Saturation, term: PlanTerm, rows: Rows, entries: Entries) -> Array:
        x = np.zeros(len(rows.counts["sentence"]))
        for name, share in saturation_shares(transform, rows.lengths).items():
            x += share * rows.counts[name]

        def windows() -> Array:
            field, counts, lengths = transform.surrounding, rows.counts["sentence"], rows.lengths["sentence"]
            return field.share * counts / ((1.0 - field.b) / 2.0 + field.b * lengths / field.average)

        near = self._near(rows, windows)
        least = np.zeros(len(entries.count))
        if transform.document.share:
            one = saturation_shares(transform, dict.fromkeys(transform.fields(), entries.length))
            least = one["document"] * entries.count
        corners = [least]
        if near is not None:
            corners.append(least.copy())
            corners[1][rows.entry] += near
        return curve(transform, _best(x, rows, corners, term.weight))

    def _near(self, rows: Rows, windows: Callable[[], Array]) -> Array | None:
        """The most that the surrounding can give where the term is not in the middle, of shape (g,)."""
        if "surrounding" not in self._transform.fields() or not len(rows.starts):
            return None
        return np.maximum.reduceat(windows(), rows.starts)


def _of(weight: float) -> np.ufunc:
    """What chooses the evidence that adds most."""
    return np.minimum if weight < 0 else np.maximum


def _best(x: Array, rows: Rows, elsewhere: list[Array], weight: float) -> Array:
    """The evidence of the best sentence of each entry's document, in its rows or elsewhere."""
    better = _of(weight)
    found: Array = reduce(better, elsewhere).copy()
    if len(rows.starts):
        found[rows.entry] = better(found[rows.entry], better.reduceat(x, rows.starts))
    return found
