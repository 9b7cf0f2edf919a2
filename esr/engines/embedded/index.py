"""The embedded engine: an index in a folder."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr import analysis
from esr.documents import Document
from esr.engines.embedded.maintenance.enrichment import EmbeddedEnrichment, enrichment, summary
from esr.engines.embedded.search import facets, gather
from esr.engines.embedded.search.exhaustive import exhaustive
from esr.engines.embedded.search.found import Found
from esr.engines.embedded.search.kernel_loader import LOADER
from esr.engines.embedded.search.pruned import pruned
from esr.engines.entities import Grouped
from esr.engines.index import (
    COLUMNS,
    CandidateEvidence,
    Facet,
    Filters,
    Histogram,
    Hit,
    SearchResult,
    SentenceRecord,
)
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.engines.segments.store.document_codec import Stored
from esr.engines.segments.store.segment import SegmentBroken
from esr.errors import IndexMissing, UsageError
from esr.plans.evidence import Evidence, joined
from esr.plans.plan import FIELDS, Plan
from esr.plans.statistics import Statistics


class _Place(NamedTuple):
    """A sentence's segment and its number there."""

    segment: int
    number: int


class EmbeddedIndex:
    """An index in a folder. Sees each commit of a loader from its next search on."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._folder = Path(where)
        self._manifest = str(self._folder / manifest.NAME)
        self._pinned = False
        self._use(self._open())
        self._committed = self._commit_mark()

    def snapshot(self) -> EmbeddedIndex:
        self._now()
        pinned = EmbeddedIndex.__new__(EmbeddedIndex)  # half the time of copy.copy
        vars(pinned).update(vars(self))
        pinned._pinned = True
        return pinned

    def statistics(self, terms: Sequence[str]) -> Statistics:
        snapshot = self._now()
        return Statistics(snapshot.collection, {term: snapshot.find(term).statistics for term in terms})

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        snapshot = self._now()
        found = pruned(plan, snapshot, k, filters)
        why = None
        if isinstance(found, str):
            best, why = exhaustive(plan, snapshot, k, filters), found
        else:
            best = found
        hits: Sequence[Hit] = Found(best, partial(_ids, snapshot))
        if records:
            scores, ordinals = best.scores.tolist(), best.numbers.tolist()
            shown = list(_records(snapshot, _places(snapshot, ordinals)))
            names = [record.sentence_id for record in shown]
            hits = list(map(Hit, names, scores, shown, ordinals))
        return SearchResult(hits, best.total, None, best.scored, why)

    def request(self, plan: Plan, k: int, filters: Filters, *, standalone: bool = False) -> dict[str, Any]:
        raise UsageError(
            "an index folder takes no requests: only http(s)://host:port/alias of Elasticsearch does"
        )

    def ready(self) -> None:
        try:
            self._commit_mark()
        except OSError as error:
            raise IndexMissing(f"there is no index at {self.where}: make one with esr load") from error
        self._now()

    def warm(self) -> None:
        # Searches go by numpy until it is done.
        threading.Thread(target=LOADER.load, name="esr-kernel", daemon=True).start()

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        snapshot = self._now()
        return list(_records(snapshot, [self._place(snapshot, i) for i in ids]))

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        snapshot = self._now()
        wanted = {*COLUMNS, *columns}
        rows, order = [], []
        for owner, places, at in _by_segment(self._all_places(snapshot, ids, ordinals)):
            segment, importance = snapshot.segments[owner], snapshot.importance[owner]
            rows.append(gather.evidence(terms, FIELDS, wanted, segment, importance, at))
            order += places
        return joined(rows).at(np.argsort(order))

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        snapshot = self._now()
        found: list[bytes | None] = [None] * len(ids)
        for owner, mine, at in _by_segment(self._all_places(snapshot, ids, ordinals)):
            for place, blob in zip(mine, snapshot.segments[owner].enriched.parses(at), strict=True):
                found[place] = blob
        return found

    def facets(self, plan: Plan, asked: Mapping[str, Filters], size: int) -> dict[str, Facet]:
        return facets.facets(self._now().segments, plan, asked, size)

    def enrichment(self) -> AbstractContextManager[EmbeddedEnrichment]:
        return enrichment(self._folder)

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        snapshot = self._now()
        terms = [term.term for term in plan.terms]
        wanted = {*COLUMNS, *(static.column for static in plan.statics)}
        found, rows = [], []
        for segment, importance in zip(snapshot.segments, snapshot.importance, strict=True):
            at = gather.candidates(plan, segment, filters)
            found.append(at)
            rows.append(gather.evidence(terms, FIELDS, wanted, segment, importance, at))
        starts = np.cumsum([0, *(len(at) for at in found)])

        def name(place: int) -> str:
            owner = int(np.searchsorted(starts, place, "right")) - 1
            return _id(snapshot, _Place(owner, int(found[owner][place - starts[owner]])))

        def place(sentence_id: str) -> int | None:
            for owner, segment in enumerate(snapshot.segments):
                number = segment.find_sentence(sentence_id)
                if number is not None:
                    at = int(np.searchsorted(found[owner], number))
                    there = at < len(found[owner]) and found[owner][at] == number
                    return int(starts[owner]) + at if there else None
            return None

        return CandidateEvidence(joined(rows), name, place)

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        segments = self._now().segments
        return sorted({t for segment in segments for t in segment.terms.beginning(prefix, limit)})[:limit]

    def features(self) -> Sequence[str]:
        return self._now().features

    def histogram(self, column: str) -> Histogram:
        snapshot = self._now()
        columns = [
            gather.column(column, segment, snapshot.importance[owner], np.arange(segment.sentence_count))
            for owner, segment in enumerate(snapshot.segments)
        ]
        every = np.concatenate([np.zeros(0), *columns])
        return Histogram(*np.unique_counts(every[~np.isnan(every)]))

    def document(self, document_id: str) -> Document:
        for segment in self._now().segments:
            number = segment.documents.find(document_id)
            if number is not None:
                return segment.document(number)
        raise UsageError(f"there is no document {document_id!r} in {self.where}")

    def documents(self) -> Iterator[Document]:
        for segment in self._now().segments:
            yield from (segment.document(number) for number in range(len(segment.documents)))

    def documents_at(self, places: Sequence[int]) -> list[Document]:
        segments = self._now().segments
        ends = np.cumsum([len(segment.documents) for segment in segments])
        owners = np.searchsorted(ends, places, "right")
        return [
            segments[owner].document(int(place - (ends[owner - 1] if owner else 0)))
            for place, owner in zip(places, owners.tolist(), strict=True)
        ]

    def status(self) -> Mapping[str, Any]:
        snapshot = self._now()
        files = [file for segment in snapshot.segments for file in segment.folder.iterdir()]
        size = sum(layer.size_bytes for layer in snapshot.layers.values())
        return {
            "engine": "embedded",
            "where": self.where,
            "documents": snapshot.collection.documents,
            "sentences": snapshot.collection.sentences,
            "occurrences": snapshot.collection.occurrences,
            "size_bytes": size + sum(file.stat().st_size for file in files),
            "segments": len(snapshot.segments),
            "generation": snapshot.manifest.generation,
            "enrichment": summary(snapshot),
            **self.description.as_dict(),
        }

    def close(self) -> None:
        """Nothing to let go of: mapped files close with the last use of them."""

    def _open(self, before: Snapshot | None = None) -> Snapshot:
        while True:
            read = manifest.read(self._folder)
            try:
                return Snapshot(self._folder, read, before)
            except SegmentBroken:
                # Perhaps a loader replaced the commit and swept the old one between the two steps.
                if manifest.read(self._folder) == read:
                    raise

    def _use(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.description = snapshot.manifest.description
        self.analyzer = analysis.get(self.description.analyzer)

    def _commit_mark(self) -> tuple[int, int]:
        found = os.stat(self._manifest)
        return found.st_ino, found.st_mtime_ns

    def _now(self) -> Snapshot:
        """The last commit, opened anew only when there is a new one."""
        if self._pinned:
            return self._snapshot
        try:
            mark = self._commit_mark()
        except FileNotFoundError:
            return self._snapshot  # removed under a running search: what is mapped still answers
        if mark != self._committed:
            self._use(self._open(self._snapshot))
            self._committed = mark
        return self._snapshot

    def _all_places(
        self, snapshot: Snapshot, ids: Sequence[str], ordinals: Sequence[int] | None
    ) -> list[_Place]:
        """The sentences of these ids, by their orders if these are known, which is much faster."""
        return [self._place(snapshot, i) for i in ids] if ordinals is None else _places(snapshot, ordinals)

    def _place(self, snapshot: Snapshot, sentence_id: str) -> _Place:
        for owner, segment in enumerate(snapshot.segments):
            number = segment.find_sentence(sentence_id)
            if number is not None:
                return _Place(owner, number)
        raise UsageError(f"there is no sentence {sentence_id!r} in {self.where}")


def _by_segment(places: Sequence[_Place]) -> Iterator[tuple[int, list[int], npt.NDArray[np.int64]]]:
    """By segment: its number, where its sentences stand in `places`, and their numbers."""
    for owner in dict.fromkeys(place.segment for place in places):
        mine = [n for n, place in enumerate(places) if place.segment == owner]
        yield owner, mine, np.array([places[n].number for n in mine])


def _places(snapshot: Snapshot, ordinals: Sequence[int] | npt.NDArray[np.int64]) -> list[_Place]:
    """Sentences by their place in the collection."""
    owners = np.searchsorted(snapshot.starts, ordinals, "right") - 1
    numbers = np.asarray(ordinals) - np.array(snapshot.starts)[owners]
    return [_Place(owner, number) for owner, number in zip(owners.tolist(), numbers.tolist(), strict=True)]


def _id(snapshot: Snapshot, place: _Place) -> str:
    return snapshot.segments[place.segment].sentence_id(place.number)


def _ids(snapshot: Snapshot, ordinals: npt.NDArray[np.int64]) -> list[str]:
    """The ids of sentences by their place in the collection."""
    owners = np.searchsorted(snapshot.starts, ordinals, "right") - 1
    found = [""] * len(ordinals)
    for owner, segment in enumerate(snapshot.segments):
        mine = np.flatnonzero(owners == owner)
        ids = segment.sentence_ids(ordinals[mine] - snapshot.starts[owner])
        for n, name in zip(mine.tolist(), ids, strict=True):
            found[n] = name
    return found


def _records(snapshot: Snapshot, places: Sequence[_Place]) -> Iterator[SentenceRecord]:
    """Sentences as they are shown. A document that several stand in is unpacked once."""
    features = _features(snapshot, places)
    opened: dict[tuple[int, int], Stored] = {}
    for place, known in zip(places, features, strict=True):
        segment = snapshot.segments[place.segment]
        number = int(segment.column("document")[place.number])
        key = place.segment, number
        if key not in opened:
            opened[key] = segment.stored(number)
        position = place.number - int(segment.column("first")[number])
        yield _record(opened[key], position, known, segment.enriched.entities(place.number))


def _features(snapshot: Snapshot, places: Sequence[_Place]) -> list[dict[str, float]]:
    """The features that are known of these sentences."""
    found: list[dict[str, float]] = [{} for _ in places]
    for owner in {place.segment for place in places}:
        mine = [n for n, place in enumerate(places) if place.segment == owner]
        at = np.array([places[n].number for n in mine])
        enriched = snapshot.segments[owner].enriched
        for name in enriched.features:
            values = enriched.feature(name, at)
            for n in np.flatnonzero(~np.isnan(values)).tolist():
                found[mine[n]][name] = float(values[n])
    return found


def _record(
    document: Stored, position: int, features: dict[str, float], entities: Grouped | None
) -> SentenceRecord:
    return SentenceRecord(
        sentence_id=document.sentence_id(position),
        document_id=document.id,
        position=position,
        text=document.text(position),
        previous=document.text(position - 1) if position else None,
        next=document.text(position + 1) if position + 1 < len(document) else None,
        **document.metadata,
        features=features,
        entities=entities,
    )
