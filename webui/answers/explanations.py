"""Scores in detail: of a document's sentences, of one sentence by its parts, and by two rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import structs

from esr.index.contract import read_document
from esr.index.hits import Hit, SentenceRecord
from esr.index.questions import Records
from esr.plans.evaluate import Array
from esr.ranking import answers
from esr.ranking.explanation.explain import explain
from esr.ranking.explanation.explanation import Explanation
from esr.ranking.explanation.sentence_tree import SentenceTree, sentence_tree
from esr.ranking.prepared_query import Answer, score_given
from esr.ranking.ranking import ENCODER_SECONDS, Ranking, choose_ranking
from esr.ranking.searcher import Searcher
from esr.text.document import Document
from esr.text.scripts import text_direction
from esr.text.term_spans import words_by_term
from webui.answers.lists import rank_sentences
from webui.arguments.request import SearchRequest, check_query
from webui.running.problems import blame_argument, look_up
from webui.running.settings import Settings

SHADES = 6
"""Number of shades that show scores. Shade 0 is no shade."""


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence of a document. `is_hit`: whether it contains a query term itself.

    `score` is None if it is not finite. `shade` ranges from 0 to SHADES - 1 over the scores of the document.
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
    """A document scored for a query. `best`: the position of the sentence with the highest score, or None."""

    document: Document
    sentences: Sequence[ScoredSentence]
    best: int | None

    @property
    def hits(self) -> list[ScoredSentence]:
        return [sentence for sentence in self.sentences if sentence.is_hit]

    @property
    def paragraphs(self) -> list[list[ScoredSentence]]:
        """The sentences by paragraph. A sentence of an unknown paragraph is a separate paragraph."""
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
    """A document with the scores of its sentences; without scores for an empty query.

    Raises UnknownId for an unknown document, UsageError for a query that cannot be searched for.
    """
    snapshot = searcher.snapshot()
    if search.query:
        check_query(snapshot, search.parsed, settings)
    with look_up("document", document_id):
        document = read_document(snapshot.index, document_id)
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
    """(n,): shades from 0 to SHADES - 1, spaced evenly from lowest to highest score; 0 if not finite."""
    is_finite = np.isfinite(values)
    if not is_finite.any():
        return np.zeros(len(values), int)
    low, high = values[is_finite].min(), values[is_finite].max()
    if high == low:
        return np.zeros(len(values), int)
    share = (np.where(is_finite, values, low) - low) / (high - low)
    return np.asarray(np.minimum(share * SHADES, SHADES - 1), int)


@dataclass(frozen=True)
class ExplainedSentence:
    """A sentence and the explanation of its score. `tree` is None if no parse is stored.

    `words`: for each term of the query, the first word with this term, as it was typed.
    """

    record: SentenceRecord
    explanation: Explanation
    tree: SentenceTree | None
    words: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        tree = None if self.tree is None else self.tree.as_dict()
        language = self.record.language
        about_text = {"text": self.record.text, "language": language, "direction": text_direction(language)}
        return self.explanation.as_dict() | about_text | {"tree": tree}


def explain_sentence(
    searcher: Searcher, search: SearchRequest, sentence_id: str, settings: Settings
) -> ExplainedSentence:
    """Explain the score of a sentence.

    Raises UnknownId for an unknown sentence, RequestError for a bad query.
    """
    snapshot = searcher.snapshot()
    check_query(snapshot, search.parsed, settings)
    with look_up("sentence", sentence_id):
        (record,) = snapshot.index.read([sentence_id], Records())
    with blame_argument(None):
        prepared = search.prepare(snapshot)
        explanation = explain(prepared, sentence_id, search.filters)
    words = words_by_term(prepared.index.analyzer, search.query)
    tree = sentence_tree(snapshot.index, list(prepared.counts), sentence_id)
    return ExplainedSentence(record, explanation, tree, words)


@dataclass(frozen=True)
class ComparedHit:
    """A hit of one list. `other_rank`: its rank in the other list, or None."""

    hit: Hit
    rank: int
    other_rank: int | None

    @property
    def moved(self) -> int | None:
        """The number of ranks by which it is higher in this list than in the other, or None."""
        return None if self.other_rank is None else self.other_rank - self.rank

    def as_dict(self) -> dict[str, Any]:
        ranks = {"rank": self.rank, "other": self.other_rank, "moved": self.moved}
        return {**ranks, **answers.hit_dict(self.hit)}


@dataclass(frozen=True)
class Side:
    """One ranking and its list."""

    ranking: Ranking
    answer: Answer
    hits: Sequence[ComparedHit]

    def as_dict(self) -> dict[str, Any]:
        answer = answers.answer_dict(self.answer) | {"hits": [hit.as_dict() for hit in self.hits]}
        return {"ranking": self.ranking.as_dict(), **answer}


@dataclass(frozen=True)
class Comparison:
    """Two rankings of one query."""

    left: Side
    right: Side

    @property
    def shared(self) -> int:
        """Number of sentences in both lists."""
        return sum(hit.other_rank is not None for hit in self.left.hits)

    @property
    def moved(self) -> int:
        """Number of sentences in both lists whose ranks differ."""
        return sum(bool(hit.moved) for hit in self.left.hits)

    def as_dict(self) -> dict[str, Any]:
        return {
            "shared": self.shared,
            "moved": self.moved,
            "left": self.left.as_dict(),
            "right": self.right.as_dict(),
        }


def compare_rankings(
    searcher: Searcher, search: SearchRequest, versus: Ranking, settings: Settings
) -> Comparison:
    """The best k sentences of both rankings, from one snapshot of the index."""
    snapshot = searcher.snapshot()
    ranking, versus = (
        choose_ranking(chosen, snapshot.index, ENCODER_SECONDS) for chosen in (search.ranking, versus)
    )
    search = structs.replace(search, ranking=ranking)
    left = rank_sentences(snapshot, search, search.k, settings).answer
    right = rank_sentences(snapshot, structs.replace(search, ranking=versus), search.k, settings).answer
    return Comparison(
        Side(search.ranking, left, compare_hits(left.hits, right.hits)),
        Side(versus, right, compare_hits(right.hits, left.hits)),
    )


def compare_hits(hits: Sequence[Hit], other_hits: Sequence[Hit]) -> list[ComparedHit]:
    """Hits with their ranks in both lists."""
    other_ranks = {hit.sentence_id: rank for rank, hit in enumerate(other_hits, 1)}
    return [ComparedHit(hit, rank, other_ranks.get(hit.sentence_id)) for rank, hit in enumerate(hits, 1)]
