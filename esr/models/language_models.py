"""Language models of sentences: query likelihood under mixtures of sentence, context and collection.

Common functions come first, then for each model a function that makes its plan, and its data. Sources:
Fernández, Losada & Azzopardi 2011, Murdock 2006, Larkey et al. 2002; docs/formulas.md, section 0, A.1-A.7 and
B.2.
"""

from __future__ import annotations

from functools import lru_cache

from esr.models.model import (
    ALL_CONTEXTS,
    NU,
    Model,
    Query,
    Settings,
    WeightedQuery,
    check_at_most_one,
    context_shares,
)
from esr.plans.plan import Affine, Mixture, PlanTerm
from esr.registry import INNER_TENTHS, Parameter

BACKGROUND = Parameter(
    "background",
    "p(t|C) from occurrences, or from the documents that contain the term",
    "occurrences",
    choices=("occurrences", "documents"),
)
MU_GRID = (1.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 10000.0)


def mu_parameter(default: float = 30.0) -> Parameter:
    """The parameter of Dirichlet smoothing: a number of terms, above 0. Tuning tries MU_GRID."""
    return Parameter(
        "mu", "Dirichlet smoothing, in terms", default, high=float("inf"), open_low=True, grid=MU_GRID
    )


def weighted_terms(settings: Settings, query: Query, scale: float = 1.0) -> tuple[PlanTerm, ...]:
    """The query's terms in order, with the weight c(t,q) * scale and the background p(t|C).

    The setting `background` says what p(t|C) counts: occurrences, or documents with the term.
    """
    collection, statistics = query.statistics.collection, query.statistics.terms
    background = collection.background
    if settings.choice("background") == "documents":
        background = collection.background_by_documents
    return tuple(
        [PlanTerm(term, count * scale, background(statistics[term])) for term, count in query.counts.items()]
    )


# Jelinek-Mercer smoothing: the sentence mixed with the collection.


def _plan_jm(settings: Settings, query: Query) -> WeightedQuery:
    """p(t|s) = (1 - lambda) c(t,s)/c(s) + lambda p(t)."""
    collection = settings["lambda"]
    transform = Mixture(0.0, Affine(1.0 - collection), Affine(), Affine(), Affine(collection))
    return WeightedQuery(weighted_terms(settings, query), transform)


JM = Model(
    "jm",
    "Jelinek-Mercer language model of the sentence",
    "Fernández, Losada & Azzopardi 2011, eq. 2; docs/formulas.md, A.2",
    _plan_jm,
    (Parameter("lambda", "share of the collection", 0.5, open_low=True, grid=INNER_TENTHS), BACKGROUND),
)


# Dirichlet smoothing with the collection: the longer a sentence, the less it is smoothed.


def _dirichlet(settings: Settings) -> Mixture:
    """p(t|s) = (c(t,s) + mu p(t)) / (c(s) + mu) = (1 - beta) c(t,s)/c(s) + beta p(t)."""
    return Mixture(settings["mu"], Affine(1.0, -1.0), Affine(), Affine(), Affine(0.0, 1.0))


def _plan_dir(settings: Settings, query: Query) -> WeightedQuery:
    return WeightedQuery(weighted_terms(settings, query), _dirichlet(settings))


DIR = Model(
    "dir",
    "Dirichlet language model of the sentence",
    "Fernández, Losada & Azzopardi 2011, eq. 3; docs/formulas.md, A.3",
    _plan_dir,
    (mu_parameter(), BACKGROUND),
)


# Negative Kullback-Leibler divergence between the query and a Dirichlet-smoothed sentence.


def _plan_kld(settings: Settings, query: Query) -> WeightedQuery:
    """sum of p(t|q) log p(t|s), p(t|q) = c(t,q)/c(q): `dir` divided by the query's length.

    Priors and features are added to the score, so they count c(q) times as much as with `dir`.
    """
    return WeightedQuery(
        weighted_terms(settings, query, scale=1.0 / max(query.length, 1)), _dirichlet(settings)
    )


KLD = Model(
    "kld",
    "Kullback-Leibler divergence with Dirichlet smoothing; ranks as dir does without priors and features",
    "Larkey et al. 2002; Fernández & Losada 2012; docs/formulas.md, B.2",
    _plan_kld,
    (mu_parameter(), BACKGROUND),
)


# 3MM: sentence, context and collection mixed with fixed weights.


