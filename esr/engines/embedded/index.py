"""The embedded engine: an index in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from esr import analysis
from esr.documents import Document
from esr.engines.embedded import features, gather, manifest
from esr.engines.embedded.segment import SegmentBroken
from esr.engines.embedded.snapshot import IMPORTANCE, Snapshot
from esr.engines.embedded.top import best
from esr.engines.index import COLUMNS, Candidates, Filters, Histogram, Hit, Pool, SentenceRecord
from esr.errors import UsageError
from esr.plans.evaluate import scores
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
        self._pinned = False
        self._use(self._open())
        self._committed = self._commit_mark()

    def now(self) -> EmbeddedIndex:
        self._now()
        pinned = copy(self)
        pinned._pinned = True
        return pinned

    def statistics(self, terms: Sequence[str]) -> Statistics:
        snapshot = self._now()
        return Statistics(snapshot.collection, {term: snapshot.term(term) for term in terms})

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> Candidates:
        snapshot = self._now()
        columns = [static.column for static in plan.statics]
        found_at, found_scores, owners = [], [], []
        for owner, segment in enumerate(snapshot.segments):
            at = gather.candidates(plan, segment, filters)
            importance = snapshot.importance[owner] if set(columns) & set(IMPORTANCE) else {}
            terms = [term.term for term in plan.terms]
            facts = gather.evidence(terms, plan.transform.fields(), columns, segment, importance, at)
            values = scores(plan, facts)
            valued = np.flatnonzero(np.isfinite(values))
            found_at.append(at[valued])
            found_scores.append(values[valued])
            owners.append(np.full(len(valued), owner))
        if not found_at:
            return Candidates([], 0)
        at, values, owner_of = np.concatenate(found_at), np.concatenate(found_scores), np.concatenate(owners)
        chosen = best(values, k)
        places = [_Place(int(owner_of[i]), int(at[i])) for i in chosen]
        shown: Iterator[SentenceRecord | None] = iter([None] * len(places))
        if records:
            shown = _records(snapshot, places)
        hits = [
            Hit(record.sentence_id if record else _id(snapshot, place), float(values[i]), record)
            for i, place, record in zip(chosen, places, shown, strict=True)
        ]
        return Candidates(hits, len(values))

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        snapshot = self._now()
        return list(_records(snapshot, [self._place(snapshot, i) for i in ids]))

    def evidence(self, terms: Sequence[str], ids: Sequence[str], columns: Iterable[str] = ()) -> Evidence:
        snapshot = self._now()
        wanted = {*COLUMNS, *columns}
        places = [self._place(snapshot, sentence_id) for sentence_id in ids]
        order: list[int] = []
        rows = []
        for owner in sorted({place.segment for place in places}):
            here = [n for n, place in enumerate(places) if place.segment == owner]
            order += here
            at = np.array([places[n].number for n in here])
            segment, importance = snapshot.segments[owner], snapshot.importance[owner]
            rows.append(gather.evidence(terms, FIELDS, wanted, segment, importance, at))
        return joined(rows).at(np.argsort(order))

    def pool(self, plan: Plan, filters: Filters) -> Pool:
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

        return Pool(joined(rows), name, place)

    def features(self) -> Sequence[str]:
        return sorted({name for segment in self._now().segments for name in features.names(segment)})

    def histogram(self, column: str) -> Histogram:
        snapshot = self._now()
        computed = column in IMPORTANCE
        columns = [
            snapshot.importance[owner][column] if computed else features.column(segment, column)
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
        size = sum(f.stat().st_size for s in snapshot.segments for f in s.folder.iterdir())
        return {
            "engine": "embedded",
            "where": self.where,
            "documents": snapshot.collection.documents,
            "sentences": snapshot.collection.sentences,
            "occurrences": snapshot.collection.occurrences,
            "size_bytes": size,
            "segments": len(snapshot.segments),
            "generation": snapshot.manifest.generation,
            **self.description.as_dict(),
        }

    def close(self) -> None:
        """Nothing to let go of: mapped files close with the last use of them."""

    def _open(self) -> Snapshot:
        while True:
            read = manifest.read(self._folder)
            try:
                return Snapshot(self._folder, read)
            except SegmentBroken:
                # Perhaps a loader replaced the commit and swept the old one between the two steps.
                if manifest.read(self._folder) == read:
                    raise

    def _use(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.description = snapshot.manifest.description
        self.analyzer = analysis.get(self.description.analyzer)

    def _commit_mark(self) -> tuple[int, int]:
        found = (self._folder / manifest.NAME).stat()
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
            self._use(self._open())
            self._committed = mark
        return self._snapshot

    def _place(self, snapshot: Snapshot, sentence_id: str) -> _Place:
        for owner, segment in enumerate(snapshot.segments):
            number = segment.find_sentence(sentence_id)
            if number is not None:
                return _Place(owner, number)
        raise UsageError(f"there is no sentence {sentence_id!r} in {self.where}")


def _id(snapshot: Snapshot, place: _Place) -> str:
    return snapshot.segments[place.segment].sentence_id(place.number)


def _records(snapshot: Snapshot, places: Sequence[_Place]) -> Iterator[SentenceRecord]:
    """Sentences as they are shown. A document that several stand in is unpacked once."""
    opened: dict[tuple[int, int], Document] = {}
    for place in places:
        segment = snapshot.segments[place.segment]
        number = int(segment.column("document")[place.number])
        key = place.segment, number
        if key not in opened:
            opened[key] = segment.document(number)
        yield _record(opened[key], place.number - int(segment.column("first")[number]))


def _record(document: Document, position: int) -> SentenceRecord:
    around = document.sentences
    return SentenceRecord(
        sentence_id=around[position].id,
        document_id=document.id,
        position=position,
        text=around[position].text,
        previous=around[position - 1].text if position else None,
        next=around[position + 1].text if position + 1 < len(around) else None,
        title=document.title,
        date=document.date,
        source=document.source,
        url=document.url,
        language=document.language,
    )
