"""The interface `Index` of both engines, and `Enrichment`, by which an index is written.

Code that uses this interface does not depend on the engine. Its methods raise only EsrError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from esr.errors import NotFound, UsageError
from esr.index.filters import Filters
from esr.index.hits import CandidateEvidence, Hit, SearchResult
from esr.index.names import Aliases
from esr.index.questions import (
    Answer,
    Column,
    Fact,
    Grouping,
    Lookup,
    Selection,
)
from esr.index.similarities import SimilarityRescoring
from esr.index.writer import Description
from esr.plans.plan import Condition, Plan, Statistics
from esr.text.analyzer import Analyzer
from esr.text.document import Document
from esr.text.sentence_enrichment import QuantizedVector, SentenceEnrichment

if TYPE_CHECKING:
    from esr.enrichment.copy_finder import SentenceTerms
    from esr.enrichment.copy_wording import Integers
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

    def pending(
        self, recipe: Recipe, slice: tuple[int, int] = (1, 1), ids: Collection[str] | None = None
    ) -> Iterator[Document]:
        """Yield the documents that this recipe has not enriched, in collection order.

        If the recipe begins with the newest, those of later dates come first, in a folder with some of the
        documents beside them. With `ids`, only those with these ids.
        """

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

    def store_table(self, table: bytes) -> None:
        """Store the table of vectors (`VectorTable.to_bytes`) in place of the former one, durably."""

    def read_terms(self, recipe: Recipe) -> SentenceTerms:
        """The terms of all sentences, and their groups of copies, for those that this recipe has made."""

    def store_groups(self, recipe: Recipe, groups: Integers) -> None:
        """Store the group of copies of each sentence, of those that `read_terms` has returned, durably.

        They replace the stored ones at once: a killed process leaves the former ones.
        """

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


def read_document(index: Index, document_id: str) -> Document:
    """A complete document. Raises NotFound for an unknown id."""
    for document in index.documents([document_id]):
        return document
    raise NotFound(f"there is no document {document_id!r} in {index.where}")


def find_documents(index: Index, ids: Collection[str]) -> dict[str, Document]:
    """The complete documents with these ids, by id. Unknown ids are left out."""
    return {document.id: document for document in index.documents(ids)}
