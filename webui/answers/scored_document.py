"""A whole document with each sentence's score for a query, as a shade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from esr.documents import Document
from esr.errors import UsageError
from esr.plans.evaluate import scores
from esr.plans.evidence import Array
from esr.ranking.searcher import PreparedQuery, Searcher
from webui.arguments.query_check import check_terms
from webui.arguments.search_request import NotThere, Search, blaming
from webui.running.settings import Settings

SHADES = 6
"""From 0, no shade, up."""


@dataclass(frozen=True)
class Shaded:
    """A sentence of the document. `hit`: it has a query term itself; `score`: None without a value.

    `shade`: from 0 to SHADES - 1, by the scores of the document.
    """

    sentence_id: str
    position: int
    text: str
    score: float | None
    shade: int
    hit: bool


@dataclass(frozen=True)
class Reading:
    """A document for a query. `best`: the place of the sentence with the highest score, or None."""

    document: Document
    sentences: Sequence[Shaded]
    best: int | None

    @property
    def hits(self) -> list[Shaded]:
        return [sentence for sentence in self.sentences if sentence.hit]


def read(searcher: Searcher, document_id: str, asked: Search, limits: Settings) -> Reading:
    """The document with its sentences' scores; all of them without one for an empty query.

    Raises NotThere for an unknown document, UsageError for a query that cannot be searched for.
    """
    now = searcher.snapshot()
    if asked.query:
        check_terms(now, asked.query, limits)
    try:
        document = now.index.document(document_id)
    except UsageError as error:
        raise NotThere(f"there is no document {document_id!r}", "id") from error
    ids = [sentence.id for sentence in document.sentences]
    found, hits = np.full(len(ids), np.nan), np.zeros(len(ids), bool)
    if asked.query and ids:
        with blaming(None):
            prepared = now.prepare(asked.query, asked.ranking)
        plan = prepared.plan
        if plan.terms:
            columns = [static.column for static in plan.statics]
            evidence = now.index.evidence([term.term for term in plan.terms], ids, columns)
            found = _reranked(prepared, ids, scores(plan, evidence))
            hits = np.asarray(evidence.counts["sentence"].sum(axis=0) > 0)
    finite = np.isfinite(found)
    rows = zip(document.sentences, found.tolist(), shades(found).tolist(), hits.tolist(), strict=True)
    sentences = [
        Shaded(sentence.id, place, sentence.text, score if finite[place] else None, shade, hit)
        for place, (sentence, score, shade, hit) in enumerate(rows)
    ]
    best = int(np.where(finite, found, -np.inf).argmax()) if finite.any() and hits.any() else None
    return Reading(document, sentences, best)


def _reranked(prepared: PreparedQuery, ids: Sequence[str], first: Array) -> Array:
    """(n): the scores of the second stage where there is one.

    What looks at other sentences than the document's is left out: what only breaks ties, and learned trees.
    """
    second = prepared.ranking.second()
    if second is None:
        return first
    alone = replace(second, ties=False, trees=None)
    with np.errstate(invalid="ignore"):  # no score times a weight of 0 is no score
        return alone.scores(first, prepared.view(ids, alone.columns), np.arange(len(ids)))


def shades(found: Array) -> npt.NDArray[np.int_]:
    """(n): 0 to SHADES - 1, evenly from the document's lowest score to its highest; 0 without a value."""
    finite = np.isfinite(found)
    if not finite.any():
        return np.zeros(len(found), int)
    low, high = found[finite].min(), found[finite].max()
    if high == low:
        return np.zeros(len(found), int)
    share = (np.where(finite, found, low) - low) / (high - low)
    return np.asarray(np.minimum(share * SHADES, SHADES - 1), int)
