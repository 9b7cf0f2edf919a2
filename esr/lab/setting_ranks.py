"""Rank the relevant sentences of a topic under many settings at once, with a compiled loop.

A measure needs no more than these ranks. The loop adds in another order than `esr.plans.evaluate`, so its
scores differ from the exact ones in their last digits. Where such a difference could change a rank, the exact
scores of the few sentences in question decide. The ranks are thus equal to those of exact scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from numba import njit

from esr.plans.evaluate import Array, Evidence, GroupedEvidence, add_static_scores, score_sentences
from esr.plans.plan import FIELDS, Mixture, Plan, Saturation

Ranks = npt.NDArray[np.intp]
compiled = njit(cache=True, nogil=True, error_model="numpy")
AT_ONCE = 1 << 22
"""The number of scores in memory at a time."""
SINGLE = 2.0**-23
"""Numbers that differ relatively by more than this are not equal in single precision."""
ROUNDING = 1e-11
"""Far above the error of the loop's scores, relative to the numbers that are added."""
MOST = float(np.finfo(np.float32).max) / 2.0
"""Scores up to this are finite in single precision."""
MANY = 16
"""The number of factors after which a logarithm is taken, lest their product overflow."""


def rank_under_settings(
    grouped: GroupedEvidence,
    relevant: Ranks,
    sentence_id: Callable[[int], str],
    plans: Sequence[Plan],
    depth: int,
) -> list[Ranks | None]:
    """The ranks of the relevant sentences under each plan, as `rank_relevant` of `esr.lab.tuner` gives them.

    None under a plan that only exact scores of all sentences can rank. The plans have the terms of the
    evidence.
    """
    first, sentences = plans[0], len(grouped.evidence.lengths["sentence"])
    if not first.terms or not sentences or any(not _is_alike(plan, first) for plan in plans):
        return [None] * len(plans)
    found: list[Ranks | None] = []
    step = max(1, AT_ONCE // sentences)
    for start in range(0, len(plans), step):
        found += _Block(grouped, plans[start : start + step]).rank(relevant, sentence_id, depth)
    return found


def _is_alike(plan: Plan, other: Plan) -> bool:
    """Whether one compiled loop scores both plans."""
    return (
        type(plan.transform) is type(other.transform)
        and (isinstance(plan.transform, Mixture) or _is_logarithm(plan) == _is_logarithm(other))
        and [(term.term, term.own) for term in plan.terms] == [(term.term, term.own) for term in other.terms]
    )


def _is_logarithm(plan: Plan) -> bool:
    return isinstance(plan.transform, Saturation) and plan.transform.k1 is None


class _Block:
    """The approximate scores of all rows under some plans, of shape (rows, plans).

    A row stands for the sentences that no plan can tell apart: `row_of` has the row of each sentence. The
    score of a sentence that is left out of the results is NaN.
    """

    def __init__(self, grouped: GroupedEvidence, plans: Sequence[Plan]) -> None:
        self.plans, self.evidence = plans, grouped.evidence
        fields = frozenset(field for plan in plans for field in (*plan.transform.fields(), "sentence"))
        distinct, self.row_of = grouped.group(fields)
        self.scores, self.greatest = _score(plans, distinct)
        if any(plan.static_scores for plan in plans):
            self.scores, self.row_of = self.scores[self.row_of], np.arange(len(self.row_of))
            for n, plan in enumerate(plans):
                total = add_static_scores(plan, self.scores[:, n].copy(), self.evidence.columns)
                self.scores[:, n] = np.where(np.isfinite(total), total, np.nan)
                self.greatest[n] += np.fmax.reduce(np.abs(self.scores[:, n]), initial=0.0)
        self.greatest += [1.0 + 100.0 * sum(abs(term.weight) for term in plan.terms) for plan in plans]
        self.sizes = np.bincount(self.row_of, minlength=len(self.scores))

    def rank(self, relevant: Ranks, sentence_id: Callable[[int], str], depth: int) -> list[Ranks | None]:
        """The ranks of the relevant sentences under each plan."""
        at = self.scores[self.row_of[relevant]]
        margins = SINGLE * np.abs(at) + ROUNDING * self.greatest
        above, near = np.zeros(at.shape, np.int64), np.zeros(at.shape, np.int64)
        _count(self.scores, self.sizes, at - margins, at + margins, depth, above, near)
        is_in = (above < depth) & (near > 0)
        is_left = (is_in & (above + near > depth)).any(axis=0) | ~(self.greatest < MOST)
        is_unclear = is_in & (near > 1) & ~is_left
        for n in np.flatnonzero(is_unclear.any(axis=0)).tolist():
            places = np.flatnonzero(is_unclear[:, n])
            close = np.abs(self.scores[:, n] - at[places, n, None]) <= margins[places, n, None]
            above[places, n] += self._count_higher(self.plans[n], relevant[places], close, sentence_id)
        ranks, numbers = np.sort(np.where(is_in, above + 1, depth + 1), axis=0), is_in.sum(axis=0).tolist()
        return [None if is_left[n] else ranks[:number, n] for n, number in enumerate(numbers)]

    def _count_higher(
        self, plan: Plan, relevant: Ranks, close: npt.NDArray[np.bool_], sentence_id: Callable[[int], str]
    ) -> Ranks:
        """How many sentences of the rows close to each relevant one rank above it.

        Exact scores decide, and ids where they tie.
        """
        sentences = np.flatnonzero(np.logical_or.reduce(close)[self.row_of])
        exact = score_sentences(plan, self.evidence.take(sentences))
        with np.errstate(over="ignore"):
            single = exact.astype(np.float32)
        higher = []
        for own, rows in zip(relevant.tolist(), close, strict=True):
            is_close = rows[self.row_of[sentences]]
            score = single[np.searchsorted(sentences, own)]
            tied = sentences[is_close & (single == score)].tolist()
            first = sum(sentence_id(other) > sentence_id(own) for other in tied) if len(tied) > 1 else 0
            higher.append(int((single[is_close] > score).sum()) + first)
        return np.array(higher, np.intp)


def _score(plans: Sequence[Plan], evidence: Evidence) -> tuple[Array, Array]:
    """What the terms add to scores, of shape (n, plans), and the greatest absolute value of each plan."""
    n, terms = len(evidence.lengths["sentence"]), plans[0].terms
    lengths, counts = np.ones((n, 3)), np.zeros((n, len(terms), 3))
    for number, field in enumerate(FIELDS):
        if field in evidence.counts:
            counts[:, :, number] = evidence.counts[field].T
            lengths[:, number] = evidence.lengths[field]
    weights = np.array([[term.weight for term in plan.terms] for plan in plans]).T.copy()
    scores, greatest = np.empty((n, len(plans))), np.zeros(len(plans))
    if isinstance(plans[0].transform, Mixture):
        background = np.array([[term.background for term in plan.terms] for plan in plans]).T.copy()
        own = weights * np.array([term.own for term in terms])[:, None]
        repeated = (weights == weights[:, :1]).all(axis=1) & np.isin(weights[:, 0], [1, 2, 3])
        powers = np.where(repeated, weights[:, 0], 0)
        _score_mixture(
            np.array([_flatten(plan.transform) for plan in plans]).T.copy(),
            (weights, 1.0 / background, powers.astype(int)),
            ((own * np.log(background)).sum(axis=0), own.sum(axis=0)),
            np.argsort(lengths[:, 0]),
            lengths,
            counts,
            scores,
            greatest,
        )
    else:
        _score_saturation(
            np.array([_flatten(plan.transform) for plan in plans]).T.copy(),
            weights,
            lengths,
            counts,
            scores,
            greatest,
        )
    return scores, greatest


def _flatten(transform: Mixture | Saturation) -> list[float]:
    """The first number of a transform, and those of each of its fields."""
    numbers = [number for field in FIELDS for number in getattr(transform, field)]
    if isinstance(transform, Mixture):
        return [transform.mu, *numbers, *transform.collection]
    return [-1.0 if transform.k1 is None else transform.k1, *numbers]


@compiled
def _score_mixture(transforms, terms, termless, order, lengths, counts, scores, greatest):
    """Score by mixtures. Consecutive rows of `order` should have sentences of the same length."""
    (weights, inverse, powers), (constant, query_weight) = terms, termless
    plans, last = scores.shape[1], -1.0
    shares, start, product = np.empty((3, plans)), np.empty(plans), np.ones(plans)
    for n in order:
        length = lengths[n, 0]
        if length != last:
            last = length
            for s in range(plans):
                mu = transforms[0, s]
                beta = mu / (length + mu) if mu > 0.0 else 0.0
                collection = transforms[7, s] + transforms[8, s] * beta
                start[s] = constant[s] + query_weight[s] * np.log(collection)
                for field in range(3):
                    share = transforms[1 + 2 * field, s] + transforms[2 + 2 * field, s] * beta
                    shares[field, s] = share / collection
        total, factors = scores[n], 0
        total[:] = start
        for t in range(counts.shape[1]):
            a = counts[n, t, 0] / max(lengths[n, 0], 1.0)
            b = counts[n, t, 1] / max(lengths[n, 1], 1.0)
            c = counts[n, t, 2] / max(lengths[n, 2], 1.0)
            if a + b + c == 0.0:
                continue
            if powers[t] == 0:
                for s in range(plans):
                    x = shares[0, s] * a + shares[1, s] * b + shares[2, s] * c
                    total[s] += weights[t, s] * np.log(1.0 + x * inverse[t, s])
                continue
            factors += powers[t]
            for _ in range(powers[t]):
                for s in range(plans):
                    x = shares[0, s] * a + shares[1, s] * b + shares[2, s] * c
                    product[s] *= 1.0 + x * inverse[t, s]
            if factors >= MANY:
                _add_logarithms(total, product)
                factors = 0
        if factors:
            _add_logarithms(total, product)
        _keep_greatest(total, greatest)


@compiled
def _add_logarithms(total, product):
    """Add the logarithm of each product, which is 1 afterwards."""
    for s in range(len(total)):
        total[s] += np.log(product[s])
        product[s] = 1.0


@compiled
def _score_saturation(transforms, weights, lengths, counts, scores, greatest):
    """Score by saturations. A negative k1 stands for the logarithm."""
    plans = scores.shape[1]
    worth = np.empty((3, plans))
    is_logarithm = transforms[0, 0] < 0.0
    for n in range(len(scores)):
        for field in range(3):
            for s in range(plans):
                share, b = transforms[1 + 3 * field, s], transforms[2 + 3 * field, s]
                norm = 1.0 - b + b * lengths[n, field] / transforms[3 + 3 * field, s]
                worth[field, s] = share / norm if norm > 0.0 else share
        total = scores[n]
        total[:] = 0.0
        for t in range(counts.shape[1]):
            a, b, c = counts[n, t]
            if a + b + c == 0.0:
                continue
            for s in range(plans):
                x = worth[0, s] * a + worth[1, s] * b + worth[2, s] * c
                if is_logarithm:
                    total[s] += weights[t, s] * np.log(1.0 + x)
                else:
                    k1 = transforms[0, s]
                    total[s] += weights[t, s] * (k1 + 1.0) * x / (k1 + x) if x > 0.0 else 0.0
        _keep_greatest(total, greatest)


@compiled
def _keep_greatest(total, greatest):
    """Raise `greatest` to the absolute values of a row, and to infinity where one is not finite."""
    for s in range(len(total)):
        value = abs(total[s])
        if not value <= greatest[s]:
            greatest[s] = value if value < np.inf else np.inf


@compiled
def _count(scores, sizes, low, high, depth, above, near):
    """Count the sentences above and near each relevant sentence under each plan, whose limits are given.

    All are of shape (relevant, plans). Limits are infinite once as many sentences as the depth are above.
    """
    relevant, plans = low.shape
    floor = np.empty(plans)
    for n in range(len(scores)):
        if n % 1024 == 0:
            floor[:] = np.inf
            for r in range(relevant):
                for s in range(plans):
                    if above[r, s] >= depth:
                        low[r, s] = high[r, s] = np.inf
                    floor[s] = min(floor[s], low[r, s])
        matters = False
        for s in range(plans):
            matters |= scores[n, s] >= floor[s]
        if not matters:
            continue
        for r in range(relevant):
            for s in range(plans):
                is_above = scores[n, s] > high[r, s]
                above[r, s] += sizes[n] if is_above else 0
                near[r, s] += sizes[n] if scores[n, s] >= low[r, s] and not is_above else 0
