"""Sentences of a snapshot by their ordinals (their places in the collection): locations, ids, records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.index import SentenceRecord
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store.document_codec import NO_PARAGRAPH
from esr.engines.segments.store.segment import PARAGRAPH, Segment
from esr.engines.segments.store.shown_document import ShownDocument

Numbers = npt.NDArray[np.int64]
_new_tuple = tuple.__new__


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
        entities = segment.enrichment.entities if segment.enrichment.entity_spans else None
        documents = segment.column("document")[numbers]
        columns = (
            places,
            numbers,
            documents,
            numbers - segment.column("first")[documents],
            segment.column(PARAGRAPH)[numbers],
        )
        shown = _read_documents(segment, documents)
        for place, number, owner_number, position, paragraph in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            document, prefix = shown[owner_number]
            sentences, end = document.sentences, position + 1
            sentence = sentences[position]
            # As SentenceRecord(...) makes it, in half of the time.
            records[place] = _new_tuple(
                SentenceRecord,
                (
                    f"{prefix}{position}" if sentence.id is None else sentence.id,
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
                    features[place],
                    None if entities is None else entities(number),
                    None if paragraph == NO_PARAGRAPH else paragraph - 1,
                    document.authors,
                    document.section,
                    document.keywords,
                ),
            )
    return [records[place] for place in range(len(records))]


def _read_documents(segment: Segment, numbers: npt.NDArray[Any]) -> dict[int, tuple[ShownDocument, str]]:
    """These documents by their numbers, each with the start of the default ids of its sentences."""
    distinct = list(dict.fromkeys(numbers.tolist()))
    documents = segment.shown_documents(np.array(distinct))
    return {n: (document, document.id_prefix) for n, document in zip(distinct, documents, strict=True)}


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
