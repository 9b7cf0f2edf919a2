"""Sentences of a snapshot by their ordinals (their places in the collection): locations, ids, records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.documents.fields import METADATA
from esr.engines.entities import EntitiesByType
from esr.engines.index import SentenceRecord
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store.document_codec import StoredDocument

Numbers = npt.NDArray[np.int64]


class Location(NamedTuple):
    """A sentence's segment, and its number there."""

    segment: int
    number: int


class Locations(NamedTuple):
    """Those of n sentences: their segments and their numbers there, each of shape (n,)."""

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
    """The locations of the sentences with these ordinals."""
    bases, ordinals = np.array(snapshot.statistics.sentence_bases), np.asarray(ordinals, np.int64)
    owners = np.searchsorted(bases, ordinals, "right") - 1
    return Locations(owners, ordinals - bases[owners])


def group_by_segment(locations: Locations) -> Iterator[tuple[int, Numbers, Numbers]]:
    """By segment: its number, the places of its sentences in `locations`, and their numbers."""
    # A set: np.unique sorts, and imports numpy.ma at its first call.
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


def read_records(snapshot: Snapshot, locations: Locations) -> Iterator[SentenceRecord]:
    """The records of these sentences, in this order. A document that has several is unpacked once."""
    documents: dict[tuple[int, int], StoredDocument] = {}
    pairs = map(Location, locations.segments.tolist(), locations.numbers.tolist())
    for location, features in zip(pairs, _features(snapshot, locations), strict=True):
        segment = snapshot.segments[location.segment]
        number = int(segment.column("document")[location.number])
        key = location.segment, number
        if key not in documents:
            documents[key] = segment.stored_document(number)
        position = location.number - int(segment.column("first")[number])
        yield _record(documents[key], position, features, segment.enrichment.entities(location.number))


def _features(snapshot: Snapshot, locations: Locations) -> list[dict[str, float]]:
    """The features that each of these sentences has."""
    features: list[dict[str, float]] = [{} for _ in locations.numbers]
    for owner, places, numbers in group_by_segment(locations):
        enriched = snapshot.segments[owner].enrichment
        for name in enriched.features:
            values = enriched.feature(name, numbers)
            for n in np.flatnonzero(~np.isnan(values)).tolist():
                features[places[n]][name] = float(values[n])
    return features


def _sentence_fields(document: StoredDocument) -> dict[str, Any]:
    """The fields of a document that its sentences show."""
    return {name: value for name, value in document.fields.items() if name != METADATA}


def _record(
    document: StoredDocument, position: int, features: dict[str, float], entities: EntitiesByType | None
) -> SentenceRecord:
    return SentenceRecord(
        sentence_id=document.sentence_id(position),
        document_id=document.id,
        position=position,
        text=document.text(position),
        previous=document.text(position - 1) if position else None,
        next=document.text(position + 1) if position + 1 < len(document) else None,
        **_sentence_fields(document),
        features=features,
        entities=entities,
        paragraph=document.paragraph(position),
    )
