"""The complete contents of an index, for comparison field by field."""

from __future__ import annotations

from typing import Any

from esr.index.contract import Index
from esr.ranking.searcher import open_searcher
from esr.text.document import Document

TERMS = ["flood", "bank", "rare", "titleword", "relief", "river", "the", "unseenword"]
STORED_PRIORS = ("importance", "importance_surrounding")


def index_contents(where: str, *, priors: bool = True) -> dict[str, Any]:
    """Documents, sentences, statistics, columns and parses, with or without the stored priors.

    They are of one generation: the last request of a loader that was killed may still move the alias.
    """
    with open_searcher(where) as searcher:
        return _contents(searcher.index.snapshot(), priors)


def _contents(index: Index, priors: bool) -> dict[str, Any]:
    documents = list(index.documents())
    ids = [sentence.id for document in documents for sentence in document.sentences]
    statistics = index.statistics(TERMS)
    evidence = index.evidence(TERMS, ids, [f"features.{name}" for name in index.features()])
    columns = {
        name: [round(float(value), 9) for value in column]
        for name, column in evidence.columns.items()
        if priors or name not in STORED_PRIORS
    }
    return {
        "documents": documents,
        "documents by number": index.documents_at(range(len(documents))),
        "sentences": index.sentences(ids),
        "terms": statistics.terms,
        "collection": str(statistics.collection),
        "counts": {name: counts.tolist() for name, counts in evidence.counts.items()},
        "lengths": {name: lengths.tolist() for name, lengths in evidence.lengths.items()},
        "columns": str(columns),
        "parses": index.parses(ids),
        "answers": [(hit.sentence_id, round(hit.score, 4)) for hit in _hits(index)],
    }


def _hits(index: Index) -> list[Any]:
    from esr.ranking.searcher import Searcher

    return Searcher(index).search("flood bank relief", 1000, records=False).hits


def documents(where: str) -> list[Document]:
    with open_searcher(where) as searcher:
        return list(searcher.index.documents())
