"""The weight of a query term in a sentence without it, by model and length of the sentence.

A longer sentence without a term should be penalised less if its document contains the term. Only 2S-I does
this (Fernández, Losada & Azzopardi 2011, Table 8 and Figure 4; docs/formulas.md, A.13).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from esr.plugin import Query, Statistics
from esr.plugin.provisional import (
    CollectionStatistics,
    Evidence,
    Plan,
    TermStatistics,
    get_model,
    score_sentences,
)

LENGTHS = tuple(range(1, 51))
LAMBDA, GAMMA, MU = 0.5, 0.25, 100.0
IN_DOCUMENT, IN_COLLECTION = 0.02, 0.0005
SETTINGS: Mapping[str, Mapping[str, float]] = {
    "jm": {"lambda": LAMBDA},
    "dir": {"mu": MU},
    "3mm": {"lambda": LAMBDA, "gamma": GAMMA},
    "2s": {"lambda": LAMBDA, "mu": MU},
    "2si": {"lambda": LAMBDA, "mu": MU},
}
_TERM = "term"
Weights = dict[str, tuple[float, ...]]
"""By model, the weight for each of LENGTHS."""


def compute_weights(in_document: float = IN_DOCUMENT, in_collection: float = IN_COLLECTION) -> Weights:
    """The weights, from the models' own plans. `in_document` is p(t|d), `in_collection` is p(t)."""
    share = Fraction(str(in_collection))
    term = TermStatistics(sf=share.numerator, df=share.numerator, cf=share.numerator)
    statistics = Statistics(CollectionStatistics(occurrences=share.denominator), {_TERM: term})
    number = len(LENGTHS)
    evidence = Evidence(
        counts={"sentence": np.zeros((1, number)), "document": np.full((1, number), in_document)},
        lengths={"sentence": np.array(LENGTHS, dtype=float), "document": np.ones(number)},
        columns={},
    )
    return {
        name: tuple(map(float, score_sentences(_build_plan(name, values, statistics), evidence)))
        for name, values in SETTINGS.items()
    }


def _build_plan(name: str, values: Mapping[str, float], statistics: Statistics) -> Plan:
    model = get_model(name)
    settings = model.settings(values, "document" if model.contexts else None)
    ranked = model.plan(settings, Query({_TERM: 1}, 1, statistics))
    return Plan(ranked.terms, ranked.transform, candidates="all", context="document")
