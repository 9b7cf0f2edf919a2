"""`esr sync`: deliver the new documents of the sources in a configuration file, for runs by a timer.

The file is TOML, and its keys are options of the command line. A run finds new and changed files, delivers
their documents in one step, and records what was read. A failed run changes neither the index nor the record,
so the next run repeats its work.
"""

from __future__ import annotations

import dataclasses
import glob
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import click
from msgspec.structs import asdict, replace

import esr
from esr.arguments.tables.commands import COMMANDS
from esr.cli.arguments import add_arguments, add_options
from esr.cli.load import load_documents
from esr.cli.loading_options import (
    DELIVERY_OPTIONS,
    NEW_INDEX_OPTIONS,
    SOURCE_OPTIONS,
    impacts,
    keep,
    merge,
    profile,
    workers,
)
from esr.cli.options import as_json, index_or_first
from esr.cli.run_metrics import count_changes, measure_run
from esr.errors import EsrError, IndexMissing, UsageError, unknown
from esr.index.factory import is_elasticsearch, open_delivery, open_generations
from esr.index.generations import SERVING
from esr.index.login_variables import redact
from esr.index.withdrawn import NONE_WITHDRAWN
from esr.index.writer import DeliveryReport, LoadOptions
from esr.library.loading import deliver_pipeline
from esr.loaders import FoundFile, Skipped, UnknownFiles
from esr.loaders.delivered_files import DeliveredFiles, open_delivered_files
from esr.loaders.fetching import SYNC_SOURCES, Fetcher, FetchReport
from esr.loaders.files import display_name
from esr.loaders.pipeline import Callbacks, DocumentPipeline, Source, describe_unknown_files
from esr.processes import exit_on_sigterm, scratch_folder
from esr.ranking.ranking import read_toml
from esr.stdlib import hash64
from esr.text.document import Located
from esr.wording import count

GONE = {
    "keep": "what a source no longer has stays in the index",
    "remove": "documents that no file of any source has any more are removed",
}
_OWN_KEYS = ("state", "source")
_INDEX_OPTIONS = (*NEW_INDEX_OPTIONS, keep, impacts, merge, profile, workers)
_DEFAULTS = {"same-id": "last"}
"""Feeds repeat and correct earlier documents, so the last version wins."""
_MAX_SHOWN = 20


@dataclass(frozen=True)
class SyncedSource:
    """A named source. `is_removing`: whether documents that it no longer has are removed.

    `options` is a text of its options: if it changes, the next run reads all files of the source again.
    `fetcher` fetches the files of a source of this `kind`.
    """

    name: str
    source: Source
    is_removing: bool
    options: str
    kind: str = ""
    fetcher: Fetcher | None = None


@dataclass(frozen=True)
class SyncConfig:
    """The configuration. `delivery` has the values of DELIVERY_OPTIONS, `index` those of _INDEX_OPTIONS."""

    sources: Sequence[SyncedSource]
    state: Path
    delivery: Mapping[str, Any]
    index: Mapping[str, Any]


def read_config(path: Path) -> SyncConfig:
    """Read a configuration file.

    Raises InputError for a file that cannot be read, and UsageError with the name of an invalid entry.
    """
    return _Reader(path).read(read_toml(path))


