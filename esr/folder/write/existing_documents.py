"""The documents that an index has before a writer changes it, found by their ids.

Nothing is looked up in a table that differs from its checksum. Most tables of a large index are never needed,
so they are compared when they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from esr.folder.format.damage import parts_of, require_intact
from esr.folder.format.files import Mask
from esr.folder.format.manifest import SEGMENTS, Manifest
from esr.folder.format.segment import FILES_OF_SEGMENT, Segment
from esr.folder.format.strings import hash_strings
from esr.processes import allow_open_files
from esr.stdlib import hash64

Places = dict[str, tuple[Segment, int]]
"""The segment of each document that the index has, and its number there, by id."""
_HASHES = frozenset(["documents.hashes.npy", "given.hashes.npy"])
"""The files of a segment that tell which ids it cannot have."""
_IDS = frozenset(
    [
        *(f"{table}.{kind}" for table in ("documents", "given") for kind in ("bytes", "ends.npy")),
        *("documents.numbers.npy", "given.numbers.npy", "given_at.npy", "first.npy"),
    ]
)
"""The other files by which documents and sentences are found."""
_DOCUMENTS = frozenset(
    ["texts.ends.npy", "length.npy", "document.npy", "document_length.npy", "paragraph.npy"]
)
"""The files by which documents are compared. Their blobs have checksums of their own."""


class ExistingDocuments:
    """The segments of a commit, whose tables are compared with their checksums before they are read."""

    def __init__(self, folder: Path, commit: Manifest) -> None:
        """Compares the tables of hashes. Raises SegmentDamaged."""
        self._folder = folder
        self._parts = {part.path: part for part in parts_of(commit)}
        self._intact: dict[frozenset[str], set[str]] = {_IDS: set(), _DOCUMENTS: set()}
        """The names of the segments with these tables compared."""
        require_intact(folder, self._parts.values(), names=_HASHES)
        allow_open_files(FILES_OF_SEGMENT * len(commit.segments))
        self.segments: list[Segment] = [Segment(folder / SEGMENTS / name) for name in commit.segments]

    def find(self, ids: Sequence[str]) -> Places:
        """The places of the documents that there are. Raises SegmentDamaged.

        Looks up all ids at once, which takes a tenth of the time of one after the other in many segments.
        """
        hashes, places = hash_strings(ids), Places()
        for segment in self.segments:
            likely = np.flatnonzero(segment.document_ids.contains_hashes(hashes)).tolist()
            if likely:
                self._require_intact([segment], _IDS, _DOCUMENTS)
            for index in likely:
                number = segment.document_ids.find(ids[index])
                if number is not None:
                    places.setdefault(ids[index], (segment, number))
        return places

    def find_one(self, id: str) -> tuple[Segment, int] | None:
        """The place of a document, None if there is none. Raises SegmentDamaged."""
        self._require_intact(self.segments, _IDS)
        place = find_document(self.segments, id)
        if place is not None:
            self._require_intact([place[0]], _DOCUMENTS)
        return place

    def of_same_periods(self, new: Sequence[Segment]) -> list[Segment]:
        """The segments with the periods of new ones, in an undivided index all. Raises SegmentDamaged."""
        periods = {segment.period for segment in new}
        segments = [segment for segment in self.segments if segment.period in periods]
        self._require_intact(segments, _IDS, _DOCUMENTS)
        return segments

    def find_owners(self, sentence_id: str) -> Iterable[tuple[Segment, int]]:
        """The segments that have a sentence, and the number of its document there. Raises SegmentDamaged."""
        self._require_intact(self.segments, _IDS)
        for segment in self.segments:
            sentence = segment.find_sentence(sentence_id)
            if sentence is not None:
                self._require_intact([segment], _DOCUMENTS)
                yield segment, int(segment.column("document")[sentence])

    def _require_intact(self, segments: Sequence[Segment], *groups: frozenset[str]) -> None:
        """Compare these tables of segments with their checksums, unless it was done before."""
        for tables in groups:
            intact = self._intact[tables]
            if len(intact) < len(self.segments):
                names = {segment.folder.name for segment in segments} - intact
                parts = (self._parts[f"{SEGMENTS}/{name}"] for name in sorted(names))
                require_intact(self._folder, parts, names=tables)
                intact |= names


def may_be_explicit(ids: Sequence[str], segments: Iterable[Segment]) -> Mask:
    """Mask of the ids that may be explicit ids of sentences of these segments."""
    mask = np.zeros(len(ids), bool)
    if tables := [segment.explicit_ids for segment in segments if segment.has_explicit_ids]:
        hashes = hash_strings(ids)
        for table in tables:
            mask |= table.contains_hashes(hashes)
    return mask


def find_document(segments: Iterable[Segment], document_id: str) -> tuple[Segment, int] | None:
    """The segment that has a document, and its number there, None if there is none."""
    hash = hash64(document_id)
    for segment in segments:
        number = segment.document_ids.find(document_id, hash)
        if number is not None:
            return segment, number
    return None
