"""A document with the score of each sentence for a query, also as a shade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from esr.documents import Document
from esr.errors import UsageError
from esr.plans.evidence import Array
from esr.ranking.searcher import Searcher
from esr.ranking.sentence_scores import score_given
from webui.arguments.query_check import check_query
from webui.arguments.search_request import SearchRequest
from webui.running.request_errors import UnknownId, blame_argument
from webui.running.settings import Settings

SHADES = 6
"""The number of shades. Shade 0 is none."""


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence of the document. `score` is None where there is none; `is_hit`: it has a query term itself.

    `shade` goes from 0 to SHADES - 1 over the scores of the document.
    """

    sentence_id: str
    position: int
    text: str
    score: float | None
    shade: int
    is_hit: bool
    paragraph: int | None


@dataclass(frozen=True)
class ScoredDocument:
    """A document for a query. `best`: the position of the sentence with the highest score, or None."""

    document: Document
    sentences: Sequence[ScoredSentence]
    best: int | None

    @property
    def hits(self) -> list[ScoredSentence]:
        return [sentence for sentence in self.sentences if sentence.is_hit]

    @property
    def paragraphs(self) -> list[list[ScoredSentence]]:
        """The sentences by paragraph. One whose paragraph is unknown is a paragraph of its own."""
        paragraphs: list[list[ScoredSentence]] = []
        for sentence in self.sentences:
            number = sentence.paragraph
            if paragraphs and number is not None and paragraphs[-1][-1].paragraph == number:
                paragraphs[-1].append(sentence)
            else:
                paragraphs.append([sentence])
        return paragraphs


def score_document(
    searcher: Searcher, document_id: str, search: SearchRequest, settings: Settings
) -> ScoredDocument:
    """The document with the scores of its sentences; without scores for an empty query.

    Raises UnknownId for an unknown document, UsageError for a query that cannot be searched for.
    """
    snapshot = searcher.snapshot()
    if search.query:
        check_query(snapshot, search.parsed, settings)
    try:
        document = snapshot.index.document(document_id)
    except UsageError as error:
        raise UnknownId(f"there is no document {document_id!r}", "id") from error
    ids = [sentence.id for sentence in document.sentences]
    values, is_hit = np.full(len(ids), np.nan), np.zeros(len(ids), bool)
    if search.query and ids:
        with blame_argument(None):
            prepared = search.prepare(snapshot)
        if prepared.plan.terms:
            values, is_hit = score_given(prepared, ids)
    is_finite = np.isfinite(values)
    rows = zip(document.sentences, values.tolist(), shades(values).tolist(), is_hit.tolist(), strict=True)
    sentences = [
        ScoredSentence(
            sentence.id,
            n,
            sentence.text,
            score if is_finite[n] else None,
            shade,
            hit,
            sentence.paragraph,
        )
        for n, (sentence, score, shade, hit) in enumerate(rows)
    ]
    has_best = is_finite.any() and is_hit.any()
    best = int(np.where(is_finite, values, -np.inf).argmax()) if has_best else None
    return ScoredDocument(document, sentences, best)


def shades(values: Array) -> npt.NDArray[np.int_]:
    """(n,): 0 to SHADES - 1, evenly from the document's lowest score to its highest; 0 without a score."""
    is_finite = np.isfinite(values)
    if not is_finite.any():
        return np.zeros(len(values), int)
    low, high = values[is_finite].min(), values[is_finite].max()
    if high == low:
        return np.zeros(len(values), int)
    share = (np.where(is_finite, values, low) - low) / (high - low)
    return np.asarray(np.minimum(share * SHADES, SHADES - 1), int)
