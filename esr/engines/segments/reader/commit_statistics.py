"""What the segments of a commit hold together: documents, statistics of terms, importance priors.

None of it depends on layers, so a commit of enrichment takes it over from the commit before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.segments.reader.document_table import DocumentTable, make_document_table
from esr.engines.segments.store.segment import Segment
from esr.hashing import hash64
from esr.plans.evidence import Array
from esr.plans.statistics import CollectionStatistics, TermStatistics

IMPORTANCE = ("importance", "importance_surrounding")
"""The columns of the importance priors."""
MAX_TERM_ENTRIES = 20_000
"""Terms that are not looked up again."""


class TermEntry(NamedTuple):
    """A term in a commit: its statistics, its number in each segment (None where it is missing), and in each
    segment where its postings begin and end: those of sentences, then those of documents."""

    statistics: TermStatistics
    numbers: tuple[int | None, ...]
    posting_ranges: tuple[tuple[int, int, int, int], ...]


class CommitStatistics:
    """Threads share it. What is made lazily may be made twice, to the same values."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        # Without their layers: this outlives commits that replace layers.
        self.segments = [segment.with_layers(()) for segment in segments]
        self.sentence_bases = [0, *accumulate(segment.sentence_count for segment in segments)]
        """The ordinal of each segment's first sentence, and the number of all sentences."""
        self._term_entries: dict[str, TermEntry] = {}

    @cached_property
    def document_table(self) -> DocumentTable:
        return make_document_table(self.segments, self.sentence_bases)

    @cached_property
    def collection(self) -> CollectionStatistics:
        parts = [_collection_statistics(segment) for segment in self.segments]
        names = {*CollectionStatistics.__struct_fields__} - {"longest_sentence", "bounds"}
        return CollectionStatistics(
            **{name: sum(getattr(part, name) for part in parts) for name in names},
            longest_sentence=max((part.longest_sentence for part in parts), default=0),
        )

    def find(self, term: str) -> TermEntry:
        """The entry of a term. A term that is in no segment has an empty one."""
        entry = self._term_entries.get(term)
        if entry is None:
            hash = hash64(term)
            numbers = tuple([segment.terms.find(term, hash) for segment in self.segments])
            ranges = tuple([s.posting_ranges(n) for s, n in zip(self.segments, numbers, strict=True)])
            sf = df = occurrences = 0
            for segment, number, each in zip(self.segments, numbers, ranges, strict=True):
                sf, df = sf + each[1] - each[0], df + each[3] - each[2]
                occurrences += segment.occurrences(number)
            entry = TermEntry(TermStatistics(sf, df, occurrences), numbers, ranges)
            if len(self._term_entries) >= MAX_TERM_ENTRIES:
                self._term_entries.clear()
            self._term_entries[term] = entry
        return entry

    @cached_property
    def importance(self) -> list[dict[str, Array]]:
        """The importance priors of each segment's sentences, by column."""
        return [self.importance_of(owner, {}, 0) for owner in range(len(self.segments))]

    def importance_of(self, owner: int, elsewhere: Mapping[str, int], total: int) -> dict[str, Array]:
        """The importance priors of a segment's sentences, with p(t|C) of the whole collection.

        log p(d|s) = sum of c(t,s) log p(t|d) - sum of c(t,s) log p(t). The first sum is stored; the
        second depends on every segment. `elsewhere` adds occurrences that are not in this index, of
        `total` in all.
        """
        segment = self.segments[owner]
        log_background = np.log(self.background(owner, elsewhere, total))
        weights = np.repeat(log_background, np.diff(segment.column("sentence_starts")))
        sentences, counts = segment.sentence_postings(0, len(segment.terms))
        weights *= counts
        collection = np.bincount(sentences, weights, segment.sentence_count)
        return {name: column - collection for name, column in segment.log_likelihoods.items()}

    def background(self, owner: int, elsewhere: Mapping[str, int], total: int) -> Array:
        """p(t|C) of a segment's terms in the whole collection, with what is elsewhere.

        A term that occurs in titles only counts as one occurrence.
        """
        segment = self.segments[owner]
        occurrences = segment.column("occurrences").astype(np.int64)
        for other in self.segments:
            if other is not segment and len(other.terms):
                # Terms are matched by their hash: no two are expected to share all 64 bits.
                shared = other.terms.contains_hashes(segment.terms.hashes)
                places = np.searchsorted(other.terms.hashes, segment.terms.hashes[shared])
                occurrences[shared] += other.column("occurrences")[places]
        if elsewhere:
            occurrences += [elsewhere.get(segment.terms[n], 0) for n in range(len(segment.terms))]
        return np.asarray(np.maximum(occurrences, 1) / max(self.collection.occurrences + total, 1))


def _collection_statistics(segment: Segment) -> CollectionStatistics:
    length, document_length = segment.column("length"), segment.column("document_length")

    def total(column: npt.NDArray[Any]) -> int:
        return int(column.sum(dtype=np.int64))

    return CollectionStatistics(
        sentences=len(length),
        documents=len(document_length),
        occurrences=total(length),
        document_length=total(document_length),
        surrounding_length=total(segment.column("surrounding_length")),
        weighted_document_length=total(np.diff(segment.column("first")) * document_length),
        document_terms=len(segment.column("document_numbers")),
        longest_sentence=int(length.max(initial=0)),
    )
