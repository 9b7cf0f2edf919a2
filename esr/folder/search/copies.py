"""The groups of copies of a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from esr.folder.format.files import Mask, Numbers
from esr.folder.format.segment import NO_DATE
from esr.folder.format.snapshot import Snapshot
from esr.folder.search.records import DocumentCache, read_records
from esr.index.copies import Appearance, CopyGroup, make_group
from esr.stdlib import cached_property

_NO_DATE = np.iinfo(np.int64).max


class CopyTable:
    """The sentences in groups of copies, by group, then by date, then in collection order."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        segments, table = snapshot.segments, snapshot.statistics.document_table
        none = np.zeros(0, np.int32)
        self._groups = np.concatenate([none, *(segment.enrichment.groups(0) for segment in segments)])
        """The group of each sentence of the snapshot, 0 for none."""
        members = np.flatnonzero(self._groups)
        dates = np.concatenate([np.zeros(0, np.int64), *(segment.column("date") for segment in segments)])
        document = np.concatenate(
            [
                np.zeros(0, np.int64),
                *(
                    segment.column("document").astype(np.int64) + base
                    for segment, base in zip(segments, table.document_bases, strict=False)
                ),
            ]
        )[members]
        date = np.where(dates[document] == NO_DATE, _NO_DATE, dates[document])
        order = np.lexsort((members, date, self._groups[members]))
        self._members: Numbers = members[order]
        self._document: Numbers = document[order]
        self._date: Numbers = date[order]
        self._group_of_member = self._groups[self._members]

    def read(self, ordinals: Numbers, documents: DocumentCache) -> list[CopyGroup | None]:
        """The group of each sentence with these ordinals, None for a sentence without copies."""
        groups = self._groups[ordinals].tolist()
        return [self._read_group(group, documents) if group else None for group in groups]

    def _read_group(self, group: int, documents: DocumentCache) -> CopyGroup | None:
        start, stop = np.searchsorted(self._group_of_member, [group, group + 1])
        members = self._members[start:stop].tolist()
        if len(members) < 2:
            return None
        records = read_records(self._snapshot, documents, members)
        return make_group(
            [Appearance(r.sentence_id, r.document_id, r.position, r.date, r.source) for r in records]
        )

    @cached_property
    def repeated(self) -> list[Mask]:
        """Masks of the sentences of which an earlier copy is in the index, by segment."""
        mask: Mask = np.zeros(len(self._groups), bool)
        later = self._group_of_member[1:] == self._group_of_member[:-1]
        mask[self._members[1:][later & self._is_in_several_documents[1:]]] = True
        return np.split(mask, self._snapshot.statistics.sentence_bases[1:-1])

    @cached_property
    def _is_in_several_documents(self) -> Mask:
        """Mask of the members whose group is in several documents, of shape (members,)."""
        starts = np.flatnonzero(np.diff(self._group_of_member, prepend=-1))
        if not len(starts):
            return np.zeros(0, bool)
        lowest, highest = (f.reduceat(self._document, starts) for f in (np.minimum, np.maximum))
        several: Mask = np.repeat(lowest < highest, np.diff(np.append(starts, len(self._members))))
        return several

    def count_taken(self, allowed: Sequence[Mask | None]) -> Mapping[tuple[str, str], int]:
        """The answer to `ByReuse` for the sentences of these masks, by segment."""
        mask = np.concatenate(
            [
                np.zeros(0, bool),
                *(
                    np.ones(segment.sentence_count, bool) if of_segment is None else of_segment
                    for segment, of_segment in zip(self._snapshot.segments, allowed, strict=True)
                ),
            ]
        )
        starts = np.flatnonzero(np.diff(self._group_of_member, prepend=-1))
        first = np.repeat(starts, np.diff(np.append(starts, len(self._members))))
        later = (self._date > self._date[first]) & (self._date != _NO_DATE) & mask[self._members]
        rows = np.flatnonzero(later)
        sources = self._read_sources(np.concatenate([first[rows], rows]))
        reuses = {
            (group, origin, taker)
            for group, origin, taker in zip(
                self._group_of_member[rows].tolist(), sources[: len(rows)], sources[len(rows) :], strict=True
            )
            if origin is not None and taker is not None and origin != taker
        }
        return Counter((origin, taker) for _, origin, taker in reuses)

    def _read_sources(self, members: Numbers) -> list[str | None]:
        """The source of each of these members."""
        bases, documents = self._snapshot.statistics.document_table.document_bases, self._document[members]
        owners = np.searchsorted(bases, documents, "right") - 1
        sources = []
        for owner, document in zip(owners.tolist(), documents.tolist(), strict=True):
            segment = self._snapshot.segments[owner]
            sources.append(segment.sources[int(segment.column("source")[document - int(bases[owner])])])
        return sources
