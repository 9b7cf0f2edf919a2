"""The model `share`: the sentence mixed with the collection by a fixed share (Jelinek-Mercer)."""

from __future__ import annotations

from esr.plugin import (
    BACKGROUND,
    INNER_TENTHS,
    Affine,
    Mixture,
    Model,
    Parameter,
    Query,
    Settings,
    WeightedQuery,
    weighted_terms,
)


def plan(settings: Settings, query: Query) -> WeightedQuery:
    """p(t|s) = (1 - share) c(t,s)/c(s) + share p(t)."""
    share = settings["share"]
    transform = Mixture(0.0, Affine(1.0 - share), Affine(), Affine(), Affine(share))
    return WeightedQuery(weighted_terms(settings, query), transform)


SHARE = Model(
    "share",
    "language model of the sentence with a fixed share for the collection",
    "Zhai & Lafferty 2004",
    plan,
    (Parameter("share", "share of the collection", 0.5, open_low=True, grid=INNER_TENTHS), BACKGROUND),
)
