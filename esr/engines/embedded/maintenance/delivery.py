"""Deliveries to an index folder: segments that lose documents are written again, the others are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from esr.documents import Located
from esr.engines.delivery import DeliveryReport
from esr.engines.embedded.maintenance.rewrite import Dropped, rewritten
from esr.engines.generations import KEEP, stamp
from esr.engines.segments.store import manifest
from esr.engines.segments.store.disk import disk_errors
from esr.engines.segments.store.layer import Run
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.writer.folder_writer import begun
from esr.engines.segments.writer.id_registry import Taken
from esr.engines.segments.writer.prefetch import coming
from esr.engines.segments.writer.segment_writer import SegmentWriter
from esr.errors import EsrError, IndexMissing, InputError

Found = tuple[list[Segment], list[Run], Dropped]
"""New segments and their layers, and which documents the old ones lose."""


class EmbeddedDelivery:
    """A delivery makes a generation: the segments that stay, those written again, and new ones."""

    def __init__(self, where: str | Path, keep: int = KEEP) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._folder = Path(where)
        self._keep = keep
        if not manifest.read(self._folder).segments:
            raise IndexMissing(f"there is no index at {self._folder}: make one with esr load")

    def append(self, documents: Iterable[Located]) -> DeliveryReport:
        def write(before: Manifest, old: list[Segment], report: DeliveryReport) -> Found:
            taken = Taken()
            writer = SegmentWriter(self._folder, before.description, lambda segment, layer: taken.closed())
            dropped: Dropped = {}

            def changed() -> Iterator[Located]:
                for located in documents:
                    place = _place(old, located.document.id)
                    if place is not None and place[0].document(place[1]) == located.document:
                        report.unchanged += 1
                    else:
                        yield located

            with closing(coming(changed(), before.description)) as ready:
                for each in ready:
                    taken.add(each, writer.segments)
                    writer.add(each)
                    place = _place(old, each.document.id)
                    if place is None:
                        report.added += 1
                    else:
                        report.changed += 1
                        dropped.setdefault(place[0].folder.name, set()).add(place[1])
            writer.flush()
            _check_ids(writer.segments, old, dropped)
            return writer.segments, writer.layers, dropped

        return self._changed("append", write)

    def remove(self, ids: Iterable[str]) -> DeliveryReport:
        def write(before: Manifest, old: list[Segment], report: DeliveryReport) -> Found:
            dropped: Dropped = {}
            for id in dict.fromkeys(ids):
                place = _place(old, id)
                if place is None:
                    report.missing.append(id)
                else:
                    report.removed += 1
                    dropped.setdefault(place[0].folder.name, set()).add(place[1])
            return [], [], dropped

        return self._changed("remove", write)

    def _changed(
        self, verb: str, write: Callable[[Manifest, list[Segment], DeliveryReport], Found]
    ) -> DeliveryReport:
        """Commit what `write` has written and dropped."""
        started = time.perf_counter()
        report = DeliveryReport()
        with disk_errors(self._folder, verb), manifest.lock(self._folder), self._swept():
            before = begun(self._folder, manifest.read(self._folder).description)
            old = [Segment(self._folder / SEGMENTS / name) for name in before.segments]
            fresh, layers, dropped = write(before, old, report)
            if report.any:
                after = rewritten(self._folder, before, fresh, layers, dropped, stamp(), self._keep)
                self._verify(old, after, report, sum(len(segment.documents) for segment in fresh))
                manifest.commit(self._folder, after)
                if before.made in {each.made for each in after.kept}:
                    report.notes.append(f"generation {before.made} is kept: esr rollback goes back to it")
        report.seconds = time.perf_counter() - started
        return report

    @contextmanager
    def _swept(self) -> Iterator[None]:
        try:
            yield
        finally:
            manifest.sweep(self._folder)

    def _verify(self, old: list[Segment], after: Manifest, report: DeliveryReport, came: int) -> None:
        """Count documents. Their checksums were compared when each segment was written."""
        were = sum(len(segment.documents) for segment in old)
        wanted = were - report.removed - report.changed + came
        counts = [len(Segment(self._folder / SEGMENTS / name).documents) for name in after.segments]
        if sum(counts) != wanted:
            raise EsrError(
                f"{self._folder} would have {sum(counts)} documents of {wanted}: nothing was changed"
            )


def _place(segments: Iterable[Segment], document_id: str) -> tuple[Segment, int] | None:
    for segment in segments:
        number = segment.documents.find(document_id)
        if number is not None:
            return segment, number
    return None


def _check_ids(fresh: list[Segment], old: list[Segment], dropped: Dropped) -> None:
    """Raises InputError where a new sentence has the id of one that stays."""
    if not any(segment.has_given_ids for segment in (*fresh, *old)):
        return  # default ids are those of their document
    for segment in fresh:
        for number in range(segment.sentence_count):
            id = segment.sentence_id(number)
            for other in old:
                taken = other.find_sentence(id)
                if taken is None:
                    continue
                owner = int(other.column("document")[taken])
                if owner not in dropped.get(other.folder.name, ()):
                    document = segment.documents[int(segment.column("document")[number])]
                    raise InputError(
                        f"document {document!r}",
                        f"sentence id {id!r} is taken by document {other.documents[owner]!r}: "
                        "give every sentence its own id",
                    )
