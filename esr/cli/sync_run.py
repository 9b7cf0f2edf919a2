"""One run of `esr sync`: finds what is new, delivers it, and records what was read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from msgspec.structs import asdict, replace

from esr.cli.document_pipeline import DocumentPipeline
from esr.cli.load import load_documents
from esr.cli.source import Callbacks
from esr.cli.sync_config import SyncConfig, SyncedSource
from esr.documents import Located
from esr.engines.delivery import DeliveryReport
from esr.engines.factory import LoadOptions, is_elasticsearch, open_delivery, open_generations
from esr.engines.generations import SERVING
from esr.engines.redact import redact
from esr.errors import EsrError, IndexMissing, UsageError
from esr.loaders import FoundFile, Skipped, UnknownFiles
from esr.loaders.delivered_files import DeliveredFiles
from esr.loaders.paths import display_name

T = TypeVar("T")


@dataclass(frozen=True)
class SyncReport:
    """What a run did: the delivery, the files that were found and read, the generation that serves.

    `unknown_files` are those of all runs that are still there, by ending.
    """

    where: str
    delivery: DeliveryReport
    found: int
    read: int
    unknown_files: Mapping[str, int]
    generation: str
    is_dry_run: bool
    time: str

    def lines(self) -> Iterator[str]:
        delivery = self.delivery
        names = ("added", "changed", "removed", "unchanged")
        counts = ", ".join(f"{getattr(delivery, n):,} {n}" for n in names if getattr(delivery, n))
        served = f"serves {self.generation}" if self.generation else "no index yet"
        yield (
            f"{self.time} {self.where}: {counts or 'nothing new'}; "
            f"{self.read:,} of {self.found:,} files read; "
            f"{'dry run, nothing was written' if self.is_dry_run else served}; {delivery.seconds:.1f} s"
        )
        yield from delivery.notes

    def as_dict(self) -> dict[str, Any]:
        known = {name: value for name, value in vars(self).items() if name != "delivery"}
        return {**known, **asdict(self.delivery)}


class SyncRun:
    """One run: finds the new files, reads them from the oldest to the newest, and delivers."""

    def __init__(self, where: str, config: SyncConfig, record: DeliveredFiles, *, is_dry_run: bool) -> None:
        """Raises UsageError if the record is that of another index."""
        self._where = where
        self._config = config
        self._record = record
        self._is_dry_run = is_dry_run
        self._found = self._unknown = 0
        self._new_files: list[tuple[SyncedSource, FoundFile]] = []
        known_as = redact(where) if is_elasticsearch(where) else os.path.abspath(where)
        other = record.fact("where")
        if other not in (None, known_as):
            raise UsageError(
                f"{config.state} records what was delivered to {other}, not to {known_as}: "
                "use another CONFIG, or another state in it"
            )
        record.remember("where", known_as)
        self.pipeline = DocumentPipeline(
            [source.source for source in config.sources],
            read=self._read,
            on_refused=record.reopen,
            is_dry_run=is_dry_run,
            **config.delivery,
        )

    def deliver(self, *, reread: bool) -> SyncReport:
        """Deliver what is new, and record it. Raises EsrError if nothing was delivered."""
        started = datetime.now(UTC)
        self._find_new_files(reread or self._must_read_again())
        delivery = self._deliver() if self._new_files or any(self._find_gone()) else DeliveryReport()
        self._record.forget_missing()
        generation = _serving_generation(self._where)
        self._record.remember("generation", generation)
        delivery.seconds = (datetime.now(UTC) - started).total_seconds()
        return SyncReport(
            redact(self._where),
            delivery,
            self._found,
            len(self._new_files) - self._unknown,
            self._record.unknown_files(),
            generation,
            self._is_dry_run,
            started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        )

    def _must_read_again(self) -> bool:
        """Whether something else has changed the index since the last run.

        Raises EsrError after a rollback.
        """
        last = self._record.fact("generation")
        serving = _serving_generation(self._where)
        if not last or not serving or serving == last:
            return not serving
        with closing(open_generations(self._where)) as index:
            is_rejected = any(g.name == last and g.is_rejected for g in index.all())
        if serving < last or is_rejected:
            raise EsrError(
                f"{redact(self._where)} was rolled back from generation {last}, which the last run left, to "
                f"{serving}: correct the sources, then run esr sync --reread, which reads all files again"
            )
        return True

    def _find_new_files(self, read_again: bool) -> None:
        """Raises InputError, and EsrError if a source that removes what is gone has lost all its files."""
        new_files: list[tuple[int, int, SyncedSource, FoundFile]] = []
        for source in self._config.sources:
            self._record.begin_source(source.name, source.options, read_again=read_again)
            for file in source.source.find_files():
                self._found += 1
                modified_ns = self._record.find_change(source.name, file.path)
                if modified_ns is not None:
                    new_files.append((modified_ns, len(new_files), source, file))
            if source.is_removing and not self._record.has_files(source.name):
                raise EsrError(
                    f"source {source.name} has no file any more, and all its documents would be removed: "
                    'is its disk there? If they are to go, use esr remove; gone = "keep" keeps them'
                )
        self._new_files = [(source, file) for _, _, source, file in sorted(new_files, key=lambda f: f[:2])]

    def _read(self, callbacks: Callbacks) -> Iterator[Located]:
        """The documents of the new files; the record gets their ids."""

        def keep_open(report: Callable[[T], None]) -> Callable[[T], None]:
            def keep_open_and_report(result: T) -> None:
                self._record.keep_open()
                report(result)

            return keep_open_and_report

        def on_skipped(skipped: Skipped) -> None:
            (callbacks.on_skipped if skipped.is_lasting else keep_open(callbacks.on_skipped))(skipped)

        def on_unknown_files(files: UnknownFiles) -> None:
            self._unknown += files.where == display_name(file.path)
            self._record.add_unknown_files(files.ending, files.number)
            callbacks.on_unknown_files(files)

        passed_on = callbacks._replace(
            on_malformed=callbacks.on_malformed and keep_open(callbacks.on_malformed),
            on_skipped=on_skipped,
            on_unknown_files=on_unknown_files,
        )
        for source, file in self._new_files:
            self._record.begin_file(source.name, file.path)
            for located in source.source.read_file(file, passed_on):
                self._record.add(located.document.id)
                yield located

    def _find_gone(self) -> Iterator[str]:
        for source in self._config.sources:
            if source.is_removing:
                yield from self._record.find_gone(source.name)

    def _deliver(self) -> DeliveryReport:
        options = LoadOptions(**self._config.index)
        try:
            delivery = open_delivery(self._where, options)
        except IndexMissing:
            return self._count() if self._is_dry_run else self._load(options)
        step = delivery.compare if self._is_dry_run else delivery.append
        with self.pipeline.open() as documents:
            report = step(documents, self._find_gone)
        report.notes += self.pipeline.notes()
        return report

    def _count(self) -> DeliveryReport:
        """What a dry run finds where there is no index yet."""
        with self.pipeline.open() as documents:
            report = DeliveryReport(added=sum(1 for _ in documents))
        report.notes += self.pipeline.notes()
        return report

    def _load(self, options: LoadOptions) -> DeliveryReport:
        set_aside = self.pipeline.reject if self.pipeline.tolerates_malformed else None
        report = load_documents(self.pipeline, self._where, replace(options, set_aside=set_aside))
        return DeliveryReport(added=report.documents, notes=report.notes)


def _serving_generation(where: str) -> str:
    """The name of the serving generation, "" if there is no index."""
    try:
        with closing(open_generations(where)) as index:
            return next((g.name for g in index.all() if g.state == SERVING), "")
    except IndexMissing:
        return ""
