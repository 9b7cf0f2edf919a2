"""The one interface over the engines. Nothing above it knows which engine it has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from esr.analysis import Analyzer
from esr.documents import Document
from esr.documents.vector import QuantizedVector
from esr.engines.enrichment import Enrichment
from esr.engines.filters import DAY, FACET_FIELDS, NO_FILTERS, DayCounts, FacetCounts, Filters
from esr.engines.resolve import Vocabulary
from esr.engines.results import (
    EVIDENCE_COLUMNS,
    CandidateEvidence,
    Histogram,
    Hit,
    SearchResult,
    SentenceRecord,
)
from esr.engines.similarities import Similarities, SimilarityRescoring
from esr.engines.writer import Description
from esr.plans.condition import Condition
from esr.plans.evidence import Evidence
from esr.plans.plan import Plan
from esr.plans.statistics import Statistics

__all__ = [
    "DAY",
    "EVIDENCE_COLUMNS",
    "FACET_FIELDS",
    "NO_FILTERS",
    "CandidateEvidence",
    "DayCounts",
    "Description",
    "FacetCounts",
    "Filters",
    "Histogram",
    "Hit",
    "Index",
    "Result",
    "SearchResult",
    "SentenceRecord",
]

Result = TypeVar("Result")


class Index(Vocabulary, Protocol):
    """A collection of sentences that plans are run against. Methods raise EsrError only.

    It takes filters as people write them: engines resolve them (`resolve_filters`).
    """

    where: str
    description: Description
    analyzer: Analyzer

    def snapshot(self) -> Index:
        """The index as it is now. Loads that finish later do not change what it shows."""

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        """What `work` gives for the index as it is now, at less cost than by `snapshot` for a single search.

        `work` may run twice: it must do nothing but ask the index that it is given.
        """

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """The statistics of the whole collection, and of these terms in it."""

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
        """The search as a request that other applications can send to the engine, without esr.

        `standalone` leaves p(t|C) to the engine. With `rescoring`, each shard rescores its best sentences.
        Raises UsageError for an engine without requests.
        """

    def check_ready(self) -> None:
        """Raises EsrError if the index cannot be searched now. Always asks the engine, never a cache."""

    def warm_up(self) -> None:
        """Start to load, in the background, what pays off only for many searches."""

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        """The sentences with these ids, in this order. Raises UsageError for an unknown id."""

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        """The exact counts, lengths and stored columns that a plan is computed from.

        The columns are EVIDENCE_COLUMNS and those named in `columns`, such as `features.subj`. `ordinals`
        are those of this index's hits: with them, an engine need not look up the ids.
        """

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        """All candidates of a plan, whatever its weights, with the evidence for its terms and columns."""

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """The first `limit` terms of the collection with this prefix, in code point order."""

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """The most frequent words that begin so, as they are written, with about how often they occur."""

    def similar_words(self, word: str, max_edits: int, least: int) -> Mapping[str, int]:
        """The words within 1 or 2 edits of another, with about how often each occurs.

        Only those that occur at least `least` times.
        """

    def written_forms(self, words: Sequence[str]) -> list[str]:
        """Each word, given as the analyzer `words` does, as people write it: Beyoncé for beyonce.

        It is the form that is most frequent in the first sentences of the collection that have the word.
        """

    def features(self) -> Sequence[str]:
        """The names of the features that sentences of the index have."""

    def histogram(self, column: str) -> Histogram:
        """The distribution of a column over all sentences that have a value in it."""

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        """The stored parses of these sentences, encoded by `esr.dependency.codec`; None if not parsed.

        `ordinals` are those of this very index's hits, which may spare looking up the ids. Raises UsageError
        for an unknown id.
        """

    def has_parses(self) -> bool:
        """Whether any sentence has a stored parse."""

    def encoder(self) -> str | None:
        """The id of the encoder that made most of its vectors, None without vectors."""

    def similarities(
        self,
        encoder: str,
        query: QuantizedVector,
        ids: Sequence[str],
        ordinals: Sequence[int] | None = None,
        contexts: Collection[str] = (),
    ) -> Similarities:
        """The products of a query's vector with the stored vectors of these sentences, and of `contexts`.

        Vectors that another encoder made do not count. Raises UsageError for an unknown id.
        """

    def nearest(
        self,
        encoder: str,
        query: QuantizedVector,
        k: int,
        condition: Condition | None,
        filters: Filters,
    ) -> list[Hit]:
        """The k sentences whose vectors have the greatest products with a query's, best first; exact.

        They satisfy the condition and the filters. Their scores are the products. There are no records.
        """

    def facets(
        self, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
    ) -> dict[str, FacetCounts]:
        """The most frequent values of fields of FACET_FIELDS over a plan's candidates, with their counts.

        Each field is counted under filters of its own. All forms of a name or a source are one value, under
        the form that is shown. Values are ordered by count, then by source or month, names by their keys.
        Raises UsageError for an unknown field.
        """

    def count(self, conditions: Sequence[Condition], filters: Filters) -> list[int]:
        """How many sentences satisfy each condition and the filters."""

    def count_days(self, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
        """How many sentences of each day satisfy each condition and the filters; None is satisfied by all.

        Sentences of documents without a date count for no day.
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
        """The k newest, or oldest, sentences that satisfy a condition and the filters, without scores (0).

        Equal dates are in collection order. Sentences of documents without a date are last.
        """

    def enrichment(self) -> AbstractContextManager[Enrichment]:
        """The stored enrichment of the index, for writing."""

    def document(self, document_id: str) -> Document:
        """A complete document. Raises UsageError for an unknown id."""

    def documents(self) -> Iterator[Document]:
        """All documents as they were loaded, in collection order, as of the start of the iteration."""

    def documents_at(self, numbers: Sequence[int]) -> list[Document]:
        """Documents by their number in collection order, from 0: for random samples."""

    def status(self) -> Mapping[str, Any]:
        """Counts, sizes and settings, for people and programs."""

    def close(self) -> None:
        """Close it with its snapshots, which share its connections. From now on they raise IndexClosed."""