def _plan_three_mixture(settings: Settings, query: Query) -> WeightedQuery:
    """Three variants of the formula; flat and flat_jm differ only in the meaning of `lambda`.

    flat     lambda p(t|s) + gamma p(t|context) + (1 - lambda - gamma) p(t)
    flat_jm  (1 - lambda - gamma) p(t|s) + gamma p(t|context) + lambda p(t)
    nested   (1 - lambda) [ (1 - gamma) p(t|s) + gamma p(t|context) ] + lambda p(t)
    """
    lambda_, gamma, nu, form = settings["lambda"], settings["gamma"], settings.nu, settings.choice("form")
    shares = context_shares(settings, gamma)
    scale = 1.0
    if form == "nested":
        check_at_most_one("gamma + nu", gamma + nu)
        scale = 1.0 - lambda_
        sentence, collection = scale * (1.0 - gamma - nu), lambda_
    else:
        rest = 1.0 - lambda_ - gamma - nu
        check_at_most_one("lambda + gamma + nu", lambda_ + gamma + nu, strictly=form == "flat")
        sentence, collection = (lambda_, rest) if form == "flat" else (rest, lambda_)
    if collection == 0.0:
        check_at_most_one("the share of all but the collection", 1.0, strictly=True)
    transform = Mixture(
        0.0,
        Affine(sentence),
        Affine(scale * shares.surrounding),
        Affine(scale * shares.document),
        Affine(collection),
    )
    return WeightedQuery(weighted_terms(settings, query), transform)


THREE_MIXTURE = Model(
    "3mm",
    "three-mixture model: sentence, context, collection",
    "Murdock 2006; Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.5",
    _plan_three_mixture,
    (
        Parameter(
            "lambda",
            "share of the sentence (flat) or of the collection (flat_jm, nested)",
            0.5,
            grid=INNER_TENTHS,
        ),
        Parameter("gamma", "share of the context", 0.25, grid=INNER_TENTHS),
        NU,
        Parameter("form", "reading of the formula", "flat", choices=("flat", "flat_jm", "nested")),
        BACKGROUND,
    ),
    ALL_CONTEXTS,
)


# 2S: Dirichlet smoothing with the context, then Jelinek-Mercer with the collection.


def _plan_two_stage(settings: Settings, query: Query) -> WeightedQuery:
    """p(t|s,d) = (1 - lambda) (c(t,s) + mu p(t|context)) / (c(s) + mu) + lambda p(t).

    With both contexts, p(t|context) is (1 - nu) of the document and nu of the surrounding.
    """
    lambda_ = settings["lambda"]
    surrounding = 1.0 if settings.context == "surrounding" else settings.nu
    transform = Mixture(
        settings["mu"],
        Affine(1.0 - lambda_, lambda_ - 1.0),
        Affine(0.0, (1.0 - lambda_) * surrounding),
        Affine(0.0, (1.0 - lambda_) * (1.0 - surrounding)),
        Affine(lambda_),
    )
    return WeightedQuery(weighted_terms(settings, query), transform)


TWO_STAGE = Model(
    "2s",
    "two-stage smoothing: context by Dirichlet, then collection by mixture",
    "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.6",
    _plan_two_stage,
    (
        mu_parameter(),
        Parameter("lambda", "share of the collection", 0.25, open_low=True, grid=INNER_TENTHS),
        NU,
        BACKGROUND,
    ),
    ALL_CONTEXTS,
)


# 2S-I, the default model: the sentence mixed with its context, then Dirichlet with the collection.


def _plan_two_stage_inverted(settings: Settings, query: Query) -> WeightedQuery:
    """p(t|s,d) = (1 - beta) [ (1 - lambda) p(t|s) + lambda p(t|context) ] + beta p(t).

    With both contexts: lambda for the document, nu for the surrounding, the rest for the sentence.
    """
    lambda_, nu = settings["lambda"], settings.nu
    check_at_most_one("lambda + nu", lambda_ + nu)
    transform = _mix(settings["mu"], 1.0 - lambda_ - nu, *context_shares(settings, lambda_))
    return WeightedQuery(weighted_terms(settings, query), transform)


@lru_cache(maxsize=64)
def _mix(mu: float, sentence: float, surrounding: float, document: float) -> Mixture:
    return Mixture(
        mu,
        Affine(sentence, -sentence),
        Affine(surrounding, -surrounding),
        Affine(document, -document),
        Affine(0.0, 1.0),
    )


TWO_STAGE_INVERTED = Model(
    "2si",
    "two-stage smoothing inverted: context by mixture, then collection by Dirichlet (the default)",
    "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.7",
    _plan_two_stage_inverted,
    (
        mu_parameter(30.0),
        Parameter(
            "lambda",
            "share of the context; of the document if the context is both",
            0.25,
            grid=INNER_TENTHS,
        ),
        NU,
        BACKGROUND,
    ),
    ("both", "document", "surrounding"),
)
