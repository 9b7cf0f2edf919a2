"""Computes plans over evidence with numpy. This is the reference definition of a plan's scores.

The embedded engine runs this module. The Painless scripts of Elasticsearch compute the same, which parity
tests check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.plans.plan import FIELDS, Affine, Curve, FieldName, Mixture, Plan, Saturation, StaticScore

Array = npt.NDArray[np.float64]


class Evidence(Struct, frozen=True):
    """The evidence of n sentences for T terms.

    `counts[field]`, of shape (T, n), has the occurrences of each term in each sentence's field.
    `lengths[field]`, of shape (n,), has the lengths of the field in terms. `columns[name]`, of shape (n,),
    has stored numbers, such as the log prior `importance`. Fields that a plan does not use may be missing.
    """

    counts: Mapping[FieldName, Array]
    lengths: Mapping[FieldName, Array]
    columns: Mapping[str, Array]

    def take(self, places: npt.NDArray[np.intp]) -> Evidence:
        """The evidence of the sentences at these indices, in this order."""
        return Evidence(
            {field: counts[:, places] for field, counts in self.counts.items()},
            {field: lengths[places] for field, lengths in self.lengths.items()},
            {name: column[places] for name, column in self.columns.items()},
        )

    def pack(self) -> Evidence:
        """The same evidence, with counts and lengths in the smallest integer types that hold them."""
        return Evidence(
            {field: _pack(counts) for field, counts in self.counts.items()},
            {field: _pack(lengths) for field, lengths in self.lengths.items()},
            self.columns,
        )

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        arrays = (*self.counts.values(), *self.lengths.values(), *self.columns.values())
        return sum(array.nbytes for array in arrays)


def _pack(numbers: Array) -> Array:
    packed = numbers.astype(np.min_scalar_type(int(numbers.max(initial=0.0))))
    return packed if np.array_equal(packed, numbers) else numbers


def no_evidence(terms: int, columns: Iterable[str]) -> Evidence:
    """The evidence of 0 sentences for this number of terms."""
    return Evidence(
        {field: np.zeros((terms, 0)) for field in FIELDS},
        {field: np.zeros(0) for field in FIELDS},
        {name: np.zeros(0) for name in columns},
    )


def concatenate(parts: Sequence[Evidence]) -> Evidence:
    """Concatenate the evidence of runs of sentences for the same terms. There must be at least one run."""
    first = parts[0]
    return Evidence(
        {field: np.concatenate([part.counts[field] for part in parts], axis=1) for field in first.counts},
        {field: np.concatenate([part.lengths[field] for part in parts]) for field in first.lengths},
        {name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns},
    )


class GroupedEvidence:
    """Evidence to be scored by many plans. Sentences that a plan cannot distinguish are computed once.

    Most candidates contain no term of the query themselves. Of these, a plan that uses the document cannot
    distinguish those of one length in one document.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._by_fields: dict[frozenset[FieldName], tuple[Evidence, npt.NDArray[np.intp]]] = {}

    def score_sentences(self, plan: Plan) -> Array:
        """Scores of shape (n,), bit for bit those of `score_sentences`."""
        distinct, groups = self.group(frozenset[FieldName]((*plan.transform.fields(), "sentence")))
        terms = combine_evidence(plan, distinct.counts, distinct.lengths)
        total = sum_terms(plan, len(distinct.lengths["sentence"]), terms)[groups]
        return add_static_scores(plan, total, self.evidence.columns)

    def group(self, fields: frozenset[FieldName]) -> tuple[Evidence, npt.NDArray[np.intp]]:
        """The evidence in these fields of one sentence per group, and each sentence's group, of shape (n,).

        Groups ascend by the length of the sentence.
        """
        if fields not in self._by_fields:
            self._by_fields[fields] = self._group(fields)
        return self._by_fields[fields]

    def _group(self, fields: frozenset[FieldName]) -> tuple[Evidence, npt.NDArray[np.intp]]:
        counts = {field: self.evidence.counts[field] for field in fields}
        lengths = {field: self.evidence.lengths[field] for field in fields}
        for field in fields - {"sentence"}:  # without counts, the length of a context does not matter
            lengths[field] = np.where(counts[field].any(axis=0), lengths[field], 0.0)
        rows = [*lengths.values(), *(row for of_field in counts.values() for row in of_field)]
        factors = np.random.default_rng(0).random(len(rows)).tolist()
        hashes = reduce(np.add, (factor * row for factor, row in zip(factors, rows, strict=True)))
        _, first, groups = np.unique(hashes, return_index=True, return_inverse=True)
        others = np.delete(np.arange(len(groups)), first)
        if not all(np.array_equal(row[others], row[first[groups[others]]]) for row in rows):
            first = groups = np.arange(len(groups))  # a hash collision of two groups
        order = np.argsort(lengths["sentence"][first], kind="stable")
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        return Evidence(counts, lengths, {}).take(first[order]), place[groups]


