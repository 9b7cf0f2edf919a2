"""BM25f with the sentence and its context as fields."""

from esr.models.bm25 import K1, weighted_terms
from esr.models.idf import K3
from esr.models.likelihood import ALL_CONTEXTS, NU, check_at_most_one, context_shares
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.parameter import TENTHS, Parameter
from esr.plans.plan import Saturation, Smoothing


def plan(settings: Settings, query: Query) -> WeightedQuery:
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
    return WeightedQuery(weighted_terms(settings, query), transform)


BM25F = register(
    Model(
        "bm25f",
        "BM25 over two fields, the sentence and its context",
        "Robertson et al. 2004; Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.11",
        plan,
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
)
