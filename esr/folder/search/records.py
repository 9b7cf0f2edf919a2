"""The records of sentences, read by ordinal, and the evidence for them.

An ordinal is the number of a sentence in the collection. A location is its segment and its number there.
Documents whose sentences have been shown are cached.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np

from esr.folder.format.files import Numbers
from esr.folder.format.segment import NO_DATE, NO_PARAGRAPH, Postings, Segment, ShownDocument, read_shown
from esr.folder.format.snapshot import IMPORTANCE, Snapshot
from esr.index.hits import SentenceRecord
from esr.index.limits import SearchMemory
from esr.plans.evaluate import Array, Evidence
from esr.plans.plan import DAY, FEATURE_PREFIX, FieldName, Plan
from esr.text.dates import DAY as MILLISECONDS_PER_DAY
from esr.text.document import Document, default_id_prefix

DocumentKey = tuple[int, int]
"""A document: the index of its segment, and its number there."""


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
        (places,) = (locations.segments == owner).nonzero()
        yield owner, places, locations.numbers[places]


def find_documents(segments: Sequence[Segment], ids: Iterable[str]) -> list[Document]:
    """The documents with these ids. Unknown ids are left out."""
    missing, documents = dict.fromkeys(ids), []
    for segment in segments:
        numbers = [(id, number) for id in missing if (number := segment.document_ids.find(id)) is not None]
        for id, number in numbers:
            documents.append(segment.document(number))
            del missing[id]
    return documents


def documents_at(segments: Sequence[Segment], positions: Sequence[int]) -> list[Document]:
    """The documents at these positions in collection order."""
    ends = np.cumsum([segment.document_count for segment in segments])
    owners = np.searchsorted(ends, positions, "right")
    return [
        segments[owner].document(int(position - (ends[owner - 1] if owner else 0)))
        for position, owner in zip(positions, owners.tolist(), strict=True)
    ]


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
    owners = [bisect_right(bases, ordinal) - 1 for ordinal in ordinals]
    columns = {owner: segments[owner].sentence_views for owner in set(owners)}
    rows = []
    for owner, ordinal in zip(owners, ordinals, strict=True):
        number = ordinal - bases[owner]
        rows.append(((owner, columns[owner].document[number]), number))
    documents = cache.read(dict.fromkeys([key for key, _ in rows]))
    features = _features(snapshot, ordinals) if snapshot.features else None
    stacks = {owner: segments[owner].enrichment for owner in columns}
    entities = {owner: stack.entities if stack.entity_spans else None for owner, stack in stacks.items()}
    records: list[SentenceRecord] = []
    for key, number in rows:
        owner, document = key[0], documents[key]
        position = number - columns[owner].first[key[1]]
        paragraph, of_sentence = columns[owner].paragraph[number], entities[owner]
        sentences, end = document.sentences, position + 1
        sentence = sentences[position]
        record = SentenceRecord(
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
            for place, value in zip(places.tolist(), values.tolist(), strict=True):
                if not isnan(value):
                    features[place][name] = value
    return features


# Evidence


def read_evidence(
    terms: Sequence[str],
    fields: Iterable[FieldName],
    columns: Iterable[str],
    segment: Segment,
    importance: dict[str, Array],
    numbers: Numbers,
) -> Evidence:
    """Read the evidence for the sentences with these numbers. `importance` holds the computed columns.

    The column `features.x` is NaN where the feature is unknown.
    """
    needed = set(fields) | {"sentence"}
    term_numbers = [segment.terms.find(term) for term in terms]
    document = segment.column("document")[numbers]
    sentence_counts, around = _sentence_counts(segment, term_numbers, numbers, "surrounding" in needed)
    counts: dict[FieldName, Array] = {"sentence": sentence_counts}
    lengths: dict[FieldName, Array] = {"sentence": segment.column("length")[numbers].astype(float)}
    if around is not None:
        counts["surrounding"] = around
        lengths["surrounding"] = segment.column("surrounding_length")[numbers].astype(float)
    if "document" in needed:
        counts["document"] = np.empty((len(terms), len(numbers)))
        size = segment.document_count
        for row, number in enumerate(term_numbers):
            counts["document"][row] = _count(segment.document_postings(number), document, size)
        lengths["document"] = segment.column("document_length")[document].astype(float)
    stored = {name: read_column(name, segment, importance, numbers) for name in columns}
    return Evidence(counts, lengths, stored)


def read_columns(plan: Plan, snapshot: Snapshot, ordinals: Numbers) -> dict[str, Array]:
    """Read the columns of a plan's static scores for the sentences of a commit with these ordinals,
    ascending.
    """
    names = list(dict.fromkeys(static_score.column for static_score in plan.static_scores))
    columns = {name: np.empty(len(ordinals)) for name in names}
    bases = snapshot.statistics.sentence_bases
    borders = np.searchsorted(ordinals, bases)
    for owner, segment in enumerate(snapshot.segments):
        if borders[owner] < borders[owner + 1]:
            span = slice(int(borders[owner]), int(borders[owner + 1]))
            importance = read_importance(snapshot, names, owner)
            for name in names:
                columns[name][span] = read_column(name, segment, importance, ordinals[span] - bases[owner])
    return columns


def read_importance(snapshot: Snapshot, columns: Iterable[str], owner: int) -> dict[str, Array]:
    """The importance priors of a segment's sentences, if one of the columns needs them."""
    return snapshot.statistics.importance[owner] if set(columns) & set(IMPORTANCE) else {}


