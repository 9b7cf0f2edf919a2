"""Sentences of a snapshot by their ordinals (their places in the collection): locations, ids, records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.index import SentenceRecord
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store.document_codec import StoredDocument, decode_paragraph
from esr.engines.segments.store.segment import PARAGRAPH, Segment

Numbers = npt.NDArray[np.int64]
_Fields = tuple[tuple[str | None, ...], tuple[Any, ...]]
_Unpacked = tuple[StoredDocument, tuple[str | None, ...], tuple[Any, ...]]


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


def read_records(snapshot: Snapshot, locations: Locations) -> list[SentenceRecord]:
    """The records of these sentences, in this order. A document that has several is unpacked once."""
    records: dict[int, SentenceRecord] = {}
    features = _features(snapshot, locations)
    for owner, places, numbers in group_by_segment(locations):
        segment = snapshot.segments[owner]
        enrichment = segment.enrichment if segment.enrichment.entity_spans else None
        documents = segment.column("document")[numbers]
        columns = (
            places,
            numbers,
            documents,
            numbers - segment.column("first")[documents],
            segment.column(PARAGRAPH)[numbers],
        )
        unpacked = _unpack(segment, documents)
        for place, number, document, position, paragraph in zip(*(c.tolist() for c in columns), strict=True):
            stored, descriptive, listed = unpacked[document]
            records[place] = SentenceRecord._make(
                (
                    stored.sentence_id(position),
                    stored.id,
                    position,
                    *stored.texts(position),
                    *descriptive,
                    features[place],
                    None if enrichment is None else enrichment.entities(number),
                    decode_paragraph(paragraph),
                    *listed,
                )
            )
    return [records[place] for place in range(len(records))]


def _unpack(segment: Segment, numbers: npt.NDArray[Any]) -> dict[int, _Unpacked]:
    """These documents by their numbers, each with what its sentences show of it."""
    distinct = list(dict.fromkeys(numbers.tolist()))
    documents = segment.stored_documents(np.array(distinct))
    return {number: (d, *_shown_fields(d)) for number, d in zip(distinct, documents, strict=True)}


def _shown_fields(document: StoredDocument) -> _Fields:
    """What sentences show of their document, in the two places that it has in a record."""
    get = document.get
    descriptive = get("title"), get("date"), get("source"), get("url"), get("language")
    return descriptive, (tuple(get("authors") or ()), get("section"), tuple(get("keywords") or ()))


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
