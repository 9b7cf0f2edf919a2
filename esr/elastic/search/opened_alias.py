"""What is opened of an alias: the readers of its parts, and what they cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.documents import WORDS_FIELD, sentence_field
from esr.elastic.search.evidence import EvidenceReader
from esr.elastic.search.sentence_search import StoredParses
from esr.elastic.statistics import AliasStatistics
from esr.elastic.vectors import EncoderReader
from esr.elastic.vocabulary import NameReader, ValueReader
from esr.index.writer import Description
from esr.text.analyzer import Analyzer, get_analyzer

Remembered = TypeVar("Remembered")
_MOST_REMEMBERED = 5_000


class OpenedAlias:
    """Readers and cached data of a cluster's aliases, or of the indices that it `is_pinned` to."""

    def __init__(self, cluster: Cluster, is_pinned: bool = False) -> None:
        self.cluster = cluster
        self.is_pinned = is_pinned
        loads = meta.searchable_loads(cluster)
        self.description: Description = loads[0].description
        self.impacts: Mapping[str, Any] = loads[0].impacts if len(loads) == 1 else {}
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