class ScoreParts(Struct, frozen=True):
    """The summands of scores, of shape (T, n) for terms, (n,) for the rest.

    `fields[name]` is what the evidence of a field adds. If several fields share one logarithm, each gets its
    share of the evidence. For a mixture, `background` is what a term adds by the collection alone, and
    `length` is the effect of smoothing by the length of a sentence.
    """

    fields: dict[FieldName, Array]
    background: Array
    length: Array
    static_scores: list[Array]


def score_sentences(plan: Plan, evidence: Evidence) -> Array:
    """Scores of shape (n,), -inf for a sentence without a value."""
    terms = combine_evidence(plan, evidence.counts, evidence.lengths)
    return sum_scores(plan, len(evidence.lengths["sentence"]), terms, evidence.columns)


def combine_evidence(
    plan: Plan, counts: Mapping[FieldName, Array], lengths: Mapping[FieldName, Array]
) -> Iterator[Array]:
    """Yield for each term the argument of the logarithm or curve, of shape (n,)."""
    transform = plan.transform
    if isinstance(transform, Mixture):
        shares = mixture_shares(transform, lengths)
        collection = affine(transform.collection, beta(transform, lengths["sentence"]))
        for row, term in enumerate(plan.terms):
            x = collection * term.background
            for name, share in shares.items():
                x = x + share * counts[name][row]
            yield x if term.own else x / (collection * term.background)
    else:
        shares = saturation_shares(transform, lengths)
        for row in range(len(plan.terms)):
            yield _sum(share * counts[name][row] for name, share in shares.items())


def apply_transform(transform: Mixture | Saturation, evidence: Array) -> Array:
    """What evidence adds to a score per unit of a term's weight, of the evidence's shape."""
    return np.log(evidence) if isinstance(transform, Mixture) else saturate(transform, evidence)


def sum_scores(plan: Plan, n: int, terms: Iterable[Array], columns: Mapping[str, Array]) -> Array:
    """Sum the scores of n sentences, from the evidence of each term (`combine_evidence`)."""
    return add_static_scores(plan, sum_terms(plan, n, terms), columns)


def sum_terms(plan: Plan, n: int, terms: Iterable[Array]) -> Array:
    """What the terms add to the scores of n sentences, from the evidence of each (`combine_evidence`)."""
    total = np.zeros(n)
    for term, x in zip(plan.terms, terms, strict=True):
        total += term.weight * apply_transform(plan.transform, x)
    return total


def add_static_scores(plan: Plan, total: Array, columns: Mapping[str, Array]) -> Array:
    """Add the static scores of sentences to `total`, in place."""
    for static_score in plan.static_scores:
        total += apply_static_score(static_score, columns[static_score.column])
    return total


def split_scores(plan: Plan, evidence: Evidence) -> ScoreParts:
    """Split scores into summands. They add up to `score_sentences`, except for rounding."""
    lengths = evidence.lengths["sentence"]
    transform = plan.transform
    weights = np.array([term.weight for term in plan.terms])[:, None]
    background = np.zeros((len(plan.terms), len(lengths)))
    length = np.zeros(len(lengths))
    if isinstance(transform, Mixture):
        shares = mixture_shares(transform, evidence.lengths)
        p = np.array([term.background for term in plan.terms])[:, None]
        collection = affine(transform.collection, beta(transform, lengths))
        has_sentence_part = np.array([term.own for term in plan.terms])[:, None]
        background += np.where(has_sentence_part, weights * np.log(p), 0.0)
        length = plan.query_weight * np.log(collection)
    else:
        shares = saturation_shares(transform, evidence.lengths)
    by_field = {name: share * evidence.counts[name] for name, share in shares.items()}
    x = _sum(by_field.values()) if by_field else np.zeros_like(background)
    if isinstance(transform, Mixture):
        gain = weights * np.log1p(x / (collection * p))
    else:
        gain = weights * saturate(transform, x)
    divisor = np.where(x > 0, x, 1.0)
    return ScoreParts(
        fields={name: gain * part / divisor for name, part in by_field.items()},
        background=background,
        length=length,
        static_scores=[
            apply_static_score(static_score, evidence.columns[static_score.column])
            for static_score in plan.static_scores
        ],
    )