class _Reader:
    """Reads one configuration file; relative paths start at its folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.resolve().parent
        self._state = ""

    def read(self, table: Mapping[str, Any]) -> SyncConfig:
        general = {key: value for key, value in table.items() if key not in _OWN_KEYS}
        options = (*SOURCE_OPTIONS, *_options_of_kinds(), *DELIVERY_OPTIONS, *_INDEX_OPTIONS)
        self._parse(general, options, str(self._path), _OWN_KEYS)
        state = table.get("state", f"{self._path.name}.state")
        if not isinstance(state, str):
            raise UsageError(f'{self._path}: state must be the name of a file, such as "news.state"')
        self._state = self._resolve(state)
        sources = list(self._sources(table.get("source"), general))
        names = [source.name for source in sources]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"{self._path}: two sources have the name {name!r}: give each its own")
        of_delivery = {**_DEFAULTS, **_select(general, DELIVERY_OPTIONS)}
        return SyncConfig(
            sources,
            Path(self._state),
            self._parse(of_delivery, DELIVERY_OPTIONS, str(self._path)),
            self._parse(_select(general, _INDEX_OPTIONS), _INDEX_OPTIONS, str(self._path)),
        )

    def _sources(self, tables: Any, general: Mapping[str, Any]) -> Iterator[SyncedSource]:
        if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
            raise UsageError(f'{self._path}: there is no source: add [[source]] with paths = ["FOLDER"]')
        for number, table in enumerate(tables, 1):
            yield self._source(table, general, f"{self._path}: source {table.get('name', number)}")

    def _source(self, table: Mapping[str, Any], general: Mapping[str, Any], where: str) -> SyncedSource:
        own_keys = ("name", "paths", "gone", *SYNC_SOURCES)
        of_its_kind = {key: value for key, value in table.items() if key not in own_keys}
        keys = [key for key in ("paths", *SYNC_SOURCES) if key in table] or ["paths"]
        if len(keys) > 1:
            raise UsageError(f"{where}: a source has {' or '.join(keys)}: make two of it")
        kind = SYNC_SOURCES.get(keys[0])
        paths = table.get(keys[0])
        if isinstance(paths, str):
            paths = [paths]
        if not isinstance(paths, list) or not paths or not all(isinstance(p, str) and p for p in paths):
            raise UsageError(
                f'{where}: {keys[0]} must be addresses: {keys[0]} = ["{kind.example}"]'
                if kind
                else f'{where}: paths must name files, folders or patterns: paths = ["feeds/*.xml"]'
            )
        name = table.get("name", ", ".join(paths))
        if not isinstance(name, str) or not name:
            raise UsageError(f"{where}: name must be a string")
        gone = table.get("gone", "keep")
        if gone not in GONE:
            raise UsageError(f"{where}: gone is one of {', '.join(GONE)}, not {gone!r}")
        defaults = _select(general, SOURCE_OPTIONS)
        if kind is None:
            options = self._parse(of_its_kind, SOURCE_OPTIONS, where, own_keys, defaults)
            return self._read_source(name, list(self._expand(paths, where)), options, where, gone)
        if "gone" in table and not kind.is_complete:
            raise UsageError(f"{where}: gone is of files: the {kind.items} of {keys[0]} stay")
        allowed = kind.source_options or _keys(SOURCE_OPTIONS)
        known = [*_keys(kind.options), *allowed]
        for key in of_its_kind:
            if key not in known:
                raise UsageError(f"{where}: {unknown('key', key, [*known, 'name', keys[0]])}")
        of_source, defaults = (
            {k: v for k, v in settings.items() if k in allowed} for settings in (of_its_kind, defaults)
        )
        options = {**self._parse(of_source, SOURCE_OPTIONS, where, (), defaults), **kind.fixed}
        of_kind = _select(of_its_kind, kind.options), _select(general, kind.options)
        values = options | self._parse(of_kind[0], kind.options, where, (), of_kind[1])
        folder = f"{re.sub(r'[^a-z0-9]+', '-', name.lower())[:40].strip('-')}-{hash64(name):016x}"
        try:
            fetcher = kind.open(paths, Path(f"{self._state}.feeds", folder), values)
        except UsageError as error:
            raise UsageError(f"{where}: {keys[0]}: {error}") from None
        source = self._read_source(name, [], options, where, gone)
        return dataclasses.replace(source, kind=keys[0], fetcher=fetcher)

    def _read_source(
        self, name: str, paths: list[str], options: Mapping[str, Any], where: str, gone: str
    ) -> SyncedSource:
        try:
            source = Source(paths, **options)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        digest = json.dumps([esr.__version__, options], sort_keys=True, default=str)
        return SyncedSource(name, source, gone == "remove", digest)

    def _expand(self, paths: Sequence[str], where: str) -> Iterator[str]:
        """The paths of files and folders. A pattern may match none; any other path must exist."""
        if "-" in paths:
            raise UsageError(f"{where}: standard input cannot be a source: save it to a file first")
        for path in paths:
            resolved = self._resolve(path)
            if os.path.exists(resolved):
                yield resolved
            elif glob.has_magic(path):
                # Only what the user wrote is a pattern: the folder of the file may have brackets in its name.
                pattern = os.path.join(glob.escape(str(self._folder)), os.path.expanduser(path))
                yield from sorted(glob.glob(pattern, recursive=True))
            else:
                raise UsageError(f"{where}: paths: there is no file or folder {resolved}")

    def _resolve(self, path: str) -> str:
        """Resolve a path relative to the configuration file's folder."""
        return os.path.join(self._folder, os.path.expanduser(path))

    def _parse(
        self,
        table: Mapping[str, Any],
        options: Sequence[Callable[[Any], Any]],
        where: str,
        other_keys: Sequence[str] = (),
        defaults: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """The values that the command line would give for these entries. Raises UsageError."""
        known = _keys(options)
        for key in table:
            if key not in known:
                raise UsageError(f"{where}: {unknown('key', key, [*known, *other_keys])}")
        arguments: list[str] = []
        for key, value in {**defaults, **table}.items():
            arguments += self._arguments(known[key], key, value, where)
        try:
            with _command(options).make_context("sync", arguments) as context:
                return context.params
        except click.UsageError as error:
            raise UsageError(f"{where}: {error.format_message()}") from None

    def _arguments(self, option: click.Option, key: str, value: Any, where: str) -> Iterator[str]:
        """The entry as arguments of the command line."""
        if option.is_flag:
            if not isinstance(value, bool):
                raise UsageError(f"{where}: {key} must be true or false, not {value!r}")
            names = option.opts if f"--{key}" in option.opts else option.secondary_opts
            others = option.secondary_opts if names is option.opts else option.opts
            yield from (names if value else others)[:1]
            return
        if option.multiple and isinstance(value, dict):
            value = [f"{name}={text}" for name, text in value.items()]
        values = value if option.multiple and isinstance(value, list) else [value]
        for item in values:
            if isinstance(item, bool) or not isinstance(item, str | int | float):
                raise UsageError(f"{where}: {key} must be {_describe_value(option)}, not {item!r}")
            text = self._resolve(str(item)) if isinstance(option.type, click.Path) else str(item)
            yield f"--{key}={text}"


def _options_of_kinds() -> Iterator[Callable[[Any], Any]]:
    """The options of all kinds of sources. One that several kinds have is given once."""
    known: set[str] = set()
    for kind in SYNC_SOURCES.values():
        for option in kind.options:
            names = _keys([option])
            if known.isdisjoint(names):
                yield option
            known.update(names)


def _select(table: Mapping[str, Any], options: Sequence[Callable[[Any], Any]]) -> dict[str, Any]:
    """The entries of these options."""
    keys = _keys(options)
    return {key: value for key, value in table.items() if key in keys}


def _describe_value(option: click.Option) -> str:
    return "a list of strings" if option.multiple else "a string or a number"


def _command(options: Sequence[Callable[[Any], Any]]) -> click.Command:
    command: click.Command = add_options(options, click.Command("sync"))
    return command


def _keys(options: Sequence[Callable[[Any], Any]]) -> dict[str, click.Option]:
    """The options by their keys in the file: their names without leading dashes."""
    return {
        name.removeprefix("--"): option
        for option in _command(options).params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }


# Runs


T = TypeVar("T")


@dataclass(frozen=True)
class SyncReport:
    """The outcome of a run: the delivery, numbers of files found and read, the serving generation.

    `unknown_files` has the numbers of files that no loader reads, by extension. It includes the files of
    earlier runs that still exist.
    """

    where: str
    delivery: DeliveryReport
    found: int
    read: int
    unknown_files: Mapping[str, int]
    generation: str
    is_dry_run: bool
    time: str
    fetched: Mapping[str, FetchReport]
    """Reports by kind of source, without kinds that have no places."""

    def lines(self) -> Iterator[str]:
        delivery = self.delivery
        served = f"serves {self.generation}" if self.generation else "no index yet"
        yield (
            f"{self.time} {self.where}: {delivery.counts or 'nothing new'}; "
            f"{self.read:,} of {count(self.found, 'file')} read; "
            f"{'dry run, nothing was written' if self.is_dry_run else served}; {delivery.seconds:.1f} s"
        )
        yield from delivery.notes
        for kind, fetched in self.fetched.items():
            yield from _describe_fetched(kind, fetched)

    def as_dict(self) -> dict[str, Any]:
        known = {name: value for name, value in vars(self).items() if name not in ("delivery", "fetched")}
        reports = {kind: vars(self.fetched.get(kind, FetchReport())) for kind in SYNC_SOURCES}
        fetched = {kind: {kind: report.pop("places"), **report} for kind, report in reports.items()}
        return {**known, **asdict(self.delivery), **fetched}


def _describe_fetched(kind: str, report: FetchReport) -> Iterator[str]:
    """The report's lines about what was fetched."""
    counts = {name: getattr(report, name) for name in ("new", "changed", "unchanged")}
    counts |= {"not fetched": len(report.problems), "left for the next run": report.left}
    items = SYNC_SOURCES[kind].items
    amounts = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    yield f"{report.places:,} {kind}, {len(report.failed):,} of them failed; {items}: {amounts or 'none new'}"
    yield from report.failed
    yield from report.problems[:_MAX_SHOWN]
    if (others := len(report.problems) - _MAX_SHOWN) > 0:
        yield f"and {others:,} other {items} that were not fetched"


class SyncRun:
    """One run: find the new files, read them from the oldest to the newest, and deliver their documents."""

    def __init__(self, where: str, config: SyncConfig, record: DeliveredFiles, *, is_dry_run: bool) -> None:
        """Raises UsageError if the record belongs to another index."""
        self._where = where
        self._config = config
        self._record = record
        self._is_dry_run = is_dry_run
        self._withdrawn = NONE_WITHDRAWN
        self._left_out = 0
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
        self.pipeline: DocumentPipeline = DocumentPipeline(
            [source.source for source in config.sources],
            read=self._read,
            on_refused=record.reopen,
            is_dry_run=is_dry_run,
            **config.delivery,
        )

    def deliver(self, *, reread: bool) -> SyncReport:
        """Deliver and record the new documents. Raises EsrError if nothing was delivered."""
        with scratch_folder("sync") as folder:
            return self._fetch_and_deliver(reread, folder)

    def _fetch_and_deliver(self, reread: bool, folder: Path) -> SyncReport:
        started = datetime.now(UTC)
        read_again = reread or self._must_read_again()
        fetched = self._fetch(folder)
        self._find_new_files(read_again)
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
            fetched,
        )

    def _fetch(self, folder: Path) -> dict[str, FetchReport]:
        """Fetch the remote sources. A dry run writes to `folder`."""
        reports: dict[str, FetchReport] = {}
        for number, source in enumerate(self._config.sources):
            if source.fetcher is None:
                continue
            source_folder = folder / str(number)
            fetched = source.fetcher.fetch(source_folder if self._is_dry_run else None)
            reports.setdefault(source.kind, FetchReport()).add(fetched)
            source.source.paths = [
                str(path) for path in (source.fetcher.folder, source_folder) if path.exists()
            ]
        return reports

    def _must_read_again(self) -> bool:
        """Whether the index was changed by something other than the last run, or does not exist.

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
        """Find new and changed files, sorted by their time of modification.

        Raises InputError, and EsrError if a removing source has lost all its files.
        """
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
        """Read the documents of the new files, and add their ids to the record."""

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
                if self._withdrawn.covers(located.document):
                    self._left_out += 1
                    continue
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
        self._withdrawn = delivery.withdrawn()
        step = delivery.compare if self._is_dry_run else delivery.append
        report = deliver_pipeline(
            self.pipeline,
            self._where,
            lambda documents: step(documents, self._find_gone),
            encodes=not self._is_dry_run,
        )
        if self._left_out:
            report.notes.append(f"{count(self._left_out, 'document')} left out: removed by esr remove")
        return report

    def _count(self) -> DeliveryReport:
        """Count the documents in a dry run without an index."""
        with self.pipeline.open() as documents:
            report = DeliveryReport(added=sum(1 for _ in documents))
        report.notes += self.pipeline.notes()
        return report

    def _load(self, options: LoadOptions) -> DeliveryReport:
        set_aside = self.pipeline.reject if self.pipeline.tolerates_malformed else None
        report = load_documents(self.pipeline, self._where, replace(options, set_aside=set_aside))
        return DeliveryReport(added=report.documents, notes=report.notes)


def _serving_generation(where: str) -> str:
    """The name of the serving generation, or "" without an index."""
    try:
        with closing(open_generations(where)) as index:
            return next((g.name for g in index.all() if g.state == SERVING), "")
    except IndexMissing:
        return ""


@click.command()
@index_or_first
@add_arguments(COMMANDS, "sync")
@as_json
def sync(where: str, config: Path, is_dry_run: bool, reread: bool, as_json: bool) -> None:
    """Bring an index up to date with the sources in CONFIG.

    New and changed files are delivered in one step. Feeds of the web, mailboxes and buckets are fetched
    first.

    The first run makes the index. A run that finds nothing new makes no generation. A run that was killed or
    failed has changed nothing: the next one does its work. One line says what was done.

    \b
    Exit status:
      0   done, or there was nothing to do
      1   it failed and changed nothing, or documents were set aside in the file of bad-documents, or there
          are files that no loader knows, or feeds, mailboxes or buckets that could not be read
      2   the command or CONFIG is wrong
      75  another run has not finished yet, nothing was done

    \b
    Example:
      esr sync news.toml --index my-index
      esr sync news.toml --index http://localhost:9200/news --dry-run
    """
    exit_on_sigterm()
    # A dry run is no run: it writes nothing.
    with measure_run("sync", None if is_dry_run else where) as metrics:
        settings = read_config(config)
        with open_delivered_files(settings.state, is_dry_run=is_dry_run) as record:
            run = SyncRun(where, settings, record, is_dry_run=is_dry_run)
            report = run.deliver(reread=reread)
            metrics.documents = count_changes(report.delivery)
            if not is_dry_run:
                record.commit()
        click.echo(json.dumps(report.as_dict()) if as_json else "\n".join(report.lines()))
        _raise_if_incomplete(run, report)


def _raise_if_incomplete(run: SyncRun, report: SyncReport) -> None:
    """Raise EsrError if there is something that a run could not read."""
    run.pipeline.raise_if_malformed()
    if report.unknown_files:
        raise EsrError(
            f"{describe_unknown_files(report.unknown_files)}; exclude them in the file that names the sources"
        )
    for kind, fetched in report.fetched.items():
        if fetched.failed:
            raise EsrError(
                f"{len(fetched.failed):,} of {fetched.places:,} {kind} could not be read; "
                f"the first: {fetched.failed[0]}"
            )
