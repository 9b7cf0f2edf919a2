"""The one interface over the engines. Nothing above it knows which engine it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from esr.analysis import Analyzer
from esr.documents import Document, Located
from esr.documents.enrichment import SentenceEnrichment
from esr.engines.entities import TYPES
from esr.enrichment.recipe import Recipe
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Plan
from esr.plans.statistics import Statistics

FACETS = ("source", "month", *TYPES)
"""What candidates can be counted by: document's source and month (2017-02, UTC), entities in them."""


Facet = list[tuple[str, int]]
"""Values of a field, and how many candidates have each."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit must satisfy. Dates are milliseconds since the epoch, both ends included.

    Of several sources, documents or entities, one is enough. An entity is `person:Barack Obama`, or
    `Barack Obama` for any type; it must stand in the sentence itself.
    """

    date_from: int | None = None
    date_to: int | None = None
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != NO_FILTERS


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """A sentence as it is shown: with its neighbours (None at a document's border) and its source.

    `features` has those that are known, `entities` the names by type; None: not looked for.
    """

    sentence_id: str
    document_id: str
    position: int
    text: str
    previous: str | None
    next: str | None
    title: str | None
    date: str | None
    source: str | None
    url: str | None
    language: str | None
    features: Mapping[str, float] = field(default_factory=dict)
    entities: Mapping[str, Sequence[str]] | None = None


class Hit(NamedTuple):
    """A ranked sentence, and its place in the collection. `record` is None where only ids were asked for."""

    sentence_id: str
    score: float
    record: SentenceRecord | None
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What an engine answers: the best k, best first, ties in collection order.

    `total` counts all candidates. `incomplete` says what is missing from the answer (a shard
    failed, time ran out), or is None. `scored` is how many candidates were scored, None where that is not
    known; `exhaustive` says why all had to be, or is None.
    """

    hits: Sequence[Hit]
    total: int
    incomplete: str | None = None
    scored: int | None = None
    exhaustive: str | None = None

    @property
    def diagnostics(self) -> tuple[str | None, int | None, str | None]:
        """What is said of how the answer came about: `incomplete`, `scored`, `exhaustive`."""
        return self.incomplete, self.scored, self.exhaustive


@dataclass(frozen=True, slots=True)
class CandidateEvidence:
    """All candidates of a plan, in collection order, with their evidence: what tuning computes from.

    `name` gives the id of the candidate at a place; `place` the place of a sentence, or None.
    """

    evidence: Evidence
    name: Callable[[int], str]
    place: Callable[[str], int | None]


class Histogram(NamedTuple):
    """The values of a column, rising, and how many sentences have each. Both have the shape (values,)."""

    values: Array
    counts: npt.NDArray[np.int64]


COLUMNS = ("length", "importance", "importance_surrounding")
"""The columns that any evidence has. Others are `position` and those of the features."""


@dataclass(frozen=True, slots=True)
class Description:
    """How an index was made: what must be the same for all that is loaded into it."""

    analyzer: str
    title: bool
    """Whether a title's terms count once in their document's context."""

    def as_dict(self) -> dict[str, Any]:
        return {"analyzer": self.analyzer, "title": self.title}


@dataclass(slots=True)
class LoadReport:
    """What a load did."""

    documents: int = 0
    sentences: int = 0
    without_sentences: int = 0
    unchanged: int = 0
    set_aside: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


class Index(Protocol):
    """A collection of sentences that plans can be run against. Methods raise EsrError only."""

    where: str
    description: Description
    analyzer: Analyzer

    def snapshot(self) -> Index:
        """The index as it is now. Loads that end later do not change what is seen through it."""

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """The collection's and the terms' statistics, over the whole collection."""

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        """Run a plan and return the best k sentences."""

    def request(self, plan: Plan, k: int, filters: Filters, *, standalone: bool = False) -> dict[str, Any]:
        """The search as other applications can send it to the engine, with no esr running.

        `standalone` leaves p(t|C) to the engine. Raises UsageError for an engine that takes no requests.
        """

    def ready(self) -> None:
        """Raises EsrError if the index cannot be searched now. Asks the engine, and remembers nothing."""

    def warm(self) -> None:
        """Many searches will come: begin to load what only pays for many."""

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        """The sentences of these ids, in this order. Raises UsageError for an unknown id."""

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        """The exact counts, lengths and stored columns that a plan is computed from.

        There are always COLUMNS; `columns` names others, such as `features.subj`. `ordinals` are the places
        that hits of this index gave: an engine that counts sentences need not look for their ids then.
        """

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        """All candidates of a plan, whatever its weights, with the evidence for its terms and columns."""

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """Terms of the collection that begin so: the first `limit` in the order of their letters' codes."""

    def features(self) -> Sequence[str]:
        """The names of the features that sentences of the index have."""

    def histogram(self, column: str) -> Histogram:
        """The values of a column over all sentences that it is known for."""

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        """The stored parses of these sentences, as `esr.dependency.codec` wrote them; None: not parsed.

        `ordinals`: the places that hits of this very index gave, which may spare looking up the ids. Raises
        UsageError for an unknown id.
        """

    def facets(self, plan: Plan, asked: Mapping[str, Filters], size: int) -> dict[str, Facet]:
        """The most frequent values of fields of `FACETS` over a plan's candidates, and how many have each.

        `asked` gives each field the filters that it is counted under. All come from one question to the
        engine. Most frequent first, then by name. Raises UsageError for an unknown field.
        """

    def enrichment(self) -> AbstractContextManager[Enrichment]:
        """The index's stored enrichment, to be written to."""

    def document(self, document_id: str) -> Document:
        """A whole document. Raises UsageError for an unknown id."""

    def documents(self) -> Iterator[Document]:
        """All documents as they were loaded, in collection order: those of the moment it begins."""

    def documents_at(self, places: Sequence[int]) -> list[Document]:
        """Documents by their place in the collection, from 0, in this order: for drawing at random."""

    def status(self) -> Mapping[str, Any]:
        """Counts, sizes and settings, for people and programs."""

    def close(self) -> None: ...


class Enrichment(Protocol):
    """What is stored of an index's enrichment. Searches go on meanwhile and see it bit by bit.

    `slice` is (i, n): the i-th of n slices of the documents, i from 1. The slices have no document in
    common and together have all.
    """

    def counts(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        """Documents that are done by this recipe, and all."""

    def todo(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> Iterator[Document]:
        """The documents that are not done by this recipe, in collection order."""

    def store(self, recipe: Recipe, some: Iterable[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        """Store what was found for documents: their id, and their sentences in order.

        It is durable when this returns, and takes the place of what was there of the recipe's parts.
        """

    def finish(self, recipe: Recipe) -> list[str]:
        """Tidy up after the last `store`. Returns what the user should know."""


class IndexWriter(Protocol):
    """What loads documents into an index. Nothing is visible before all of it is."""

    def load(self, documents: Iterable[Located]) -> LoadReport: ...


class Migration(Protocol):
    """What makes an index of an older format one of this esr's. Searches by the older esr go on meanwhile."""

    def run(self) -> LoadReport:
        """Make all of it, or nothing that is seen. One that was killed is taken up where it was."""