def read_column(name: str, segment: Segment, importance: dict[str, Array], numbers: Numbers) -> Array:
    """Read a column of these sentences, of shape (n,), NaN where it is unknown."""
    if name.startswith(FEATURE_PREFIX):
        return segment.enrichment.feature(name.removeprefix(FEATURE_PREFIX), numbers)
    values: Array
    if name == "length":
        values = segment.column("length")[numbers].astype(float)
    elif name == DAY:
        dates = segment.column("date")[segment.column("document")[numbers]]
        values = np.where(dates == NO_DATE, np.nan, dates / MILLISECONDS_PER_DAY)
    elif name == "position":
        values = (numbers - segment.column("first")[segment.column("document")[numbers]]).astype(float)
    else:
        values = importance[name][numbers]
    return values


def _sentence_counts(
    segment: Segment, term_numbers: Sequence[int | None], numbers: Numbers, with_surrounding: bool
) -> tuple[Array, Array | None]:
    size, wanted = segment.sentence_count, numbers
    if with_surrounding:
        wanted = np.concatenate([numbers, np.maximum(numbers - 1, 0), np.minimum(numbers + 1, size - 1)])
    counts = np.empty((len(term_numbers), len(wanted)))
    for row, number in enumerate(term_numbers):
        counts[row] = _count(segment.sentence_postings(number), wanted, size)
    if not with_surrounding:
        return counts, None
    inside, before, after = np.split(counts, 3, axis=1)
    has_previous = segment.has_previous[numbers]
    has_next = np.append(segment.has_previous, False)[numbers + 1]
    return inside, inside + has_previous * before + has_next * after


_MANY = 64
"""If at least one in this many is wanted, a column of all counts is faster than a search for each."""


def _count(postings: Postings, numbers: Numbers, size: int) -> Array:
    """The counts of a term in these of `size` sentences or documents, of shape (n,)."""
    if not len(postings.numbers):
        return np.zeros(len(numbers))
    if len(numbers) * _MANY > size:
        counts = np.zeros(size)
        counts[postings.numbers] = postings.counts
        return counts[numbers]
    # In the type of the postings: a search for numbers of another type would copy all postings.
    wanted = np.minimum(numbers, postings.numbers[-1]).astype(postings.numbers.dtype)
    places = np.searchsorted(postings.numbers, wanted)
    return np.where(postings.numbers[places] == numbers, postings.counts[places], 0.0)
