"""The groups of copies of a snapshot."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Mask, Numbers
from esr.folder.format.segment import NO_DATE
from esr.folder.format.snapshot import Snapshot
from esr.folder.search.records import DocumentCache, read_records
from esr.index.copies import Appearance, CopyGroup, make_group


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
        document = np.searchsorted(table.first, members, "right") - 1
        date = np.where(dates[document] == NO_DATE, np.iinfo(np.int64).max, dates[document])
        order = np.lexsort((members, date, self._groups[members]))
        self._members: Numbers = members[order]
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

    @property
    def is_repeated(self) -> Mask:
        """Mask of the sentences of which an earlier copy is in the index, of shape (sentences,)."""
        mask: npt.NDArray[np.bool_] = np.zeros(len(self._groups), bool)
        later = self._group_of_member[1:] == self._group_of_member[:-1]
        mask[self._members[1:][later]] = True
        return mask
