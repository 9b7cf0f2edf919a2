"""The cache of a snapshot: data that its searches keep in memory for later searches.

The contributions of static scores to scores and bounds are computed here, once for a snapshot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.snapshot import CommitStatistics, Snapshot, reduce_by_document
from esr.folder.search.conditions import ConditionCache
from esr.folder.search.field_values import count_values
from esr.folder.search.name_table import NameTable
from esr.folder.search.records import DocumentCache, read_column, read_importance
from esr.folder.search.word_positions import PositionCache
from esr.folder.search.word_usage import WordUsage
from esr.index.filters import attribute_names
from esr.index.limits import SearchMemory
from esr.index.names import Aliases
from esr.index.values import ValueTable
from esr.plans.evaluate import Array, apply_static_score
from esr.plans.plan import StaticScore
from esr.stdlib import cached_property, import_lazily

if TYPE_CHECKING:
    from esr.folder.search import copies as copy_table
    from esr.folder.search import impacts as kernel_impacts
else:
    copy_table = import_lazily("esr.folder.search.copies")
    kernel_impacts = import_lazily("esr.folder.search.impacts")


def _build_tables(statistics: CommitStatistics) -> kernel_impacts.KernelTables:
    # A search from the command line ends before the kernel is loaded.
    return kernel_impacts.KernelTables(statistics)


class _TextCache:
    """The part of the cache that depends on the segments alone, so no layer changes it.

    It must not be part of a reference cycle: then the files of its segments are closed with its last use.
    """

    def __init__(self, statistics: CommitStatistics) -> None:
        self._statistics = statistics
        self.memory = SearchMemory()
        self.positions = PositionCache(self.memory)
        self.documents = DocumentCache(statistics.segments, self.memory)
        self.kernel_tables = cache(partial(_build_tables, statistics))
        """Returns the segments as arguments of the kernel, which the first call builds."""
        self._values: dict[tuple[str, ...], ValueTable] = {}

    @cached_property
    def impacts(self) -> kernel_impacts.ImpactCache:
        return kernel_impacts.ImpactCache(self._statistics, self.memory, self.kernel_tables)

    def values(self, field: str) -> ValueTable:
        # Keyed by the names, not the field: users may type any number of metadata keys that no document has.
        names = attribute_names(self.values, field)
        table = self._values.get(names)
        if table is None:
            documents: Counter[str] = Counter()
            for segment in self._statistics.segments:
                for value, count in count_values(segment, names):
                    documents[value] += count
            table = self._values[names] = ValueTable(documents.items())
        return table


class StaticBounds(NamedTuple):
    """The bounds of one or more static scores.

    `upper_bounds` is the most that they add in each document, of shape (D,), -inf if none of its sentences
    has a value. `greatest` is the greatest absolute value that they add anywhere. `has_value` is a mask of
    the sentences with a value, None if all have one.
    """

    upper_bounds: Array
    greatest: float
    has_value: npt.NDArray[np.bool_] | None

    @property
    def nbytes(self) -> int:
        return self.upper_bounds.nbytes + (0 if self.has_value is None else self.has_value.nbytes)


class StaticScoreCache:
    """The contributions of static scores in a snapshot, kept in memory.

    They depend on features, and so on layers.
    """

    def __init__(self, snapshot: Snapshot, memory: SearchMemory) -> None:
        self._snapshot = snapshot
        self._memory = memory
        self._token = object()
        """Separates the entries of this snapshot in the shared memory, without keeping it alive."""

    def bounds(self, static_scores: Sequence[StaticScore]) -> StaticBounds:
        """The bounds of the sum of these static scores."""
        parts = [self._bounds_of(static_score) for static_score in static_scores]
        masks = [part.has_value for part in parts if part.has_value is not None]
        nothing = np.zeros(len(self._snapshot.statistics.document_table.size))
        return StaticBounds(
            reduce(np.add, (part.upper_bounds for part in parts), nothing),
            sum(part.greatest for part in parts),
            reduce(np.logical_and, masks) if masks else None,
        )

    def scores(self, static_scores: Sequence[StaticScore]) -> npt.NDArray[np.float32]:
        """The sum of these static scores for each sentence, of shape (sentences,), -inf without a value."""
        key = tuple(static_scores)
        return self._memory.get((self._token, key), partial(self._sum_scores, key))

    def _sum_scores(self, static_scores: Sequence[StaticScore]) -> npt.NDArray[np.float32]:
        total = reduce(np.add, map(self._scores_of, static_scores))
        return np.where(np.isfinite(total), total, -np.inf).astype(np.float32)

    def _bounds_of(self, static_score: StaticScore) -> StaticBounds:
        return self._memory.get((self._token, static_score), partial(self._compute_bounds, static_score))

    def _compute_bounds(self, static_score: StaticScore) -> StaticBounds:
        scores = self._scores_of(static_score)
        has_value = np.isfinite(scores)
        greatest = float(np.abs(scores[has_value]).max(initial=0.0))
        scores[~has_value] = -np.inf
        table = self._snapshot.statistics.document_table
        upper_bounds = reduce_by_document(np.maximum, scores, table, -np.inf)
        return StaticBounds(upper_bounds, greatest, None if has_value.all() else has_value)

    def _scores_of(self, static_score: StaticScore) -> Array:
        """A static score's contribution to each sentence, of shape (sentences,), not finite without a
        value.
        """
        owners = range(len(self._snapshot.segments))
        return np.concatenate([np.zeros(0), *(self._segment_scores(static_score, owner) for owner in owners)])

    def _segment_scores(self, static_score: StaticScore, owner: int) -> Array:
        segment = self._snapshot.segments[owner]
        importance = read_importance(self._snapshot, [static_score.column], owner)
        column = read_column(static_score.column, segment, importance, np.arange(segment.sentence_count))
        return apply_static_score(static_score, column)


class SearchCache:
    """A snapshot, and what its searches keep. A commit of enrichment takes over all that no layer changes.

    Threads share it.
    """

    def __init__(self, snapshot: Snapshot, before: SearchCache | None = None) -> None:
        self.snapshot = snapshot
        self._texts: _TextCache
        if before is not None and before.snapshot.statistics is snapshot.statistics:
            self._texts = before._texts
        else:
            self._texts = _TextCache(snapshot.statistics)
        self.static_scores: StaticScoreCache = StaticScoreCache(snapshot, self.memory)
        """Contributions of priors and features."""
        self.conditions: ConditionCache = ConditionCache(
            snapshot.segments, self._texts.positions, self.memory
        )
        """Masks of the sentences that satisfy a condition."""

    @property
    def memory(self) -> SearchMemory:
        """The memory that the caches share, with one limit."""
        return self._texts.memory

    @property
    def documents(self) -> DocumentCache:
        """The documents whose sentences have been shown."""
        return self._texts.documents

    @property
    def positions(self) -> PositionCache:
        """The positions of written words."""
        return self._texts.positions

    @property
    def impacts(self) -> kernel_impacts.ImpactCache:
        """Upper bounds of what terms add."""
        return self._texts.impacts

    @property
    def kernel_tables(self) -> kernel_impacts.KernelTables:
        """The segments as arguments of the kernel."""
        return self._texts.kernel_tables()

    def values(self, field: str) -> ValueTable:
        """The values of `source` or of an attribute in the documents; for META, the metadata keys."""
        return self._texts.values(field)

    @cached_property
    def word_usage(self) -> WordUsage:
        """The number of sentences with a word, and its written form."""
        return WordUsage(self.snapshot, self._texts.positions, self.documents, self.memory)

    @cached_property
    def copies(self) -> copy_table.CopyTable:
        """The groups of copies."""
        return copy_table.CopyTable(self.snapshot)

    @cached_property
    def names(self) -> NameTable:
        """The names in the sentences, grouped."""
        commit = self.snapshot.manifest
        return NameTable(self.snapshot.segments, Aliases(commit.aliases, commit.short_forms))
