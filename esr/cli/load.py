"""Commands that load and remove documents: `esr load`, `esr append` and `esr remove`.

The report of a load warns of documents in languages that the analyzer does not fit.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, to_builtins
from msgspec.structs import asdict

from esr.arguments.tables.commands import COMMANDS
from esr.cli import options
from esr.cli.arguments import add_arguments, collect_options
from esr.cli.dry_run import dry_run
from esr.cli.loading_options import keep, meaning, source_options, workers, writing_options
from esr.cli.options import as_json, optional_index, parse_slice, read_standard_input
from esr.cli.run_metrics import count_changes, measure_run
from esr.errors import UsageError
from esr.index.factory import open_delivery
from esr.index.generations import DEFAULT_KEEP
from esr.index.login_variables import redact
from esr.index.writer import (
    DeliveryReport,
    LoadOptions,
    LoadReport,
)
from esr.library import meaning as library_meaning
from esr.library.loading import choose_first_again, deliver_pipeline, load_pipeline
from esr.loaders.files import count_text_bytes
from esr.loaders.pipeline import (
    DocumentPipeline,
    SourceSummary,
    open_pipeline,
)
from esr.processes import exit_on_sigterm
from esr.progress import SendProgress, track_documents
from esr.stdlib import import_lazily
from esr.text.sentence_enrichment import DEFAULT_PARTS, REUSE, TABLE, VECTORS
from esr.wording import count, list_examples

if TYPE_CHECKING:
    from esr.cli import enrich as enrich_command
    from esr.enrichment import enricher, recipe, table_enricher
    from esr.enrichment.enricher import VectorSettings
    from esr.library import removal
    from esr.library.removal import Selection
    from esr.ranking import searcher
else:
    # Deliveries need neither the query language nor rankings.
    enrich_command = import_lazily("esr.cli.enrich")
    enricher = import_lazily("esr.enrichment.enricher")
    recipe = import_lazily("esr.enrichment.recipe")
    table_enricher = import_lazily("esr.enrichment.table_enricher")
    removal = import_lazily("esr.library.removal")
    searcher = import_lazily("esr.ranking.searcher")


# esr load


class EnrichmentOptions(Struct, frozen=True):
    """What `esr load` computes after the load."""

    enrich: bool
    enrich_only: tuple[str, ...]


@click.command()
@add_arguments(COMMANDS, "load", "paths")
@optional_index
@source_options
@writing_options
@add_arguments(COMMANDS, "load", "enrich", "enrich_only", "dry_run", "slice")
@meaning
@as_json
@collect_options(EnrichmentOptions, "settings")
def load(
    paths: tuple[str, ...],
    where: str | None,
    writing: Mapping[str, Any],
    settings: EnrichmentOptions,
    is_dry_run: bool,
    slice_text: str | None,
    as_json: bool,
    meaning: bool | None,
    **pipeline_options: Any,
) -> None:
    """Load documents into an index, all of them or none.

    PATH is a file, a folder, an archive (zip, tar), - for standard input, or ir_datasets:NAME for the
    documents of a data set. Files may be compressed (.gz, .zst).

    Then a table of vectors is fitted, for the ranking by words and meaning, if the index has at least 2,000
    sentences and the encoder is on this machine: see docs/meaning.md.

    \b
    Example:
      esr load news.jsonl more/*.gz --index my-index
      cat news.jsonl | esr load - --index http://localhost:9200/news --if-exists replace
      esr load delivery/ --index http://es1:9200/news --if-exists replace --slice 2/8
      esr load table.csv --mapping id=url --mapping text=body --dry-run
    """
    pipeline = open_pipeline(paths, is_dry_run=is_dry_run, **pipeline_options)
    if is_dry_run:
        dry_run(pipeline, writing["analyzer"], as_json)
        return
    if where is None:
        raise UsageError("no index given: use --index or ESR_INDEX, or look first with --dry-run")
    slice = None if slice_text is None else parse_slice(slice_text)
    if slice and meaning:
        raise UsageError("--meaning does not work with --slice: run esr enrich when all slices are loaded")
    if slice or {VECTORS, TABLE} & {*enrich_command.split_names(settings.enrich_only)}:
        meaning = False if meaning is None else meaning
    library_meaning.check_meaning(meaning)
    enrich_loaded = (
        _plan_enrichment(settings.enrich_only) if settings.enrich or settings.enrich_only else None
    )
    if slice and enrich_loaded:
        raise UsageError("--enrich does not work with --slice: run esr enrich when all slices are loaded")
    with measure_run("load", where) as run:
        with SendProgress() as progress:
            options = LoadOptions(
                **writing,
                slice=slice,
                set_aside=pipeline.reject if pipeline.tolerates_malformed else None,
                on_progress=progress.update,
                source_bytes=count_text_bytes(paths),
            )
            report = load_documents(pipeline, where, options, meaning is not False)
        run.documents = {"added": report.documents - report.unchanged, "unchanged": report.unchanged}
        run.set_aside(pipeline.malformed_count)
        if not as_json:
            click.echo(_format_report(report, where, pipeline.summary))
        notes = library_meaning.fit_loaded(where, meaning, partial(_fit_table, where, as_json))
        if as_json:
            report.notes += notes
            click.echo(json.dumps({**pipeline.summary.as_dict(), **to_builtins(report)}, indent=1))
        else:
            click.echo("\n".join(notes), nl=bool(notes))
        if enrich_loaded:
            enrich_loaded(where, as_json)
    pipeline.raise_if_malformed()


def _fit_table(where: str, is_quiet: bool, settings: VectorSettings, workers: int) -> None:
    enrich_command.fit_index(where, settings, workers=workers, quiet=is_quiet)


def _plan_enrichment(names: tuple[str, ...]) -> Callable[[str, bool], None]:
    """A function that enriches the index at a location after the load, quietly if its second argument is set.

    Raises EsrError if a library is missing, or UsageError for an unknown part.
    """
    requested = enrich_command.split_names(names)
    others = [name for name in requested if name not in (TABLE, REUSE)]
    parts = recipe.check_parts(others) if others else () if requested else DEFAULT_PARTS
    if parts:
        enricher.Enricher(parts)
    if TABLE in requested:
        table_enricher.find_tokenizer(enricher.DEFAULT_SETTINGS)

    def enrich_loaded(where: str, is_quiet: bool) -> None:
        if TABLE in requested:
            enrich_command.fit_index(where, enricher.DEFAULT_SETTINGS, quiet=is_quiet)
        if parts:
            analyzer = enrich_command.read_analyzer(where)
            enrich_command.enrich_index(where, enricher.Enricher(parts, analyzer=analyzer), quiet=is_quiet)
        if REUSE in requested:
            enrich_command.find_reuse(where, quiet=is_quiet)

    return enrich_loaded


def load_documents(
    pipeline: DocumentPipeline, where: str, options: LoadOptions, encodes: bool = True
) -> LoadReport:
    """Load the pipeline's documents, with progress. SIGTERM ends the load cleanly."""
    # Documents are many objects without cycles. Garbage collection would take a tenth of a load.
    gc.set_threshold(20_000, 20, 100)
    exit_on_sigterm()
    return load_pipeline(pipeline, where, options, track_documents, _warn, encodes)


def _warn(note: str) -> None:
    click.echo(f"Warning: {note}", err=True)


def _format_report(report: LoadReport, where: str, summary: SourceSummary) -> str:
    lines = [
        f"loaded {count(report.documents - report.unchanged, 'document')} with "
        f"{count(report.sentences, 'sentence')} into {redact(where)} in {report.seconds:.1f} s"
    ]
    if report.unchanged:
        lines.append(f"{count(report.unchanged, 'document')} already there, unchanged")
    return "\n".join([*lines, *report.notes, *summary.lines()])


# esr append and esr remove


@click.command()
@options.index_or_first
@add_arguments(COMMANDS, "append")
@source_options
@keep
@workers
@options.as_json
def append(
    where: str,
    paths: tuple[str, ...],
    keep: int,
    workers: int,
    as_json: bool,
    **pipeline_options: Any,
) -> None:
    """Add a delivery to an index, all of it or nothing.

    New documents are added. Documents that the index has with other content are replaced, with all their
    sentences and features. Unchanged documents are skipped, so an interrupted or repeated delivery can
    simply be appended again.

    \b
    Example:
      esr append monday.jsonl --index my-index
      esr append deliveries/2026-03-02 --index http://localhost:9200/news
    """
    exit_on_sigterm()
    with measure_run("append", where) as run:
        pipeline = open_pipeline(paths, **pipeline_options)
        delivery = open_delivery(where, LoadOptions(keep=keep, workers=workers))
        report = deliver_pipeline(
            pipeline, where, lambda documents: delivery.append(track_documents(documents))
        )
        run.documents = count_changes(report)
        run.set_aside(pipeline.malformed_count)
    _print_report(report, where, as_json, {"unknown_files": pipeline.summary.unknown_files})
    pipeline.raise_if_malformed()


@click.command()
@options.index_or_first
@add_arguments(COMMANDS, "remove")
@keep
@options.as_json
def remove(where: str, ids: tuple[str, ...], keep: int, as_json: bool, **chosen: Any) -> None:
    """Remove documents for good, with all their sentences.

    The documents are those with these ids (`-` reads ids from standard input), or those that --query and
    --before choose; with both, those that satisfy both. Sentences that lists fold as repeats count like all
    others. esr delete --before removes the same documents as --before alone, but asks first.

    The index keeps a list of what was removed, so that esr sync does not deliver it again. esr append of a
    document takes its id off the list. The previous generation still contains the documents if it is kept:
    `--keep 0` keeps none.

    \b
    Example:
      esr remove a1 a2 --index my-index
      esr remove - --index my-index < ids.txt
      esr remove --query 'source:"Daily News" hoax' --dry-run --index my-index
      esr remove --before 2015 --keep 0 --index my-index
      esr remove --list --index my-index
    """
    exit_on_sigterm()
    if chosen["is_list"]:
        _print_withdrawn(where, as_json)
        return
    selection = _select(where, ids, chosen["query"], chosen["before"])
    counts = {} if ids else {"documents": len(selection.ids), "sentences": selection.sentences}
    if chosen["is_dry_run"]:
        if as_json:
            click.echo(json.dumps({**counts, "ids": selection.ids}))
        else:
            matches = "" if ids else f"; {count(selection.sentences, 'sentence')} of them match"
            click.echo(f"would remove {count(len(selection.ids), 'document')}{matches}")
        return
    report = _remove(where, selection, keep)
    if not ids:
        report.notes.append(f"{count(selection.sentences, 'sentence')} matched, repeats included")
    _print_report(report, where, as_json, counts)


def _remove(where: str, selection: Selection, keep: int = DEFAULT_KEEP) -> DeliveryReport:
    with measure_run("remove", where) as run:
        report = open_delivery(where, LoadOptions(keep=keep)).remove(selection.ids, selection.before)
        report.notes += choose_first_again(where)
        run.documents = count_changes(report)
    return report


def remove_before(where: str, before: str, agrees: Callable[[str], None]) -> None:
    """Remove the documents dated before a date for good, if `agrees` does not abort when told what goes."""
    exit_on_sigterm()
    selection = _select(where, (), None, before)
    if selection.ids:
        agrees(f"{count(len(selection.ids), 'document')} of {redact(where)} dated before {before}")
    report = _remove(where, selection)
    if not selection.ids:
        report.notes.append(f"no document is dated before {before}")
    _print_report(report, where, as_json=False)


def _select(where: str, ids: Sequence[str], query: str | None, before: str | None) -> Selection:
    if not ids:
        with searcher.open_searcher(where) as opened:
            return removal.select_documents(opened.index.snapshot(), query, before)
    if query is not None or before is not None:
        raise UsageError("documents are removed by ids, or by --query and --before: leave one of them out")
    return removal.Selection(list(dict.fromkeys(_read_ids(ids))), 0, None)


def _print_withdrawn(where: str, as_json: bool) -> None:
    withdrawn = open_delivery(where, LoadOptions()).withdrawn().as_dict()
    if as_json:
        click.echo(json.dumps(withdrawn))
        return
    if "before" in withdrawn:
        first = datetime.fromtimestamp(withdrawn["before"] / 1000, UTC)
        click.echo(f"all documents before {first:%Y-%m-%d}")
    for id in withdrawn["ids"]:
        click.echo(id)


def _read_ids(arguments: Iterable[str]) -> list[str]:
    ids: list[str] = []
    for argument in arguments:
        ids += read_standard_input().split() if argument == "-" else [argument]
    return ids


def _print_report(
    report: DeliveryReport, where: str, as_json: bool, further: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Print the report of a delivery; as JSON, with additional keys."""
    if as_json:
        click.echo(json.dumps({**asdict(report), **further}, indent=1))
        return
    click.echo(f"{redact(where)}: {report.counts or 'nothing to do'}, in {report.seconds:.1f} s")
    if report.missing:
        click.echo(f"{len(report.missing):,} were not in the index: {list_examples(report.missing)}")
    for note in report.notes:
        click.echo(note)
