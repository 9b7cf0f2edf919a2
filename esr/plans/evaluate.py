"""A plan computed over evidence with numpy: the meaning of a plan.

The embedded engine runs this; the Painless scripts say the same, and the parity tests hold them to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Affine, Curve, FieldName, Mixture, Plan, Saturation, Static


@dataclass(frozen=True, slots=True)
class Parts:
    """A score split into what adds up to it. Shapes: (T, n) for terms, (n,) for what has none.

    `fields[name]` is what the evidence of that field adds; where several fields feed one logarithm,
    each gets its share of the evidence. Of a mixture, `background` is what a term gets from the
    collection alone, and `length` what smoothing takes from a sentence for its length.
    """

    fields: dict[FieldName, Array]
    background: Array
    length: Array
    statics: list[Array]


def scores(plan: Plan, evidence: Evidence) -> Array:
    """Scores of shape (n,). -inf marks a sentence that the plan has no value for."""
    found = of_terms(plan, evidence.counts, evidence.lengths)
    return summed(plan, len(evidence.lengths["sentence"]), found, evidence.columns)


def of_terms(
    plan: Plan, counts: Mapping[FieldName, Array], lengths: Mapping[FieldName, Array]
) -> Iterator[Array]:
    """What the curve is taken of, for one term after another, each of shape (n,)."""
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


def summed(plan: Plan, n: int, found: Iterable[Array], columns: Mapping[str, Array]) -> Array:
    """The scores of n sentences, from what `of_terms` gives."""
    transform, total = plan.transform, np.zeros(n)
    for term, x in zip(plan.terms, found, strict=True):
        total += term.weight * (np.log(x) if isinstance(transform, Mixture) else curve(transform, x))
    for static in plan.statics:
        total += static_part(static, columns[static.column])
    return total


def parts(plan: Plan, evidence: Evidence) -> Parts:
    """The same scores, split. Summing everything gives `scores` to rounding."""
    lengths = evidence.lengths["sentence"]
    transform = plan.transform
    weights = np.array([term.weight for term in plan.terms])[:, None]
    background = np.zeros((len(plan.terms), len(lengths)))
    length = np.zeros(len(lengths))
    if isinstance(transform, Mixture):
        shares = mixture_shares(transform, evidence.lengths)
        p = np.array([term.background for term in plan.terms])[:, None]
        collection = affine(transform.collection, beta(transform, lengths))
        own = np.array([term.own for term in plan.terms])[:, None]
        background += np.where(own, weights * np.log(p), 0.0)
        length = plan.query_weight * np.log(collection)
    else:
        shares = saturation_shares(transform, evidence.lengths)
    pieces = {name: share * evidence.counts[name] for name, share in shares.items()}
    x = _sum(pieces.values()) if pieces else np.zeros_like(background)
    if isinstance(transform, Mixture):
        gain = weights * np.log1p(x / (collection * p))
    else:
        gain = weights * curve(transform, x)
    whole = np.where(x > 0, x, 1.0)
    return Parts(
        fields={name: gain * piece / whole for name, piece in pieces.items()},
        background=background,
        length=length,
        statics=[static_part(static, evidence.columns[static.column]) for static in plan.statics],
    )


def static_part(static: Static, value: Array) -> Array:
    """What a static adds, from the values of its column and of their shape. Not finite only where it is
    required and has no value."""
    with np.errstate(all="ignore"):  # where there is no value, there is nothing to be told of
        adds = static.weight * _formed(static, value) + static.constant
    # No value times a weight of 0 is no value.
    return adds if static.required else np.where(np.isfinite(adds), adds, 0.0)


def _formed(static: Static, value: Array) -> Array:
    """The form of the values; NaN stays NaN."""
    if static.form == "linear":
        return value
    if static.form == "log":
        return np.log(static.shift + value)
    if static.form == "step":
        return np.where(np.isnan(value), value, (value > 0).astype(float))
    if static.form == "curve":
        assert static.curve is not None
        return curve_at(static.curve, value)
    # Written with k/I, so that neither a great I nor a great power of it becomes infinite over infinite.
    ratio = static.k / np.maximum(value, 0.0)
    return 1.0 / (1.0 + (ratio if static.form == "satu" else ratio**static.a))


def curve_at(curve: Curve, value: Array) -> Array:
    """What each of the numbers adds, of their shape. NaN gives NaN."""
    x, y, slopes = (np.array(part) for part in (curve.values, curve.adds, curve.slopes))
    if len(x) == 1:
        inside = np.full(value.shape, y[0])
    else:
        n = np.clip(np.searchsorted(x, value, "right") - 1, 0, len(x) - 2)
        width, beyond = x[n + 1] - x[n], value - x[n]
        secant = (y[n + 1] - y[n]) / width
        bend = (slopes[n] + slopes[n + 1] - 2.0 * secant) / width
        cubic = bend / width * beyond + (secant - slopes[n]) / width - bend
        inside = y[n] + beyond * (slopes[n] + beyond * cubic)
    low, high = (y[0], y[-1]) if curve.outside is None else (curve.outside, curve.outside)
    found = np.where(value < x[0], low, np.where(value > x[-1], high, inside))
    found = np.where(value == x[-1], y[-1], found)
    return np.where(np.isnan(value), value, found)


def beta(transform: Mixture, lengths: Array) -> Array:
    """mu / (c(s) + mu), of the shape of the lengths."""
    if transform.mu == 0:
        return np.zeros(len(lengths))
    return transform.mu / (lengths + transform.mu)


def affine(weights: Affine, at: Array) -> Array:
    """The weight at each beta."""
    return weights.constant + weights.slope * at


def mixture_shares(transform: Mixture, lengths: Mapping[FieldName, Array]) -> dict[FieldName, Array]:
    """Per field, what one occurrence is worth in each sentence. A field without terms has none to count."""
    at = beta(transform, lengths["sentence"])
    return {
        name: affine(getattr(transform, name), at) / np.maximum(lengths[name], 1.0)
        for name in transform.fields()
    }


def saturation_shares(transform: Saturation, lengths: Mapping[FieldName, Array]) -> dict[FieldName, Array]:
    """Per field, what one occurrence is worth in each sentence."""
    shares = {}
    for name in transform.fields():
        field = getattr(transform, name)
        norm = 1.0 - field.b + field.b * lengths[name] / field.average
        # The norm is 0 only for b = 1 and length 0, where there is nothing to count.
        shares[name] = field.share / np.where(norm > 0, norm, 1.0)
    return shares


def curve(transform: Saturation, x: Array) -> Array:
    """The saturation's curve over evidence."""
    if transform.k1 is None:
        return np.log1p(x)
    # k1 = 0 counts presence alone; 0/0 is then "absent".
    return np.where(x > 0, (transform.k1 + 1.0) * x / np.where(x > 0, transform.k1 + x, 1.0), 0.0)


def _sum(arrays: Iterable[Array]) -> Array:
    return reduce(np.add, arrays)