def apply_static_score(static_score: StaticScore, values: Array) -> Array:
    """What a static score adds for the values of its column, of their shape.

    It is infinite or NaN only if the static score is required and has no value.
    """
    with np.errstate(all="ignore"):  # missing values are expected
        scores = static_score.weight * _apply_form(static_score, values) + static_score.constant
    # A missing value stays missing even with weight 0.
    return scores if static_score.required else np.where(np.isfinite(scores), scores, 0.0)


def _apply_form(static_score: StaticScore, values: Array) -> Array:
    """Apply the form to values. NaN stays NaN."""
    if static_score.form == "linear":
        return values
    if static_score.form == "log":
        return np.log(static_score.shift + values)
    if static_score.form == "step":
        return np.where(np.isnan(values), values, (values > 0).astype(float))
    if static_score.form == "curve":
        assert static_score.curve is not None
        return evaluate_curve(static_score.curve, values)
    # Written with k/I, so that neither a large I nor a large power of it gives infinity / infinity.
    ratio = static_score.k / np.maximum(values, 0.0)
    return 1.0 / (1.0 + (ratio if static_score.form == "satu" else ratio**static_score.a))


def evaluate_curve(curve: Curve, values: Array) -> Array:
    """Evaluate the curve at the values, of their shape. NaN stays NaN."""
    x, y, slopes = (np.array(part) for part in (curve.values, curve.adds, curve.slopes))
    if len(x) == 1:
        inside = np.full(values.shape, y[0])
    else:
        n = np.clip(np.searchsorted(x, values, "right") - 1, 0, len(x) - 2)
        width, beyond = x[n + 1] - x[n], values - x[n]
        secant = (y[n + 1] - y[n]) / width
        bend = (slopes[n] + slopes[n + 1] - 2.0 * secant) / width
        cubic = bend / width * beyond + (secant - slopes[n]) / width - bend
        inside = y[n] + beyond * (slopes[n] + beyond * cubic)
    low, high = (y[0], y[-1]) if curve.outside is None else (curve.outside, curve.outside)
    adds = np.where(values < x[0], low, np.where(values > x[-1], high, inside))
    adds = np.where(values == x[-1], y[-1], adds)
    return np.where(np.isnan(values), values, adds)


def beta(transform: Mixture, lengths: Array) -> Array:
    """mu / (c(s) + mu), of the shape of the lengths."""
    if transform.mu == 0:
        return np.zeros(len(lengths))
    return transform.mu / (lengths + transform.mu)


def affine(weights: Affine, at: Array) -> Array:
    """The weight at each beta."""
    return weights.constant + weights.slope * at


def mixture_shares(transform: Mixture, lengths: Mapping[FieldName, Array]) -> dict[FieldName, Array]:
    """For each field, the worth of one occurrence in each sentence. Empty fields have no occurrences."""
    at = beta(transform, lengths["sentence"])
    return {
        name: affine(getattr(transform, name), at) / np.maximum(lengths[name], 1.0)
        for name in transform.fields()
    }


def saturation_shares(transform: Saturation, lengths: Mapping[FieldName, Array]) -> dict[FieldName, Array]:
    """For each field, the worth of one occurrence in each sentence."""
    shares = {}
    for name in transform.fields():
        field = getattr(transform, name)
        norm = 1.0 - field.b + field.b * lengths[name] / field.average
        # The norm is 0 only if b = 1 and the length is 0, where there are no occurrences.
        shares[name] = field.share / np.where(norm > 0, norm, 1.0)
    return shares


def saturate(transform: Saturation, x: Array) -> Array:
    """Apply the curve of the saturation to evidence."""
    if transform.k1 is None:
        return np.log1p(x)
    # With k1 = 0 only presence counts: 0/0 means absent.
    return np.where(x > 0, (transform.k1 + 1.0) * x / np.where(x > 0, transform.k1 + x, 1.0), 0.0)


def _sum(arrays: Iterable[Array]) -> Array:
    return reduce(np.add, arrays)


def top_k(scores: Array, k: int) -> npt.NDArray[np.intp]:
    """The indices of the k greatest scores, greatest first, ties in index order. O(n + k log k)."""
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        above = np.flatnonzero(scores > threshold)
        ties = np.flatnonzero(scores == threshold)[: k - len(above)]
        places = np.concatenate([above, ties])
        return places[np.lexsort((places, -scores[places]))]
    return np.argsort(-scores, kind="stable")


def round_outward(values: npt.NDArray[np.float64], *, up: bool) -> npt.NDArray[np.float32]:
    """Round values to 32 bits, up or down, so that bounds remain bounds."""
    rounded = values.astype(np.float32)
    is_inside = rounded < values if up else rounded > values
    np.nextafter(rounded, np.float32(np.inf if up else -np.inf), out=rounded, where=is_inside)
    return rounded
