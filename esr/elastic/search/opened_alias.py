"""What is opened of an alias: the readers of its parts, and what they cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.documents import WORDS_FIELD, sentence_field
from esr.elastic.location import documents_index, period_of_index
from esr.elastic.requests import find_unavailable
from esr.elastic.search.evidence import EvidenceReader
from esr.elastic.search.sentence_search import StoredParses
from esr.elastic.statistics import MAX_AGE, AliasStatistics
from esr.elastic.vectors import EncoderReader
from esr.elastic.vocabulary import NameReader, ValueReader
from esr.index.filters import NO_FILTERS, Filters
from esr.index.writer import Description
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.periods import may_hold

Remembered = TypeVar("Remembered")
_MOST_REMEMBERED = 5_000


class OpenedAlias:
    """Readers and cached data of a cluster's aliases, or of the indices that it `is_pinned` to."""

    def __init__(self, cluster: Cluster, is_pinned: bool = False) -> None:
        self.cluster = cluster
        self.is_pinned = is_pinned
        loads = meta.searchable_loads(cluster)
        self._loads = loads
        self.description: Description = loads[0].description
        # The head describes the impacts of all loads. An appended load has none.
        self.impacts: Mapping[str, Any] = loads[-1].impacts if all(load.impacts for load in loads) else {}
        self.analyzer: Analyzer = get_analyzer(self.description.analyzer)
        self.statistics: AliasStatistics = AliasStatistics(
            cluster, is_pinned, sentence_field(self.description)
        )
        self.words: AliasStatistics = AliasStatistics(cluster, is_pinned, WORDS_FIELD["sentence"])
        """Statistics of written words."""
        self.evidence_reader: EvidenceReader = EvidenceReader(self.analyzer)
        self.names: NameReader = NameReader(cluster)
        self.encoders: EncoderReader = EncoderReader(cluster)
        self.parses: StoredParses = StoredParses(cluster)
        self.values: ValueReader = ValueReader(cluster, is_pinned)
        self.shards: dict[str, int] = {}
        """The number of shards of each index that was searched."""
        self._remembered: dict[Any, Any] = {}
        self._lost: list[str] = meta.lost_periods(loads)
        if cluster.targets is not None:  # an alias still names an index of sentences without its documents
            self._lost += [load.index for load in loads if load.index not in cluster.targets.loads]
        self.lacks: str | None = self._describe_lost(self._lost, "missing")
        """What searches of a divided index lack, None if nothing."""
        self._available: tuple[float, OpenedAlias] | None = None

    def available(self, *, anew: bool = False) -> OpenedAlias:
        """The periods of a divided index whose shards answer; all, if these are not known to be fewer.

        With `anew`, a request finds out. The result is used for some seconds.
        """
        now, known = time.monotonic(), self._available  # another thread may replace it
        if known is not None and now - known[0] < MAX_AGE:
            return known[1]
        if not anew:
            return self
        unavailable = self._find_unavailable()
        loads = [load for load in self._loads if load.index not in unavailable]
        if not self.is_pinned or len(loads) in (0, len(self._loads)):
            return self
        if not meta.fit_request(meta.name_indices(loads)):
            return self
        opened = OpenedAlias(self.cluster.narrow(meta.name_indices(loads)), True)
        opened.impacts = {}  # they are for the whole collection
        lacks = (self.lacks, self._describe_lost(unavailable, "not available"))
        opened.lacks = "; ".join(filter(None, lacks))
        self._available = now, opened
        return opened

    def describe_unavailable(self) -> str | None:
        """Which periods of a divided index have shards that do not answer, None if there is none."""
        return self._describe_lost(self._find_unavailable(), "not available")

    def _find_unavailable(self) -> list[str]:
        """The indices of the periods of a divided index that have a shard that does not answer."""
        if self.description.by is None:
            return []
        unavailable = find_unavailable(self.cluster)
        return [load.index for load in self._loads if {load.index, load.documents_index} & unavailable]

    def _describe_lost(self, lost: Sequence[str], state: str) -> str | None:
        by = self.description.by
        if by is None or not lost:
            return None
        periods = ", ".join(f"{period_of_index(index, by)} ({index})" for index in lost)
        return f"the index of {periods} is {state}"

    def require(self, filters: Filters = NO_FILTERS) -> None:
        """Raise IndexUnusable if the index of a period is missing that may have had what the filters allow.

        Only searches can say that they are incomplete. Counts and lists cannot.
        """
        by, start, end = self.description.by, filters.date_from, filters.date_to
        if by is None:
            return
        if lost := [index for index in self._lost if may_hold(period_of_index(index, by), start, end)]:
            raise self.cluster.incomplete(
                [name for index in lost for name in (index, documents_index(index))]
            )

    def within(self, filters: Filters) -> Cluster:
        """The cluster, with only the indices of periods that may have sentences for these filters."""
        if not self.is_pinned or self.description.by is None:
            return self.cluster
        start, end = filters.date_from, filters.date_to
        loads = [load for load in self._loads if may_hold(load.period, start, end)] or self._loads[-1:]
        names = meta.name_indices(loads)
        if len(loads) == len(self._loads) or not meta.fit_request(names):
            return self.cluster
        return self.cluster.narrow(names)

    def remember(self, read: Callable[..., Remembered], *arguments: Any) -> Remembered:
        """The result of `read`, which depends on texts alone: it is cached if the indices are pinned."""
        if not self.is_pinned:
            return read(self.cluster, *arguments)
        remembered, key = self._remembered, (read, *arguments)  # another thread may replace them
        if key not in remembered:
            if len(remembered) >= _MOST_REMEMBERED:
                self._remembered = remembered = {}
            remembered[key] = read(self.cluster, *arguments)
        answer: Remembered = remembered[key]
        return answer
