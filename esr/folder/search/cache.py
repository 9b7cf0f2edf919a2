"""A snapshot with what its searches keep in memory for the searches after them."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from esr.folder.format.snapshot import CommitStatistics, Snapshot
from esr.folder.search.conditions import ConditionCache
from esr.folder.search.evidence import StaticCache
from esr.folder.search.memory import SearchMemory
from esr.folder.search.name_table import NameTable, count_values
from esr.folder.search.records import DocumentCache
from esr.folder.search.words import PlaceCache
from esr.index.filters import ValueTable, attribute_names
from esr.index.names import Aliases

if TYPE_CHECKING:
    from esr.folder.search.impacts import ImpactCache
    from esr.folder.search.kernel_loader import KernelTables
    from esr.folder.search.words import WordUsage


class _LazyTables:
    """The segments as the kernel takes them, made when it is first used.

    A search from the command line ends before the kernel is loaded.
    """

    def __init__(self, statistics: CommitStatistics) -> None:
        self._statistics = statistics

    @cached_property
    def tables(self) -> KernelTables:
        from esr.folder.search.kernel_loader import KernelTables

        return KernelTables(self._statistics)


class _TextCache:
    """What depends on the segments alone: no layer changes it.

    Nothing in it refers to itself, so that the files of its segments are closed with its last use.
    """

    def __init__(self, statistics: CommitStatistics) -> None:
        self._statistics = statistics
        self.memory = SearchMemory()
        self.places = PlaceCache(self.memory)
        self.documents = DocumentCache(statistics.segments, self.memory)
        self.kernel = _LazyTables(statistics)
        self._values: dict[tuple[str, ...], ValueTable] = {}

    @cached_property
    def impacts(self) -> ImpactCache:
        from esr.folder.search.impacts import ImpactCache  # which only the kernel needs

        kernel = self.kernel
        return ImpactCache(self._statistics, self.memory, lambda: kernel.tables)

    def values(self, field: str) -> ValueTable:
        # Not by the field: a key that no document has may be typed in any number of ways.
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
    """Threads share it. A commit of enrichment takes over what no layer changes."""

    def __init__(self, snapshot: Snapshot, before: SearchCache | None = None) -> None:
        self.snapshot = snapshot
        self._texts: _TextCache
        if before is not None and before.snapshot.statistics is snapshot.statistics:
            self._texts = before._texts
        else:
            self._texts = _TextCache(snapshot.statistics)
        self.statics = StaticCache(snapshot, self.memory)
        """What priors and features add."""
        self.conditions = ConditionCache(snapshot.segments, self._texts.places, self.memory)
        """Which sentences satisfy a condition."""

    @property
    def memory(self) -> SearchMemory:
        """What is kept within the limit."""
        return self._texts.memory

    @property
    def documents(self) -> DocumentCache:
        """The documents whose sentences were shown."""
        return self._texts.documents

    @property
    def impacts(self) -> ImpactCache:
        """What terms add at most."""
        return self._texts.impacts

    @property
    def kernel_tables(self) -> KernelTables:
        """The segments as the kernel takes them."""
        return self._texts.kernel.tables

    def values(self, field: str) -> ValueTable:
        """The values of the field `source` or of an attribute in the documents; of META, the keys."""
        return self._texts.values(field)

    @cached_property
    def word_usage(self) -> WordUsage:
        """How many sentences have a word, and how it is written there."""
        from esr.folder.search.words import WordUsage  # which few searches need

        return WordUsage(self.snapshot, self._texts.places, self.documents, self.memory)

    @cached_property
    def names(self) -> NameTable:
        """The names in the sentences, grouped."""
        return NameTable(self.snapshot.segments, Aliases(self.snapshot.manifest.aliases))
