"""The retrieval-formula analysis: the weight of a query term that a sentence lacks, by sentence length.

Fernández, Losada & Azzopardi 2011, Table 8 and Figure 4; docs/formulas.md, A.13. A longer sentence that lacks
a term should be penalised less if its document contains the term, which distinguishes 2S-I. The weights come
from the models' own plans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure

from esr import models
from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.plans.evaluate import score_sentences
from esr.plans.evidence import Evidence
from esr.plans.plan import Plan
from esr.plans.statistics import CollectionStatistics, Statistics, TermStatistics

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
_HEIGHT = 3.9
Weights = dict[str, tuple[float, ...]]
"""By model, for each of LENGTHS."""


def compute_weights(in_document: float = IN_DOCUMENT, in_collection: float = IN_COLLECTION) -> Weights:
    """The score that an unseen term adds: the models score sentences of every length without the term.

    `in_document` is p(t|d), `in_collection` is p(t).
    """
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
    model = models.get(name)
    settings = model.settings(values, "document" if model.contexts else None)
    ranked = model.plan(settings, models.Query({_TERM: 1}, 1, statistics))
    return Plan(ranked.terms, ranked.transform, candidates="all", context="document")


def build_picture(weights: Weights) -> Picture:
    return Picture(
        "unseen-terms",
        "What an unseen query term weighs",
        "The score that a query term adds to a sentence that lacks it, by the sentence's length: each model "
        f"with λ = {LAMBDA:g}, μ = {MU:g} (3mm: γ = {GAMMA:g}) and the document as context, for a term with "
        f"p(t|d) = {IN_DOCUMENT:g} and p(t) = {IN_COLLECTION:g}. dir and 2s decrease, and so favour short "
        "sentences; jm and 3mm are constant; 2si increases, because λ p(t|d) > p(t): a long sentence relies "
        "on its document.",
        draw(weights),
        build_rows(weights),
    )


def build_rows(weights: Weights) -> Sequence[Sequence[str]]:
    lengths = [1, *LENGTHS[9::10]]
    rows = [[str(length), *(f"{w[length - 1]:.2f}" for w in weights.values())] for length in lengths]
    return [["terms in the sentence", *weights], *rows]


@style.with_style
def draw(weights: Weights) -> Figure:
    figure = style.create_figure(_HEIGHT)
    axes = figure.add_subplot()
    for position, values in enumerate(weights.values()):
        run_style = style.style_of(position)
        axes.plot(
            LENGTHS,
            values,
            color=run_style.color,
            linestyle=run_style.dashes,
            marker=run_style.marker,
            markevery=(0, 7),
        )
    axes.set(xlabel="terms in the sentence", ylabel="log p(t|θ) of an unseen term", xlim=(0, LENGTHS[-1] + 1))
    axes.set_ylim(axes.get_ylim())
    style.label_ends(axes, LENGTHS[-1], [w[-1] for w in weights.values()], list(weights), _HEIGHT - 0.7)
    return figure
