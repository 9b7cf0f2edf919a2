"""What is known of a collection as a whole. Source: docs/formulas.md, section 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct, field

from esr.plans.plan import Static


class TermStatistics(NamedTuple):
    """Of one term: sentences (sf) and documents (df) that contain it, its occurrences (cf)."""

    sf: int
    df: int
    cf: int

    @property
    def is_seen(self) -> bool:
        """Whether any sentence or any title holds the term; unseen terms are dropped from a query."""
        return self.df > 0


class CollectionStatistics(Struct, frozen=True):
    """Of the whole collection. Lengths are in terms, stop words already removed.

    `occurrences` is the collection's length: the sum of all sentence lengths.
    `document_length` and `surrounding_length` are sums over documents and over sentences.
    `document_terms` sums, over documents, their distinct terms (it normalises df).
    `bounds` has, for statics of a plan, the lowest and the highest value of their columns that their forms
    take, where an engine needs them; a column without such a value is left out.
    """

    sentences: int = 0
    documents: int = 0
    occurrences: int = 0
    document_length: int = 0
    surrounding_length: int = 0
    weighted_document_length: int = 0
    document_terms: int = 0
    longest_sentence: int = 0
    bounds: Mapping[Static, tuple[float, float]] = field(default_factory=dict)

    def background(self, term: TermStatistics) -> float:
        """p(t|C). A term that stands in titles only counts as one occurrence, since log 0 ranks nothing."""
        return max(term.cf, 1) / max(self.occurrences, 1)

    def background_by_documents(self, term: TermStatistics) -> float:
        """p(t|C) from the documents that contain the term."""
        return term.df / max(self.document_terms, 1)

    @property
    def average_sentence(self) -> float:
        return self.occurrences / self.sentences if self.sentences else 0.0

    @property
    def average_document(self) -> float:
        """Mean length of the documents."""
        return self.document_length / self.documents if self.documents else 0.0

    @property
    def average_document_by_sentences(self) -> float:
        """Mean length of the document that a sentence stands in: long documents count more."""
        return self.weighted_document_length / self.sentences if self.sentences else 0.0

    @property
    def average_surrounding(self) -> float:
        return self.surrounding_length / self.sentences if self.sentences else 0.0


class Statistics(Struct, frozen=True):
    """The collection and the terms that were asked for."""

    collection: CollectionStatistics
    terms: Mapping[str, TermStatistics]
