"""The interface `Index` of both engines, and `Enrichment`, by which an index is written.

Code that uses this interface does not depend on the engine. Its methods raise only EsrError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from esr.errors import NotFound, UsageError
from esr.index import questions
from esr.index.filters import Filters
from esr.index.hits import CandidateEvidence, Histogram, Hit, SearchResult, SentenceRecord, SentenceTexts
from esr.index.names import Aliases, Name
from esr.index.questions import (
    Answer,
    Column,
    DayCounts,
    FacetCounts,
    Fact,
    Grouping,
    LengthGroups,
    Lookup,
    NameUnit,
    Selection,
)
from esr.index.similarities import Similarities, SimilarityRescoring
from esr.index.values import ValueTable
from esr.index.writer import Description
from esr.plans.evaluate import Evidence
from esr.plans.plan import AllOf, AnyOf, Condition, HasTerm, Plan, Statistics
from esr.text.analyzer import Analyzer
from esr.text.document import Document, QuantizedVector, Quote, SentenceEnrichment

if TYPE_CHECKING:
    from esr.enrichment.recipe import Recipe


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


class Index(Protocol):
    """A collection of sentences that plans are run against. Methods raise only EsrError.

    What `read`, `select`, `count`, `vocabulary` and `status` answer depends on a question, which is data
    (`esr/index/questions.py`). Methods take filters as people write them; engines resolve them
    (`resolve_filters`).
    """

    where: str
    description: Description
    analyzer: Analyzer

    def snapshot(self) -> Index:
        """The index as of this call. Later loads do not change its answers."""
        ...

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        """Call `work` with the latest state of the index, and return its result.

        For a single search this is cheaper than `snapshot`. `work` may be called twice, so it must only query
        the index that it is given.
        """
        ...

    def warm_up(self) -> None:
        """Start loading, in the background, data that saves time only over many searches."""
        ...

    def status(self, fact: Fact[Answer]) -> Answer:
        """A fact about the index: what it stores, how large it is, whether it can be searched."""
        ...

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        """The statistics of the whole collection, and of these terms.

        In an index by language, a `language` (`language_group`) selects the statistics of its documents.
        """
        ...

    def vocabulary(self, lookup: Lookup[Answer]) -> Answer:
        """What the collection has of terms, words, names or values of fields."""
        ...

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        """Run a plan and return the k best sentences."""
        ...

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
        ...

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        """All candidates of a plan, whatever its weights, with the evidence for its terms and columns."""
        ...

    def select(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        selection: Selection[Answer],
        *,
        oldest_first: bool = False,
    ) -> Answer:
        """The k newest, or oldest, sentences that satisfy a condition and the filters.

        Ties are in collection order. Sentences of documents without a date come last.
        """
        ...

    def nearest(
        self, encoder: str, query: QuantizedVector, k: int, condition: Condition | None, filters: Filters
    ) -> list[Hit]:
        """The k sentences whose vectors have the greatest products with the query's, best first.

        The sentences satisfy the condition and the filters. Scores are the products. Hits have no records.
        """
        ...

    @overload
    def count(self, conditions: Sequence[Condition | None], filters: Filters) -> list[int]: ...
    @overload
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Answer]
    ) -> list[Answer]: ...
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Any] | None = None
    ) -> list[Any]:
        """The number of sentences that satisfy each condition and the filters, in all or by groups.

        None is the condition that all sentences satisfy.
        """
        ...

    def read(
        self, ids: Sequence[str], column: Column[Answer], ordinals: Sequence[int] | None = None
    ) -> Answer:
        """A column of the sentences with these ids, in this order.

        `ordinals` are those of this index's hits; with them, an engine need not look up the ids. Raises
        UsageError for an unknown id.
        """
        ...

    def documents(
        self, ids: Collection[str] | None = None, *, positions: Sequence[int] | None = None
    ) -> Iterable[Document]:
        """All documents as loaded, in collection order, as of this call.

        With `ids`, only those with these ids, in any order; unknown ids are left out. With `positions`, those
        at these positions in collection order, from 0: for random samples.
        """
        ...

    def enrichment(self) -> AbstractContextManager[Enrichment]:
        """Open the stored enrichment of the index for writing."""
        ...

    def close(self) -> None:
        """Close the index and its snapshots, which share its connections. Later calls raise IndexClosed."""
        ...

    # Former methods, until their callers have moved

    def languages(self) -> Mapping[str | None, int]:
        return self.status(questions.Languages())

    def check_ready(self) -> None:
        self.status(questions.Readiness())

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        return self.read(ids, questions.Records())

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        return self.read(ids, questions.EvidenceOf(terms, columns), ordinals)

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        return self.vocabulary(questions.TermsWithPrefix(prefix, limit))

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        return self.vocabulary(questions.WordsWithPrefix(prefix, limit))

    def similar_words(self, word: str, max_edits: int, least: int) -> Mapping[str, int]:
        return self.vocabulary(questions.SimilarWords(word, max_edits, least))

    def written_forms(self, words: Sequence[str]) -> list[str]:
        return self.vocabulary(questions.WrittenForms(words))

    def features(self) -> Sequence[str]:
        return self.status(questions.Features())

    def histogram(self, column: str) -> Histogram:
        return self.count([None], Filters(), questions.ByValue(column))[0]

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        return self.read(ids, questions.Parses(), ordinals)

    def has_parses(self) -> bool:
        return self.status(questions.HasParses())

    def quotes(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[tuple[Quote, ...]]:
        return self.read(ids, questions.Quotes(), ordinals)

    def encoder(self) -> str | None:
        return self.status(questions.MainEncoder())

    def similarities(
        self,
        encoder: str,
        query: QuantizedVector,
        ids: Sequence[str],
        ordinals: Sequence[int] | None = None,
        contexts: Collection[str] = (),
    ) -> Similarities:
        return self.read(ids, questions.SimilaritiesTo(encoder, query, contexts), ordinals)

    def vectors(
        self, encoder: str, ids: Sequence[str], ordinals: Sequence[int] | None = None
    ) -> list[QuantizedVector | None]:
        return self.read(ids, questions.Vectors(encoder), ordinals)

    def nearest_is_exact(self) -> bool:
        return self.status(questions.NearestIsExact())

    def facets(
        self, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
    ) -> dict[str, FacetCounts]:
        condition = plan.condition
        if plan.candidates != "all":
            matching = AnyOf(tuple(map(HasTerm, plan.candidate_terms)))
            condition = matching if condition is None else AllOf((matching, condition))
        counts: dict[str, FacetCounts] = {}
        for filters in dict.fromkeys(filters_by_field.values()):
            fields = [field for field in filters_by_field if filters_by_field[field] == filters]
            counts |= self.count([condition], filters, questions.ByField(fields, size))[0]
        return {field: counts[field] for field in filters_by_field}

    def count_names(
        self,
        filters: Filters,
        size: int,
        *,
        condition: Condition | None = None,
        unit: NameUnit = "sentences",
        prefix: str = "",
        keys: Collection[str] | None = None,
    ) -> Mapping[str, int]:
        return self.count([condition], filters, questions.ByName(size, unit, prefix, keys))[0]

    def count_days(self, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
        return self.count(conditions, filters, questions.ByDay())

    def by_date(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        *,
        oldest_first: bool = False,
        records: bool = True,
    ) -> SearchResult:
        return self.select(condition, k, filters, questions.Hits(records), oldest_first=oldest_first)

    def texts(
        self, condition: Condition, k: int, filters: Filters, *, oldest_first: bool = False
    ) -> SentenceTexts:
        return self.select(condition, k, filters, questions.Texts(), oldest_first=oldest_first)

    def count_holders(self, terms: Sequence[str]) -> Mapping[str, int]:
        return self.vocabulary(questions.TermHolders(terms))

    def count_words(self, words: Sequence[str]) -> Mapping[str, int]:
        return self.vocabulary(questions.WordCounts(words))

    def count_terms(
        self, condition: Condition, filters: Filters, most: int, language: str | None = None
    ) -> Mapping[str, int]:
        return self.count([condition], filters, questions.ByTerm(most, language))[0]

    def sum_lengths(
        self, by: LengthGroups, filters: Filters, condition: Condition | None = None
    ) -> Mapping[Any, int]:
        return self.count([condition], filters, questions.TermsBy(by))[0]

    def document(self, document_id: str) -> Document:
        for document in self.documents([document_id]):
            return document
        raise NotFound(f"there is no document {document_id!r} in {self.where}")

    def find_documents(self, ids: Collection[str]) -> dict[str, Document]:
        return {document.id: document for document in self.documents(ids)}

    def documents_at(self, numbers: Sequence[int]) -> list[Document]:
        return list(self.documents(positions=numbers))

    def values(self, field: str) -> ValueTable:
        return self.vocabulary(questions.Values(field))

    def find_names(self, keys: Sequence[str]) -> Mapping[str, Name]:
        return self.vocabulary(questions.Names(keys))

    def name_forms(self, key: str) -> Mapping[str, int]:
        return self.vocabulary(questions.NameForms(key))

    def full_names(self, key: str) -> Sequence[str]:
        return self.vocabulary(questions.FullNames(key))

    def name_keys(self, prefix: str, limit: int) -> list[str]:
        return self.vocabulary(questions.NamesWithPrefix(prefix, limit))
