"""A plan computed over evidence with numpy: the meaning of a plan.

The embedded engine runs this; the Painless scripts say the same, and the parity tests hold them to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Affine, FieldName, Mixture, Plan, Saturation, Static


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
    lengths = evidence.lengths["sentence"]
    transform = plan.transform
    total = np.zeros(len(lengths))
    if isinstance(transform, Mixture):
        shares = _mixture_shares(transform, evidence)
        collection = _affine(transform.collection, _beta(transform, lengths))
        for row, term in enumerate(plan.terms):
            x = collection * term.background
            for name, share in shares.items():
                x = x + share * evidence.counts[name][row]
            total += term.weight * np.log(x)
    else:
        shares = _saturation_shares(transform, evidence)
        for row, term in enumerate(plan.terms):
            x = _sum(share * evidence.counts[name][row] for name, share in shares.items())
            total += term.weight * _curve(transform, x)
    for static in plan.statics:
        total += static_part(static, evidence)
    return total


def parts(plan: Plan, evidence: Evidence) -> Parts:
    """The same scores, split. Summing everything gives `scores` to rounding."""
    lengths = evidence.lengths["sentence"]
    transform = plan.transform
    weights = np.array([term.weight for term in plan.terms])[:, None]
    background = np.zeros((len(plan.terms), len(lengths)))
    length = np.zeros(len(lengths))
    if isinstance(transform, Mixture):
        shares = _mixture_shares(transform, evidence)
        p = np.array([term.background for term in plan.terms])[:, None]
        collection = _affine(transform.collection, _beta(transform, lengths))
        background += weights * np.log(p)
        length = plan.query_weight * np.log(collection)
    else:
        shares = _saturation_shares(transform, evidence)
    pieces = {name: share * evidence.counts[name] for name, share in shares.items()}
    x = _sum(pieces.values()) if pieces else np.zeros_like(background)
    if isinstance(transform, Mixture):
        gain = weights * np.log1p(x / (collection * p))
    else:
        gain = weights * _curve(transform, x)
    whole = np.where(x > 0, x, 1.0)
    return Parts(
        fields={name: gain * piece / whole for name, piece in pieces.items()},
        background=background,
        length=length,
        statics=[static_part(static, evidence) for static in plan.statics],
    )


def static_part(static: Static, evidence: Evidence) -> Array:
    """What a static adds, of shape (n,)."""
    value = evidence.columns[static.column]
    with np.errstate(divide="ignore", invalid="ignore"):  # no value times a weight of 0 is no value
        if static.form == "log":
            value = np.log(value)
        return static.weight * value + static.constant


def _beta(transform: Mixture, lengths: Array) -> Array:
    if transform.mu == 0:
        return np.zeros(len(lengths))
    return transform.mu / (lengths + transform.mu)


def _affine(weights: Affine, beta: Array) -> Array:
    return weights.constant + weights.slope * beta


def _mixture_shares(transform: Mixture, evidence: Evidence) -> dict[FieldName, Array]:
    """Per field, what one occurrence is worth in each sentence. A field without terms has none to count."""
    beta = _beta(transform, evidence.lengths["sentence"])
    return {
        name: _affine(getattr(transform, name), beta) / np.maximum(evidence.lengths[name], 1.0)
        for name in transform.fields()
    }


def _saturation_shares(transform: Saturation, evidence: Evidence) -> dict[FieldName, Array]:
    shares = {}
    for name in transform.fields():
        field = getattr(transform, name)
        norm = 1.0 - field.b + field.b * evidence.lengths[name] / field.average
        # The norm is 0 only for b = 1 and length 0, where there is nothing to count.
        shares[name] = field.share / np.where(norm > 0, norm, 1.0)
    return shares


def _curve(transform: Saturation, x: Array) -> Array:
    if transform.k1 is None:
        return np.log1p(x)
    # k1 = 0 counts presence alone; 0/0 is then "absent".
    return np.where(x > 0, (transform.k1 + 1.0) * x / np.where(x > 0, transform.k1 + x, 1.0), 0.0)


def _sum(arrays: Iterable[Array]) -> Array:
    return reduce(np.add, arrays)
