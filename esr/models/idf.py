"""Term weights of the saturating models by the rarity of terms. docs/formulas.md, A.9, A.10, A.12."""

from __future__ import annotations

import math

from esr.models.model import Query, Settings
from esr.parameter import Parameter

IDF = Parameter(
    "idf",
    "rarity counted in sentences, in documents, or in documents against the number of sentences",
    "sentence",
    choices=("sentence", "document", "document_keep_n"),
)
K3 = Parameter("k3", "saturation of repeated query terms; 0 counts each once", 0.0, high=float("inf"))


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


def bm25_idf(query: Query, term: str) -> float:
    """log( (N - sf + 0.5) / (sf + 0.5) ): negative for a term in more than half of the sentences."""
    size, frequency = query.statistics.collection.sentences, query.statistics.terms[term].sf
    return math.log((size - frequency + 0.5) / (frequency + 0.5))


def saturated_count(count: int, k3: float) -> float:
    """(k3 + 1) c(t,q) / (k3 + c(t,q))."""
    return (k3 + 1.0) * count / (k3 + count)
