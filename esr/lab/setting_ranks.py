"""Rank the relevant sentences of a topic under many settings at once, with a compiled loop.

Measures depend only on these ranks, so only sentences near a relevant one, or above it, are scored. The loop
adds in another order than `esr.plans.evaluate`, so its scores differ from the exact ones in their last
digits. Where such a difference could change a rank, exact scores of the sentences concerned decide. The
ranks are thus equal to those of exact scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from esr.plugin import Mixture, PlanTerm, Saturation
from esr.plugin.provisional import (
    FIELDS,
    Array,
    Evidence,
    GroupedEvidence,
    Plan,
    add_static_scores,
    score_sentences,
)

Ranks = npt.NDArray[np.intp]
compiled: Callable[[Callable[..., Any]], Any] = njit(cache=True, nogil=True, error_model="numpy")
AT_ONCE = 1 << 22
"""The number of static scores in memory at a time."""
ROWS = 1024
"""The number of rows after which the floors of scores are updated."""
TIES = 1 << 16
"""The maximum number of stored pairs of a relevant sentence and a row near it, over all plans."""
ROUNDING = 1e-12
"""Upper bound of the error of the loop's scores, relative to the numbers added."""
MOST = float(np.finfo(np.float32).max) / 2.0
"""Maximum absolute score that is treated as finite in single precision."""
LOGARITHMS = 300.0
"""Upper bound of the sum of the absolute values of the three logarithms of a term."""
MANY = 16
"""The number of factors after which the logarithm is taken, so that their product does not overflow."""


