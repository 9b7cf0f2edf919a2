"""The records of sentences, read by ordinal, with a cache of the documents whose sentences have been shown.

An ordinal is the number of a sentence in the collection. A location is its segment and its number there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from esr.folder.format.files import Numbers
from esr.folder.format.segment import NO_PARAGRAPH, Segment, ShownDocument, read_shown
from esr.folder.format.snapshot import Snapshot
from esr.index.hits import SentenceRecord
from esr.index.limits import SearchMemory
from esr.text.document import default_id_prefix


class DocumentKey(NamedTuple):
    """A document: the index of its segment, and its number there."""

    segment: int
    number: int


class DocumentCache:
    """Decoded documents of the segments, kept in memory. Threads share it."""

    def __init__(self, segments: Sequence[Segment], memory: SearchMemory) -> None:
        self._segments = segments
        self._memory = memory

    def read(self, keys: Collection[DocumentKey]) -> Mapping[DocumentKey, ShownDocument]:
        """Read the documents with these distinct keys."""
        return self._memory.get_many(keys, self._unpack)

    def _unpack(self, keys: Sequence[DocumentKey]) -> list[ShownDocument]:
        return read_shown([self._segments[owner].blob_view(number) for owner, number in keys])


_new_tuple = tuple.__new__
_ID_INFIX = default_id_prefix("")
"""The string between the document's id and the position in a default sentence id."""


class Location(NamedTuple):
    """A sentence: the index of its segment, and its number there."""

    segment: int
    number: int


class Locations(NamedTuple):
    """The locations of n sentences: indices of segments, and numbers there, each of shape (n,)."""

    segments: Numbers
    numbers: Numbers

    @staticmethod
    def of(locations: Sequence[Location]) -> Locations:
        table = np.array(locations, np.int64).reshape(-1, 2)
        return Locations(table[:, 0], table[:, 1])


def find_sentence(snapshot: Snapshot, sentence_id: str) -> Location | None:
    for owner, segment in enumerate(snapshot.segments):
        number = segment.find_sentence(sentence_id)
        if number is not None:
            return Location(owner, number)
    return None


def locate(snapshot: Snapshot, ordinals: Sequence[int] | Numbers) -> Locations:
    """Locate the sentences with these ordinals."""
    bases, ordinals = np.array(snapshot.statistics.sentence_bases), np.asarray(ordinals, np.int64)
    owners = np.searchsorted(bases, ordinals, "right") - 1
    return Locations(owners, ordinals - bases[owners])


def group_by_segment(locations: Locations) -> Iterator[tuple[int, Numbers, Numbers]]:
    """Yield for each segment its index, the indices of its sentences in `locations`, and their numbers."""
    # A set, since np.unique sorts, and imports numpy.ma on its first call.
    for owner in sorted(set(locations.segments.tolist())):
        places = np.flatnonzero(locations.segments == owner)
        yield owner, places, locations.numbers[places]


def sentence_id(snapshot: Snapshot, location: Location) -> str:
    return snapshot.segments[location.segment].sentence_id(location.number)


def sentence_ids(snapshot: Snapshot, ordinals: Numbers) -> list[str]:
    """The ids of the sentences with these ordinals."""
    ids = [""] * len(ordinals)
    for owner, places, numbers in group_by_segment(locate(snapshot, ordinals)):
        for place, id in zip(places.tolist(), snapshot.segments[owner].sentence_ids(numbers), strict=True):
            ids[place] = id
    return ids


def read_records(snapshot: Snapshot, cache: DocumentCache, ordinals: Sequence[int]) -> list[SentenceRecord]:
    """Read the records of the sentences with these ordinals, in this order."""
    segments, bases = snapshot.segments, snapshot.statistics.sentence_bases
    columns = [segment.sentence_views for segment in segments]
    rows = []
    for ordinal in ordinals:
        owner = bisect_right(bases, ordinal) - 1
        number = ordinal - bases[owner]
        rows.append((_new_tuple(DocumentKey, (owner, columns[owner].document[number])), number))
    documents = cache.read(dict.fromkeys([key for key, _ in rows]))
    features = _features(snapshot, ordinals) if snapshot.features else None
    entities = [s.enrichment.entities if s.enrichment.entity_spans else None for s in segments]
    records: list[SentenceRecord] = []
    for key, number in rows:
        owner, document = key[0], documents[key]
        position = number - columns[owner].first[key[1]]
        paragraph, of_sentence = columns[owner].paragraph[number], entities[owner]
        sentences, end = document.sentences, position + 1
        sentence = sentences[position]
        # SentenceRecord(...) takes twice as long.
        record = _new_tuple(
            SentenceRecord,
            (
                f"{document.id}{_ID_INFIX}{position}" if sentence.id is None else sentence.id,
                document.id,
                position,
                sentence.text,
                sentences[position - 1].text if position else None,
                sentences[end].text if end < len(sentences) else None,
                document.title,
                document.date,
                document.source,
                document.url,
                document.language,
                {} if features is None else features[len(records)],
                None if of_sentence is None else of_sentence(number),
                None if paragraph == NO_PARAGRAPH else paragraph - 1,
                document.authors,
                document.section,
                document.keywords,
            ),
        )
        records.append(record)
    return records


def _features(snapshot: Snapshot, ordinals: Sequence[int]) -> list[dict[str, float]]:
    """The known features of each of these sentences."""
    features: list[dict[str, float]] = [{} for _ in ordinals]
    for owner, places, numbers in group_by_segment(locate(snapshot, ordinals)):
        enriched = snapshot.segments[owner].enrichment
        for name in enriched.features:
            values = enriched.feature(name, numbers)
            for n in np.flatnonzero(~np.isnan(values)).tolist():
                features[places[n]][name] = float(values[n])
    return features
