"""`esr append` and `esr remove`: daily deliveries, and documents that must go."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import click
from tqdm import tqdm

from esr.cli import options
from esr.cli.loading import Incoming, sources
from esr.engines.delivery import DeliveryReport
from esr.engines.factory import LoadOptions, open_delivery
from esr.engines.redact import redacted


@click.command()
@options.place
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@sources
@options.keep
@options.workers
@options.as_json
def append(
    where: str,
    paths: tuple[str, ...],
    keep: int,
    workers: int,
    as_json: bool,
    **source_options: Any,
) -> None:
    """Bring a delivery into an index: all of it in one step, or nothing.

    New documents are added. Documents that are there with other content are replaced: all their sentences
    and what is known of them. Documents that are there and the same are passed over, so a delivery that was
    cut off, or came twice, is simply given again.

    \b
    Example:
      esr append my-index monday.jsonl
      esr append http://localhost:9200/news deliveries/2026-03-02
    """
    _stoppable()
    incoming = Incoming(paths, **source_options)
    found = open_delivery(where, LoadOptions(keep=keep, workers=workers))
    with incoming.documents() as documents:
        bar: Any = tqdm(documents, unit=" documents", disable=None, mininterval=0.5, leave=False)
        report = found.append(bar)
    report.notes += incoming.notes()
    _say(report, where, as_json)
    incoming.complain()


@click.command()
@options.place
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@options.keep
@options.as_json
def remove(where: str, ids: tuple[str, ...], keep: int, as_json: bool) -> None:
    """Remove documents from an index, with all their sentences. IDs of `-` are read from standard input.

    The generation before is kept, and still holds them: `--keep 0` keeps none.

    \b
    Example:
      esr remove my-index a1 a2
      esr remove my-index - < ids.txt
    """
    _stoppable()
    _say(open_delivery(where, LoadOptions(keep=keep)).remove(_read(ids)), where, as_json)


def _stoppable() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was begun is taken back


def _read(ids: Iterable[str]) -> list[str]:
    found: list[str] = []
    for id in ids:
        found += sys.stdin.read().split() if id == "-" else [id]
    return found


def _say(report: DeliveryReport, where: str, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(report), indent=1))
        return
    counts = ("added", "changed", "removed", "unchanged")
    done = ", ".join(f"{getattr(report, name):,} {name}" for name in counts if getattr(report, name))
    click.echo(f"{redacted(where)}: {done or 'nothing to do'}, in {report.seconds:.1f} s")
    if report.missing:
        named = ", ".join(report.missing[:5]) + (", …" if len(report.missing) > 5 else "")
        click.echo(f"{len(report.missing):,} were not there: {named}")
    for note in report.notes:
        click.echo(note)