def rank_under_settings(
    grouped: GroupedEvidence,
    relevant: Ranks,
    sentence_id: Callable[[int], str],
    plans: Sequence[Plan],
    depth: int,
) -> list[Ranks | None]:
    """The ranks of the relevant sentences under each plan, as `rank_relevant` of `esr.lab.tuner` gives them.

    None for a plan that needs exact scores of all sentences. The plans have the terms of the evidence.
    """
    ranks_of_plans: list[Ranks | None] = [None] * len(plans)
    sentences = len(grouped.evidence.lengths["sentence"])
    if not plans[0].terms or not sentences:
        return ranks_of_plans
    alike: dict[tuple[object, ...], list[int]] = {}
    for n, plan in enumerate(plans):
        alike.setdefault(_loop_key(plan), []).append(n)
    for numbers in alike.values():
        has_static_scores = any(plans[n].static_scores for n in numbers)
        step = max(1, AT_ONCE // sentences) if has_static_scores else len(numbers)
        for start in range(0, len(numbers), step):
            part = numbers[start : start + step]
            block = _Block(grouped, relevant, [plans[n] for n in part])
            for n, ranks in zip(part, block.rank(sentence_id, depth), strict=True):
                ranks_of_plans[n] = ranks
    return ranks_of_plans


def _loop_key(plan: Plan) -> tuple[object, ...]:
    """Plans with equal keys are scored by one loop."""
    is_logarithm = isinstance(plan.transform, Saturation) and plan.transform.k1 is None
    return type(plan.transform), is_logarithm, plan.terms


class _Block:
    """The sentences of a topic under some plans of one loop.

    A row is a set of sentences that no plan can distinguish: `row_of` has the row of each sentence. With
    static scores, each sentence is a row. `at`, of shape (relevant, plans), has the scores of the relevant
    sentences, NaN for a sentence without a result. Scores differ from the exact ones by less than `error`.
    `is_left`, of shape (plans,), is true for plans that need exact scores of all sentences.
    """

    def __init__(self, grouped: GroupedEvidence, relevant: Ranks, plans: Sequence[Plan]) -> None:
        self.plans, self.relevant, self.evidence = plans, relevant, grouped.evidence
        fields = frozenset(field for plan in plans for field in (*plan.transform.fields(), "sentence"))
        distinct, self.distinct_of = grouped.group(fields)
        relevant_loop = _Loop(plans, distinct.take(self.distinct_of[relevant]))
        self.at = relevant_loop.score(0, len(relevant), np.full(len(plans), -np.inf))[1]
        self.row_of, self.static, magnitude = self.distinct_of, None, relevant_loop.magnitude
        if any(plan.static_scores for plan in plans):
            self.row_of, self.static = np.arange(len(self.distinct_of)), self._add_static_scores()
            self.at = self.at + self.static[relevant]
            magnitude = magnitude + np.fmax.reduce(np.abs(self.static), axis=0)
        self.sizes = np.bincount(self.row_of)
        self.loop, self.is_left = _Loop(plans, distinct), relevant_loop.is_infinite | ~(magnitude < MOST)
        self.error = ROUNDING * magnitude

    def _add_static_scores(self) -> Array:
        """The sums of static scores, of shape (sentences, plans), NaN where one is missing."""
        total = np.zeros((len(self.plans), len(self.row_of)))
        for plan, adds in zip(self.plans, total, strict=True):
            add_static_scores(plan, adds, self.evidence.columns)
        return np.where(np.isfinite(total), total, np.nan).T.copy()

    def rank(self, sentence_id: Callable[[int], str], depth: int) -> list[Ranks | None]:
        """The ranks of the relevant sentences under each plan."""
        relevant_rows, is_out = self.row_of[self.relevant], np.isnan(self.at)
        low, high = _round(self.at - self.error, -np.inf), _round(self.at + self.error, np.inf)
        doubt = np.where(_round(self.at - self.error, np.inf) == high, 2.0 * self.error, np.inf)
        limits = np.where(is_out, np.inf, low - self.error), high + self.error, doubt
        above, near = np.where(is_out, depth, 0), np.zeros(low.shape, np.int64)
        ties, number = np.empty((TIES, 4), np.int64), 0
        for first in reversed(range(0, len(self.loop), ROWS)):  # long sentences match more words
            limits[0][above >= depth] = np.inf
            rows, scores = self._score(first, limits[0].min(axis=0, initial=np.inf))
            counts = above, near, self.is_left
            number = _count(rows, scores, self.sizes, relevant_rows, limits, counts, ties, number)
        is_in = (above < depth) & (near > 0)
        self.is_left |= self.loop.is_infinite | (is_in & (above + near > depth)).any(axis=0)
        firsts = [self._count_first(r, row, sentence_id) for r, row in enumerate(relevant_rows.tolist())]
        above += np.array(firsts, np.int64)[:, None]
        self._order_ties(ties[:number], is_in & ~self.is_left, sentence_id, above)
        ranks, numbers = np.sort(np.where(is_in, above + 1, depth + 1), axis=0), is_in.sum(axis=0).tolist()
        return [None if self.is_left[n] else ranks[:number, n] for n, number in enumerate(numbers)]

    def _score(self, first: int, floor: Array) -> tuple[Ranks, Array]:
        """Rows from `first` on that reach the floor of a plan, and their scores under each plan."""
        if self.static is None:
            return self.loop.score(first, first + ROWS, floor)
        most = np.fmax.reduce(self.static, axis=0, initial=-np.inf)
        distinct, scores = self.loop.score(first, first + ROWS, floor - most)
        place_of = np.full(len(self.loop), -1)
        place_of[distinct] = np.arange(len(distinct))
        places = place_of[self.distinct_of]
        sentences = np.flatnonzero(places >= 0)
        return sentences, scores[places[sentences]] + self.static[sentences]

    def _order_ties(
        self, ties: Ranks, matters: npt.NDArray[np.bool_], sentence_id: Callable[[int], str], above: Ranks
    ) -> None:
        """Count those of the ties that rank above their relevant sentences."""
        ties = ties[matters[ties[:, 1], ties[:, 0]]]
        equal, unclear = (ties[ties[:, 3] == is_equal] for is_equal in (True, False))
        pairs, numbers = np.unique(equal[:, 1:3], axis=0, return_inverse=True)
        firsts = np.array([self._count_first(r, row, sentence_id) for r, row in pairs.tolist()], np.int64)
        np.add.at(above, (equal[:, 1], equal[:, 0]), firsts[numbers])
        for n in np.unique(unclear[:, 0]).tolist():
            above[:, n] += self._count_higher(n, unclear[unclear[:, 0] == n, 1:], sentence_id)

    def _count_first(self, place: int, row: int, sentence_id: Callable[[int], str]) -> int:
        """The number of sentences of a row that rank above a relevant sentence of equal score."""
        id = sentence_id(int(self.relevant[place]))
        return sum(sentence_id(other) > id for other in np.flatnonzero(self.row_of == row).tolist())

    def _count_higher(self, n: int, pairs: Ranks, sentence_id: Callable[[int], str]) -> Ranks:
        """For each relevant sentence, the number of sentences in near rows that rank above it under a plan.

        `pairs`, of shape (pairs, 2), has positions of relevant sentences, and rows near them. Exact scores
        decide, and ids if they tie.
        """
        is_near = np.zeros(len(self.sizes), bool)
        is_near[pairs[:, 1]] = True
        sentences = np.flatnonzero(is_near[self.row_of])
        exact = score_sentences(self.plans[n], self.evidence.take(np.append(self.relevant, sentences)))
        with np.errstate(over="ignore"):
            relevant_scores, single = np.split(exact.astype(np.float32), [len(self.relevant)])
        higher = np.zeros(len(self.relevant), np.intp)
        for place in np.unique(pairs[:, 0]).tolist():
            is_near = np.isin(self.row_of[sentences], pairs[pairs[:, 0] == place, 1])
            id, tied = (
                sentence_id(int(self.relevant[place])),
                sentences[is_near & (single == relevant_scores[place])],
            )
            higher[place] = (single[is_near] > relevant_scores[place]).sum()
            higher[place] += sum(sentence_id(other) > id for other in tied.tolist())
        return higher


def _round(scores: Array, towards: float) -> Array:
    """The bound, in a direction, of the numbers that round to the same single-precision values."""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    return (single.astype(float) + np.nextafter(single, np.float32(towards))) / 2.0


class _Loop:
    """Scores distinct sentences by their terms, under plans of one loop.

    `magnitude`, of shape (plans,), bounds the sum of the absolute values that are added to a score.
    `is_infinite`, of shape (plans,), is true for plans with a score that was not finite.
    """

    def __init__(self, plans: Sequence[Plan], evidence: Evidence) -> None:
        terms, n = plans[0].terms, len(evidence.lengths["sentence"])
        no_counts, no_lengths = np.zeros((len(terms), n)), np.zeros(n)
        self._lengths = np.array([evidence.lengths.get(field, no_lengths) for field in FIELDS], float)
        self._counts = tuple(
            np.ascontiguousarray(evidence.counts.get(field, no_counts), float) for field in FIELDS
        )
        self._transforms = np.array([_flatten(plan.transform) for plan in plans]).T.copy()
        weights = np.array([term.weight for term in terms])
        self._score: Callable[..., int] = _score_saturation
        self._terms: Any = weights
        greatest = LOGARITHMS + self._transforms[0]
        if isinstance(plans[0].transform, Mixture):
            self._score, self._terms = _score_mixture, _prepare_mixture(terms)
            greatest = np.full(len(plans), LOGARITHMS)
        self.magnitude = 1.0 + np.abs(weights).sum() * greatest
        self.is_infinite = np.zeros(len(plans), bool)

    def __len__(self) -> int:
        return len(self._lengths[0])

    def score(self, first: int, end: int, floor: Array) -> tuple[Ranks, Array]:
        """The sentences from `first` to `end` that reach the floor of a plan, and their scores.

        The floor is of shape (plans,), the scores are of shape (sentences, plans).
        """
        rows = np.arange(first, min(end, len(self)))
        scores = np.empty((len(rows), len(floor)))
        number = self._score(
            self._transforms, self._terms, self._lengths, self._counts, floor, rows, scores, self.is_infinite
        )
        return rows[:number], scores[:number]


def _flatten(transform: Mixture | Saturation) -> list[float]:
    """The numbers of a transform as a flat list: its first number, then those of each field."""
    numbers = [number for field in FIELDS for number in getattr(transform, field)]
    if isinstance(transform, Mixture):
        return [transform.mu, *numbers, *transform.collection]
    return [-1.0 if transform.k1 is None else transform.k1, *numbers]


def _prepare_mixture(terms: Sequence[PlanTerm]) -> tuple[Array, Array, float, float, float]:
    """Weights, 1 / p(t), two numbers that the query's terms add to each score, and the unit of the weights.

    The two numbers are a constant, and the weight of the logarithm of the collection's share. In the unit,
    most weights are whole numbers, so that one logarithm of a product of powers is enough.
    """
    weights, background, sentence = map(np.array, zip(*[term[1:] for term in terms], strict=True))
    sizes = np.abs(weights)
    unit = min(sizes[sizes > 1e-6 * sizes.max()], default=1.0)
    constant, query_weight = (weights * sentence) @ np.log(background), (weights * sentence).sum()
    return weights / unit, 1.0 / background, float(constant), float(query_weight), float(unit)


@compiled
def _score_mixture(transforms, terms, lengths, counts, floor, rows, scores, is_infinite):
    """Score by mixtures. Consecutive rows should have sentences of the same length.

    Moves the rows that reach the floor to the front of `rows`, and returns their number.
    """
    weights, inverse, constant, query_weight, unit = terms
    plans, number, last = len(floor), 0, -1.0
    shares, start, least = np.empty((3, plans)), np.empty(plans), np.empty(plans)
    product, total = np.empty(plans), np.empty(plans)
    for n in rows:
        length = lengths[0, n]
        if length != last:
            last = length
            for s in range(plans):
                mu = transforms[0, s]
                beta = mu / (length + mu) if mu > 0.0 else 0.0
                collection = transforms[7, s] + transforms[8, s] * beta
                for field in range(3):
                    share = transforms[1 + 2 * field, s] + transforms[2 + 2 * field, s] * beta
                    shares[field, s] = share / collection
                start[s] = constant + query_weight * np.log(collection)
                least[s] = np.exp((floor[s] - start[s]) / unit)
        product[:] = 1.0
        total[:] = 0.0
        factors, reaches = 0, False
        for t in range(len(weights)):
            a, b, c = counts[0][t, n], counts[1][t, n], counts[2][t, n]
            if a + b + c == 0.0:
                continue
            a *= inverse[t] / max(length, 1.0)
            b *= inverse[t] / max(lengths[1, n], 1.0)
            c *= inverse[t] / max(lengths[2, n], 1.0)
            power = 1 if weights[t] == 1.0 else 2 if weights[t] == 2.0 else 0
            for _ in range(power):
                for s in range(plans):
                    product[s] *= 1.0 + (shares[0, s] * a + shares[1, s] * b + shares[2, s] * c)
            factors += power
            if power == 0:
                for s in range(plans):
                    x = shares[0, s] * a + shares[1, s] * b + shares[2, s] * c
                    total[s] += weights[t] * np.log(1.0 + x)
            if power == 0 or factors >= MANY:
                reaches, factors = True, 0
                for s in range(plans):
                    total[s] += np.log(product[s])
                    product[s] = 1.0
        for s in range(plans):
            reaches |= not product[s] < least[s]
        if reaches:
            for s in range(plans):
                scores[number, s] = start[s] + unit * (total[s] + np.log(product[s]))
                is_infinite[s] |= not abs(scores[number, s]) < np.inf
            rows[number] = n
            number += 1
    return number


@compiled
def _score_saturation(transforms, weights, lengths, counts, floor, rows, scores, is_infinite):
    """Score by saturations. A negative k1 stands for the logarithm.

    Moves the rows that reach the floor to the front of `rows`, and returns their number.
    """
    plans, number = len(floor), 0
    worth = np.empty((3, plans))
    is_logarithm = transforms[0, 0] < 0.0
    for n in rows:
        for field in range(3):
            for s in range(plans):
                share, b = transforms[1 + 3 * field, s], transforms[2 + 3 * field, s]
                norm = 1.0 - b + b * lengths[field, n] / transforms[3 + 3 * field, s]
                worth[field, s] = share / norm if norm > 0.0 else share
        total = scores[number]
        total[:] = 0.0
        for t in range(len(weights)):
            a, b, c = counts[0][t, n], counts[1][t, n], counts[2][t, n]
            if a + b + c == 0.0:
                continue
            for s in range(plans):
                x = worth[0, s] * a + worth[1, s] * b + worth[2, s] * c
                if is_logarithm:
                    total[s] += weights[t] * np.log(1.0 + x)
                else:
                    k1 = transforms[0, s]
                    total[s] += weights[t] * (k1 + 1.0) * x / (k1 + x) if x > 0.0 else 0.0
        reaches = False
        for s in range(plans):
            reaches |= not total[s] < floor[s]
        if reaches:
            for s in range(plans):
                is_infinite[s] |= not abs(total[s]) < np.inf
            rows[number] = n
            number += 1
    return number


@compiled
def _count(rows, scores, sizes, relevant_rows, limits, counts, ties, number):
    """Count the sentences above and near each relevant sentence under each plan.

    Limits and counts are of shape (relevant, plans). For each other row near a relevant sentence, `ties` gets
    the plan, the relevant sentence, the row, and whether their scores are surely equal in single precision.
    Returns the number of ties. A plan is left if there are too many.
    """
    (low, high, doubt), (above, near, is_left) = limits, counts
    for n, row in enumerate(rows):
        for r in range(low.shape[0]):
            for s in range(low.shape[1]):
                score = scores[n, s]
                if not score >= low[r, s]:
                    continue
                if score > high[r, s]:
                    above[r, s] += sizes[row]
                    continue
                near[r, s] += sizes[row]
                if row != relevant_rows[r]:
                    if number == len(ties):
                        is_left[s] = True
                        continue
                    is_equal = low[r, s] + doubt[r, s] < score < high[r, s] - doubt[r, s]
                    ties[number] = s, r, row, int(is_equal)
                    number += 1
    return number
