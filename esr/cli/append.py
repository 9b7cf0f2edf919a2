"""`esr append` and `esr remove`: daily deliveries, and removal of documents."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import click
from msgspec.structs import asdict

from esr.cli import options
from esr.cli.document_pipeline import open_pipeline
from esr.cli.progress import track_documents
from esr.cli.signals import exit_on_sigterm
from esr.cli.source_options import source_options
from esr.cli.writing_options import keep, workers
from esr.engines.delivery import DeliveryReport
from esr.engines.factory import LoadOptions, open_delivery
from esr.engines.redact import redact

_MAX_EXAMPLES = 5


@click.command()
@options.place
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
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
    """Add a delivery to an index: all of it in one step, or nothing.

    New documents are added. Documents that the index has with other content are replaced, with all their
    sentences and features. Unchanged documents are skipped, so an interrupted or repeated delivery can
    simply be appended again.

    \b
    Example:
      esr append my-index monday.jsonl
      esr append http://localhost:9200/news deliveries/2026-03-02
    """
    exit_on_sigterm()
    pipeline = open_pipeline(paths, **pipeline_options)
    delivery = open_delivery(where, LoadOptions(keep=keep, workers=workers))
    with pipeline.open() as documents:
        report = delivery.append(track_documents(documents))
    report.notes += pipeline.notes()
    _print_report(report, where, as_json, {"unknown_files": pipeline.summary.unknown_files})
    pipeline.raise_if_malformed()


@click.command()
@options.place
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@keep
@options.as_json
def remove(where: str, ids: tuple[str, ...], keep: int, as_json: bool) -> None:
    """Remove documents from an index, with all their sentences. The ID `-` reads ids from standard input.

    The previous generation still contains them if it is kept: `--keep 0` keeps none.

    \b
    Example:
      esr remove my-index a1 a2
      esr remove my-index - < ids.txt
    """
    exit_on_sigterm()
    _print_report(open_delivery(where, LoadOptions(keep=keep)).remove(_read_ids(ids)), where, as_json)


def _read_ids(arguments: Iterable[str]) -> list[str]:
    ids: list[str] = []
    for argument in arguments:
        ids += sys.stdin.read().split() if argument == "-" else [argument]
    return ids


def _print_report(
    report: DeliveryReport, where: str, as_json: bool, further: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Print what was done; with `as_json`, with these keys too."""
    if as_json:
        click.echo(json.dumps({**asdict(report), **further}, indent=1))
        return
    names = ("added", "changed", "removed", "unchanged")
    counts = ", ".join(f"{getattr(report, name):,} {name}" for name in names if getattr(report, name))
    click.echo(f"{redact(where)}: {counts or 'nothing to do'}, in {report.seconds:.1f} s")
    if report.missing:
        examples = ", ".join(report.missing[:_MAX_EXAMPLES])
        more = ", …" if len(report.missing) > _MAX_EXAMPLES else ""
        click.echo(f"{len(report.missing):,} were not in the index: {examples}{more}")
    for note in report.notes:
        click.echo(note)
