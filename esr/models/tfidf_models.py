"""Models that weight terms by their rarity: tfisf and BM25, and variants of both with the context's counts.

Each model has a function that makes its plan, and its data. docs/formulas.md, A.9-A.12.
"""

from __future__ import annotations

import math

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
from esr.plans.plan import PlanTerm, Saturation, Smoothing
from esr.registry import TENTHS, Parameter

IDF = Parameter(
    "idf",
    "rarity counted in sentences, in documents, or in documents against the number of sentences",
    "sentence",
    choices=("sentence", "document", "document_keep_n"),
)


def rarity(size: int, frequency: int) -> float:
    """log( (N + 1) / (0.5 + f) ) of a term in f of N sentences or documents."""
    return math.log((size + 1) / (0.5 + frequency))


def tfisf_idf(settings: Settings, query: Query, term: str) -> float:
    """log( (N + 1) / (0.5 + sf) ), or the same with documents."""
    collection, statistics = query.statistics.collection, query.statistics.terms[term]
    level = settings.choice("idf")
    frequency = statistics.sf if level == "sentence" else statistics.df
    size = collection.documents if level == "document" else collection.sentences
    return rarity(size, frequency)


# tfisf, the baseline: term frequency times inverse sentence frequency.


def _tfisf_terms(settings: Settings, query: Query) -> tuple[PlanTerm, ...]:
    """log(c(t,q) + 1) * idf."""
    return tuple(
        PlanTerm(term, math.log1p(count) * tfisf_idf(settings, query, term))
        for term, count in query.counts.items()
    )


def _plan_tfisf(settings: Settings, query: Query) -> WeightedQuery:
    """sum of log(c(t,q) + 1) log(c(t,s) + 1) log( (N + 1) / (0.5 + sf) )."""
    return WeightedQuery(
        _tfisf_terms(settings, query), Saturation(None, Smoothing(1.0), Smoothing(), Smoothing())
    )


TFISF = Model(
    "tfisf",
    "term frequency times inverse sentence frequency",
    "Allan, Wade & Bolivar 2003; docs/formulas.md, A.10",
    _plan_tfisf,
    (IDF,),
)


# tfmix: tfisf with the context's counts mixed into the sentence's.


def _plan_tfmix(settings: Settings, query: Query) -> WeightedQuery:
    """tfisf with c(t,s) replaced by alpha c(t,s) + (1 - alpha) c(t,context)."""
    alpha, nu = settings["alpha"], settings.nu
    check_at_most_one("alpha + nu", alpha + nu)
    shares = context_shares(settings, 1.0 - alpha - nu)
    transform = Saturation(None, Smoothing(alpha), Smoothing(shares.surrounding), Smoothing(shares.document))
    return WeightedQuery(_tfisf_terms(settings, query), transform)


TFMIX = Model(
    "tfmix",
    "tfisf over mixed counts of the sentence and its context",
    "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.12",
    _plan_tfmix,
    (Parameter("alpha", "share of the sentence's own counts", 0.6, grid=TENTHS), NU, IDF),
    ALL_CONTEXTS,
)


# BM25 over sentences.


K1_GRID = tuple(1.0 + tenth for tenth in TENTHS)
K1 = Parameter("k1", "saturation of repeated terms", 1.2, high=float("inf"), grid=K1_GRID)


K3 = Parameter("k3", "saturation of repeated query terms; 0 counts each once", 0.0, high=float("inf"))


def _bm25_idf(query: Query, term: str) -> float:
    """log( (N - sf + 0.5) / (sf + 0.5) ): negative for a term in more than half of the sentences."""
    size, frequency = query.statistics.collection.sentences, query.statistics.terms[term].sf
    return math.log((size - frequency + 0.5) / (frequency + 0.5))


def _bm25_terms(settings: Settings, query: Query) -> tuple[PlanTerm, ...]:
    """idf times (k3 + 1) c(t,q) / (k3 + c(t,q))."""
    k3 = settings["k3"]
    return tuple(
        PlanTerm(term, _bm25_idf(query, term) * ((k3 + 1.0) * count / (k3 + count)))
        for term, count in query.counts.items()
    )


def _plan_bm25(settings: Settings, query: Query) -> WeightedQuery:
    """sum of idf (k1 + 1) c(t,s) / ( k1 ((1 - b) + b c(s)/avsl) + c(t,s) )."""
    average_length = query.statistics.collection.average_sentence or 1.0
    sentence = Smoothing(1.0, settings["b"], average_length)
    return WeightedQuery(
        _bm25_terms(settings, query), Saturation(settings["k1"], sentence, Smoothing(), Smoothing())
    )


BM25 = Model(
    "bm25",
    "Okapi BM25 over sentences",
    "Robertson et al. 1999; docs/formulas.md, A.9",
    _plan_bm25,
    (K1, Parameter("b", "length normalisation", 0.75, grid=TENTHS), K3),
)


# BM25f with the sentence and its context as fields.


def _plan_bm25f(settings: Settings, query: Query) -> WeightedQuery:
    """One saturation over the fields' length-normalised counts; alpha = 1 is BM25 with b = b_sent."""
    collection = query.statistics.collection
    alpha, nu, b = settings["alpha"], settings.nu, settings["b_context"]
    check_at_most_one("alpha + nu", alpha + nu)
    shares = context_shares(settings, 1.0 - alpha - nu)
    by_sentences = settings.choice("avcl") == "sentences"
    average_document = (
        collection.average_document_by_sentences if by_sentences else collection.average_document
    )
    transform = Saturation(
        settings["k1"],
        Smoothing(alpha, settings["b_sent"], collection.average_sentence or 1.0),
        Smoothing(shares.surrounding, b, collection.average_surrounding or 1.0),
        Smoothing(shares.document, b, average_document or 1.0),
    )
    return WeightedQuery(_bm25_terms(settings, query), transform)


BM25F = Model(
    "bm25f",
    "BM25 over two fields, the sentence and its context",
    "Robertson et al. 2004; Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.11",
    _plan_bm25f,
    (
        Parameter("alpha", "share of the sentence", 0.6, grid=TENTHS),
        NU,
        K1,
        Parameter("b_sent", "length normalisation of the sentence", 0.0, grid=TENTHS),
        Parameter("b_context", "length normalisation of the context", 0.75),
        Parameter(
            "avcl",
            "average document length over documents, or over sentences",
            "documents",
            choices=("documents", "sentences"),
        ),
        K3,
    ),
    ALL_CONTEXTS,
)
