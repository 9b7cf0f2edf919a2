"""The interface `Index` of both engines, with vector similarities and stored enrichment.

Code that uses this interface does not depend on the engine. Its methods raise only EsrError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.errors import UsageError
from esr.index.filters import DayCounts, FacetCounts, Filters, NameUnit, Vocabulary
from esr.index.hits import CandidateEvidence, Histogram, Hit, SearchResult, SentenceRecord, SentenceTexts
from esr.index.names import Aliases
from esr.index.writer import Description
from esr.plans.evaluate import Array, Evidence
from esr.plans.plan import Condition, Plan, Statistics
from esr.text.analyzer import Analyzer
from esr.text.document import Document, QuantizedVector, Quote, SentenceEnrichment

if TYPE_CHECKING:
    from esr.enrichment.recipe import Recipe


Numbers = npt.NDArray[np.int64]


class Similarities(Struct, frozen=True):
    """Products of a query's vector with the vectors of n sentences, each of shape (n,). NaN: no vector.

    `neighbours` is the mean over the sentence before and the one after, or the sentence's own product if
    neither has a vector. `document` is the mean over the sentences of the document. Either is None unless
    requested.
    """

    sentence: Array
    neighbours: Array | None = None
    document: Array | None = None


class SimilarityRescoring(Struct, frozen=True):
    """Adds `weight` times the similarity to the score of each of the best `window` sentences.

    `query` is a vector made by the encoder with the id `encoder`. A sentence without a vector has the
    similarity `missing`.
    """

    encoder: str
    query: QuantizedVector
    weight: float
    window: int
    missing: float


def find_main_encoder(counts: Mapping[str, int]) -> str | None:
    """The encoder that made the most vectors, given the number that each made."""
    return max(counts, key=lambda encoder: (counts[encoder], encoder), default=None)


def mean_known(similarities: Array) -> float:
    """The mean of the known (finite) similarities, 0 if there are none.

    Sentences without a vector get this mean, so that only their words decide.
    """
    known = similarities[np.isfinite(similarities)]
    return float(known.mean()) if len(known) else 0.0


def average_neighbours(own: Array, before: Array, after: Array) -> Array:
    """The mean of the products of both neighbours, NaN for a sentence without a vector. All of shape (n,)."""
    known = np.isfinite(before).astype(float) + np.isfinite(after)
    total = np.nan_to_num(before, nan=0.0) + np.nan_to_num(after, nan=0.0)
    means = np.where(known > 0, total / np.maximum(known, 1.0), own)
    return np.where(np.isfinite(own), means, np.nan)


def average_documents(products: Array, first: Numbers) -> Array:
    """The mean product of each document's sentences, NaN for a document without vectors.

    The products of a document are consecutive. `first` holds the position of each document's first product,
    and the end of the last document.
    """
    sums = np.add.reduceat(np.append(np.nan_to_num(products, nan=0.0), 0.0), first[:-1])
    known = np.add.reduceat(np.append(np.isfinite(products).astype(float), 0.0), first[:-1])
    known = np.where(np.diff(first) > 0, known, 0.0)
    return np.where(known > 0, sums / np.maximum(known, 1.0), np.nan)


def check_sentences(number: int, most: int) -> None:
    """Raise UsageError if a request would read more than `most` sentences."""
    if number > most:
        raise UsageError(
            f"{number:,} sentences match, at most {most:,} are counted: limit the dates or sources"
        )


class Enrichment(Protocol):
    """Reads and writes the enrichment of an index. Searches continue, and see each batch once it is stored.

    `slice` (i, n) is the i-th of n slices of the documents, i from 1. Slices are disjoint and together hold
    all documents.
    """

    def progress(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        """The number of documents of the slice that this recipe has enriched, and the number of all."""

    def pending(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> Iterator[Document]:
        """Yield the documents that this recipe has not enriched, in collection order."""

    def store(self, recipe: Recipe, batch: Iterable[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        """Store the enrichment of documents, given as ids and sentences in order.

        The enrichment is durable on return. It replaces the stored enrichment of the recipe's parts.
        """

    def update_names(self, aliases: Aliases | None) -> int:
        """Store the missing keys of names that an older version of esr stored.

        `aliases` replace those of the index; None leaves them. Returns the number of sentences updated.
        """

    def finish(self, recipe: Recipe) -> list[str]:
        """Clean up after the last `store`. Returns notes for the user."""

    def index_vectors(self) -> list[str]:
        """Build an index of the stored vectors, if the engine has one. Returns notes for the user.

        Raises UsageError if no vectors can be indexed.
        """


Result = TypeVar("Result")
LengthGroups = Literal["day", "source"]


class Index(Vocabulary, Protocol):
    """A collection of sentences that plans are run against. Methods raise only EsrError.

    Methods take filters as people write them; engines resolve them (`resolve_filters`).
    """

    where: str
    description: Description
    analyzer: Analyzer

    def snapshot(self) -> Index:
        """The index as of this call. Later loads do not change its answers."""

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        """Call `work` with the latest state of the index, and return its result.

        For a single search this is cheaper than `snapshot`. `work` may be called twice, so it must only query
        the index that it is given.
        """

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        """The statistics of the whole collection, and of these terms.

        In an index by language, a `language` (`language_group`) selects the statistics of its documents.
        """

    def languages(self) -> Mapping[str | None, int]:
        """The languages that documents declare, each with its number of documents; None for none declared."""

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        """Run a plan and return the k best sentences."""

    def request(
        self,
        plan: Plan,
        k: int,
        filters: Filters,
        *,
        standalone: bool = False,
        rescoring: SimilarityRescoring | None = None,
    ) -> dict[str, Any]:
        """The search as a request that other applications can send to the engine without esr.

        `standalone` leaves the computation of p(t|C) to the engine. With `rescoring`, each shard rescores its
        best sentences. Raises UsageError if the engine takes no requests.
        """

    def store_search_template(self, source: str) -> str:
        """Store a search template for other applications, and return its name, `esr-` and the alias.

        Raises UsageError if the engine stores none.
        """

    def check_ready(self) -> None:
        """Raise EsrError if the index cannot be searched. Always asks the engine, never a cache."""

    def warm_up(self) -> None:
        """Start loading, in the background, data that saves time only over many searches."""

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        """The sentences with these ids, in this order. Raises UsageError for an unknown id."""

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        """The exact counts, lengths and stored columns that a plan's scores are computed from.

        The columns are EVIDENCE_COLUMNS and those named in `columns`, such as `features.subj`. `ordinals` are
        those of this index's hits; with them, an engine need not look up the ids.
        """

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        """All candidates of a plan, whatever its weights, with the evidence for its terms and columns."""

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """The first `limit` terms of the collection with this prefix, in code point order."""

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """The most frequent written words with this prefix, each with its approximate frequency."""

    def similar_words(self, word: str, max_edits: int, least: int) -> Mapping[str, int]:
        """The words within `max_edits` (1 or 2) edits of a word, each with its approximate frequency.

        Only words that occur at least `least` times are returned.
        """

    def written_forms(self, words: Sequence[str]) -> list[str]:
        """The usual spelling of words, given as terms of the analyzer `words`: Beyoncé for beyonce.

        It is the most frequent form in the first sentences of the collection that contain the word.
        """

    def features(self) -> Sequence[str]:
        """The names of the features that the index stores."""

    def histogram(self, column: str) -> Histogram:
        """The distribution of a column over all sentences that have a value in it."""

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        """The stored parses of these sentences, encoded by `esr.dependency.parses`; None if there is none.

        `ordinals` are those of this index's hits; with them, an engine need not look up the ids. Raises
        UsageError for an unknown id.
        """

    def has_parses(self) -> bool:
        """Whether any sentence has a stored parse."""

    def quotes(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[tuple[Quote, ...]]:
        """The stored quotations in each of these sentences.

        `ordinals` are those of this index's hits; with them, an engine need not look up the ids. Raises
        UsageError for an unknown id.
        """

    def encoder(self) -> str | None:
        """The id of the encoder that made most vectors of the index, None if it has no vectors."""

    def similarities(
        self,
        encoder: str,
        query: QuantizedVector,
        ids: Sequence[str],
        ordinals: Sequence[int] | None = None,
        contexts: Collection[str] = (),
    ) -> Similarities:
        """The products of a query's vector with the vectors of these sentences and of their `contexts`.

        Vectors of other encoders are ignored. Raises UsageError for an unknown id.
        """

    def vectors(
        self, encoder: str, ids: Sequence[str], ordinals: Sequence[int] | None = None
    ) -> list[QuantizedVector | None]:
        """The vectors of these sentences, None for a sentence that has none by this encoder.

        `ordinals` are those of this index's hits; with them, an engine need not look up the ids. Raises
        UsageError for an unknown id.
        """

    def nearest(
        self,
        encoder: str,
        query: QuantizedVector,
        k: int,
        condition: Condition | None,
        filters: Filters,
    ) -> list[Hit]:
        """The k sentences whose vectors have the greatest products with the query's, best first.

        The sentences satisfy the condition and the filters. Scores are the products. Hits have no records.
        """

    def nearest_is_exact(self) -> bool:
        """Whether `nearest` is exact.

        An index of vectors, built on request, may miss a few sentences, and so may the bits used for many
        vectors.
        """

    def facets(
        self, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
    ) -> dict[str, FacetCounts]:
        """The most frequent values of fields of FACET_FIELDS over a plan's candidates, with their counts.

        Each field is counted under its filters. All forms of a name or a source count as one value, under the
        displayed form. Values are ordered by count; ties by the source or month, or by the name's key. Raises
        UsageError for an unknown field.
        """

    def count(self, conditions: Sequence[Condition], filters: Filters) -> list[int]:
        """The number of sentences that satisfy each condition and the filters."""

    def count_names(
        self,
        filters: Filters,
        size: int,
        *,
        condition: Condition | None = None,
        unit: NameUnit = "sentences",
        prefix: str = "",
        keys: Collection[str] | None = None,
    ) -> dict[str, int]:
        """The most frequent names by key, with the number of sentences or documents that mention each.

        The sentences satisfy the condition and the filters. Documents satisfy the filters as a whole, so an
        entity may be anywhere in them; they take no condition. Only names with a key or alias with this
        `prefix`, or with these `keys`, are counted. Ties are in the order of keys.
        """

    def count_days(self, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
        """The number of sentences per day that satisfy each condition and the filters; None matches all.

        Sentences of documents without a date are not counted.
        """

    def by_date(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        *,
        oldest_first: bool = False,
        records: bool = True,
    ) -> SearchResult:
        """The k newest, or oldest, sentences that satisfy a condition and the filters. Their scores are 0.

        Ties are in collection order. Sentences of documents without a date come last.
        """

    def texts(
        self, condition: Condition, k: int, filters: Filters, *, oldest_first: bool = False
    ) -> SentenceTexts:
        """The texts of the sentences that `by_date` finds, in its order."""

    def count_holders(self, terms: Sequence[str]) -> Mapping[str, int]:
        """The number of sentences with each of these terms: only `sf` of `statistics`."""

    def count_words(self, words: Sequence[str]) -> Mapping[str, int]:
        """The number of occurrences in sentences of each of these words of the analyzer `words`."""

    def count_terms(
        self, condition: Condition, filters: Filters, most: int, language: str | None = None
    ) -> Mapping[str, int]:
        """The number of occurrences of each term in the sentences that satisfy a condition and the filters.

        In an index by language, `language` is that of the sentences. Raises UsageError if the engine would
        have to read more than `most` sentences.
        """

    def sum_lengths(
        self, by: LengthGroups, filters: Filters, condition: Condition | None = None
    ) -> Mapping[Any, int]:
        """The number of terms in the sentences that pass the filters, by day or by source as written.

        With a `condition`, only sentences that satisfy it count. Days are numbers since 1970-01-01 in UTC.
        Documents without a date, or a source, are left out.
        """

    def enrichment(self) -> AbstractContextManager[Enrichment]:
        """Open the stored enrichment of the index for writing."""

    def document(self, document_id: str) -> Document:
        """A complete document. Raises UsageError for an unknown id."""

    def find_documents(self, ids: Collection[str]) -> dict[str, Document]:
        """The complete documents with these ids, by id. Unknown ids are left out."""

    def documents(self) -> Iterator[Document]:
        """Yield all documents as loaded, in collection order, as of the start of the iteration."""

    def documents_at(self, numbers: Sequence[int]) -> list[Document]:
        """The documents at these positions in collection order, from 0: for random samples."""

    def status(self) -> Mapping[str, Any]:
        """Counts, sizes and settings, for people and programs."""

    def close(self) -> None:
        """Close the index and its snapshots, which share its connections. Later calls raise IndexClosed."""
