"""The cache of a snapshot: data that its searches keep in memory for later searches."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from typing import TYPE_CHECKING

from esr.folder.format.snapshot import CommitStatistics, Snapshot
from esr.folder.search.conditions import ConditionCache
from esr.folder.search.evidence import StaticScoreCache
from esr.folder.search.records import DocumentCache
from esr.folder.search.vocabulary import NameTable, PositionCache, WordUsage, count_values
from esr.index.filters import ValueTable, attribute_names
from esr.index.limits import SearchMemory
from esr.index.names import Aliases
from esr.stdlib import cached_property

if TYPE_CHECKING:
    from esr.folder.search.impacts import ImpactCache, KernelTables


def _build_tables(statistics: CommitStatistics) -> KernelTables:
    # A search from the command line ends before the kernel is loaded.
    from esr.folder.search.impacts import KernelTables

    return KernelTables(statistics)


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
    def impacts(self) -> ImpactCache:
        from esr.folder.search.impacts import ImpactCache  # only needed by the kernel

        return ImpactCache(self._statistics, self.memory, self.kernel_tables)

    def values(self, field: str) -> ValueTable:
        # Keyed by the names, not the field: users may type any number of metadata keys that no document has.
        names = attribute_names(self, field)
        table = self._values.get(names)
        if table is None:
            documents: Counter[str] = Counter()
            for segment in self._statistics.segments:
                for value, count in count_values(segment, names):
                    documents[value] += count
            table = self._values[names] = ValueTable(documents.items())
        return table


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
        self.static_scores = StaticScoreCache(snapshot, self.memory)
        """Contributions of priors and features."""
        self.conditions = ConditionCache(snapshot.segments, self._texts.positions, self.memory)
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
    def impacts(self) -> ImpactCache:
        """Upper bounds of what terms add."""
        return self._texts.impacts

    @property
    def kernel_tables(self) -> KernelTables:
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
    def names(self) -> NameTable:
        """The names in the sentences, grouped."""
        commit = self.snapshot.manifest
        return NameTable(self.snapshot.segments, Aliases(commit.aliases, commit.short_forms))
