"""`esr load`: source files into an index."""

from __future__ import annotations

import gc
import json
from typing import Any

import click
from msgspec import to_builtins
from msgspec.structs import replace

from esr.cli.analyzer_choice import AUTO, SampledDocuments, language_notes
from esr.cli.document_pipeline import DocumentPipeline, open_pipeline
from esr.cli.dry_run import dry_run
from esr.cli.enrich import build_enricher, enrich_index, parse_parts, read_analyzer
from esr.cli.options import as_json, describe_choices, optional_index
from esr.cli.progress import SendProgress, track_documents
from esr.cli.signals import exit_on_sigterm
from esr.cli.source_options import source_options
from esr.cli.source_summary import SourceSummary
from esr.cli.writing_options import keep, lifts, merge, new_index, parse_slice, resume, workers
from esr.documents.enrichment import PARTS
from esr.engines.factory import IF_EXISTS, LoadOptions, open_writer
from esr.engines.redact import redact
from esr.engines.writer import LoadReport
from esr.errors import UsageError
from esr.loaders.paths import count_text_bytes
from esr.plans.plan import Mixture


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@optional_index
@source_options
@new_index
@click.option(
    "--if-exists",
    default="fail",
    show_default=True,
    help=describe_choices(IF_EXISTS),
)
@click.option("--enrich", "enrich", is_flag=True, help="Run esr enrich on the index afterwards.")
@click.option(
    "--enrich-only",
    metavar="PARTS",
    help=f"The same with these parts, separated by commas: {', '.join(PARTS)}.",
)
@click.option(
    "--dry-run",
    "is_dry_run",
    is_flag=True,
    help="Show the first documents, counts and problems; write nothing.",
)
@click.option(
    "--slice",
    "slice_text",
    metavar="I/N",
    help="Send the I-th of N slices; the last one to finish switches (Elasticsearch only).",
)
@merge
@lifts
@keep
@resume
@workers
@as_json
def load(
    paths: tuple[str, ...],
    where: str | None,
    analyzer: str | None,
    title: bool | None,
    if_exists: str,
    enrich: bool,
    enrich_only: str | None,
    shards: int | None,
    replicas: int | None,
    is_dry_run: bool,
    slice_text: str | None,
    merge: bool,
    precomputed_mixture: Mixture | None,
    as_json: bool,
    keep: int,
    resume: bool,
    workers: int,
    **pipeline_options: Any,
) -> None:
    """Load documents into an index: all of them, or none if there is any error.

    PATH is a file, a folder, an archive (zip, tar), or - for standard input. Files may be compressed (.gz,
    .zst).

    \b
    Example:
      esr load news.jsonl more/*.gz --index my-index
      cat news.jsonl | esr load - --index http://localhost:9200/news --if-exists replace
      esr load delivery/ --index http://es1:9200/news --if-exists replace --slice 2/8
      esr load table.csv --mapping id=url --mapping text=body --dry-run
    """
    pipeline = open_pipeline(paths, is_dry_run=is_dry_run, **pipeline_options)
    if is_dry_run:
        dry_run(pipeline, analyzer, as_json)
        return
    if where is None:
        raise UsageError("no index given: use --index or ESR_INDEX, or look first with --dry-run")
    slice = None if slice_text is None else parse_slice(slice_text)
    enrich = enrich or enrich_only is not None
    if slice and enrich:
        raise UsageError("--enrich does not work with --slice: run esr enrich when all slices are loaded")
    parts = parse_parts(enrich_only)
    if enrich:
        build_enricher(parts)  # reports missing parts before anything is loaded
    with SendProgress() as progress:
        options = LoadOptions(
            if_exists=if_exists,
            analyzer=analyzer,
            title=title,
            shards=shards,
            keep=keep,
            resume=resume,
            slice=slice,
            workers=workers,
            set_aside=pipeline.reject if pipeline.tolerates_malformed else None,
            replicas=replicas,
            on_progress=progress.update,
            source_bytes=count_text_bytes(paths),
            merge=merge,
            precomputed_mixture=precomputed_mixture,
        )
        report = load_documents(pipeline, where, options)
    if as_json:
        click.echo(json.dumps({**pipeline.summary.as_dict(), **to_builtins(report)}, indent=1))
    else:
        click.echo(_format_report(report, where, pipeline.summary))
    if enrich:
        enrich_index(where, build_enricher(parts, analyzer=read_analyzer(where)), quiet=as_json)
    pipeline.raise_if_malformed()


def load_documents(pipeline: DocumentPipeline, where: str, options: LoadOptions) -> LoadReport:
    """Load what the pipeline reads; the analyzer `auto` is chosen by the first documents."""
    # Documents are many objects without cycles; searching them for cycles took a tenth of a load.
    gc.set_threshold(20_000, 20, 100)
    exit_on_sigterm()
    with pipeline.open() as documents:
        sampled = SampledDocuments(documents)
        options = replace(
            options,
            analyzer=None if options.analyzer == AUTO else options.analyzer,
            choose_analyzer=sampled.choose_analyzer,
        )
        writer = open_writer(where, options)
        report = writer.load(track_documents(sampled))
    report.notes += [
        *([sampled.reason] if sampled.reason else []),
        *pipeline.notes(),
        *(language_notes(pipeline.summary.languages, report.analyzer) if report.analyzer else []),
        *(report.terms.notes() if report.terms else []),
    ]
    return report


def _format_report(report: LoadReport, where: str, summary: SourceSummary) -> str:
    lines = [
        f"loaded {report.documents - report.unchanged:,} documents with {report.sentences:,} sentences "
        f"into {redact(where)} in {report.seconds:.1f} s"
    ]
    if report.unchanged:
        lines.append(f"{report.unchanged:,} documents already exist unchanged")
    return "\n".join([*lines, *report.notes, *summary.lines()])
