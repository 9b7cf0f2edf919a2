"""`esr load`: source files into an index."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click
from tqdm import tqdm

from esr import analysis
from esr.analysis.analyzer import DEFAULT as DEFAULT_ANALYZER
from esr.cli.dry_run import dry_run
from esr.cli.enrich import analyzer_of, enrich_index, made_enricher
from esr.cli.loading import Incoming, sources
from esr.cli.options import as_json, keep, optional_index, resume, sliced, workers
from esr.documents import Located
from esr.engines.factory import IF_EXISTS, LoadOptions, open_writer
from esr.engines.index import LoadReport
from esr.engines.redact import redacted
from esr.errors import UsageError
from esr.ranking.ranking import Ranking


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@optional_index
@sources
@click.option(
    "--analyzer", help=f"How text becomes terms: {', '.join(analysis.ANALYZERS)}. Default {DEFAULT_ANALYZER}."
)
@click.option(
    "--title/--no-title", default=None, help="Count a title's terms in its document's context (default)."
)
@click.option(
    "--if-exists",
    default="fail",
    show_default=True,
    help="; ".join(f"{k}: {v}" for k, v in IF_EXISTS.items()) + ".",
)
@click.option("--enrich", "enriching", is_flag=True, help="Run esr enrich on the index afterwards.")
@click.option(
    "--dry-run", "dry", is_flag=True, help="Show the first documents, counts and problems; write nothing."
)
@click.option(
    "--slice",
    "part",
    metavar="I/N",
    help="Send the I-th of N slices; the one that comes last switches (Elasticsearch only).",
)
@keep
@resume
@workers
@click.option("--shards", type=click.IntRange(1, 1024), help="Shards of the new index (Elasticsearch only).")
@click.option(
    "--replicas",
    type=click.IntRange(0, 10),
    help="Copies of each shard (Elasticsearch only). Default: one, once there is a second node.",
)
@as_json
def load(
    paths: tuple[str, ...],
    where: str | None,
    analyzer: str | None,
    title: bool | None,
    if_exists: str,
    enriching: bool,
    shards: int | None,
    replicas: int | None,
    dry: bool,
    part: str | None,
    as_json: bool,
    keep: int,
    resume: bool,
    workers: int,
    **source_options: Any,
) -> None:
    """Load documents into an index: all of them, or none if anything is wrong.

    PATH is a file, a folder, an archive (zip, tar), or - for standard input; files may be packed (.gz, .zst).

    \b
    Example:
      esr load news.jsonl more/*.gz --index my-index
      cat news.jsonl | esr load - --index http://localhost:9200/news --if-exists replace
      esr load delivery/ --index http://es1:9200/news --if-exists replace --slice 2/8
      esr load table.csv --mapping id=url --mapping text=body --dry-run
    """
    import json
    from dataclasses import asdict

    incoming = Incoming(paths, **source_options)
    if dry:
        dry_run(incoming, as_json)
        return
    if where is None:
        raise UsageError("nothing says into which index: give --index, or look first with --dry-run")
    slice = None if part is None else sliced(part)
    if slice and enriching:
        raise UsageError("no slice knows whether it comes last: run esr enrich when all slices are there")
    # Documents are many objects, and none holds itself: to look for such took a tenth of the time.
    gc.set_threshold(20_000, 20, 100)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was begun is taken back
    if enriching:
        made_enricher()  # what it lacks is said before anything is loaded
    set_aside = incoming.refused if incoming.sets_aside else None
    with Sending() as bar, incoming.documents() as documents:
        options = LoadOptions(
            if_exists,
            analyzer,
            title,
            shards,
            keep,
            resume,
            slice,
            workers,
            set_aside,
            replicas,
            bar.sent,
            Ranking().mixture(),
        )
        report = open_writer(where, options).load(_counted(documents))
    report.notes += incoming.notes()
    if as_json:
        click.echo(json.dumps(asdict(report), indent=1))
    else:
        _say(report, where)
    if enriching:
        enrich_index(where, made_enricher(analyzer=analyzer_of(where)), quiet=as_json)
    incoming.complain()


class Sending:
    """A bar for what is sent, with rate and remaining time: it is known how much there is to send."""

    def __init__(self, unit: str = " documents", done: str = "sent") -> None:
        self._unit, self._done = unit, done
        self._bar: Any = None

    def sent(self, documents: int, of: int) -> None:
        if self._bar is None:
            self._bar = tqdm(
                total=of, unit=self._unit, desc=self._done, disable=None, mininterval=0.5, leave=False
            )
        self._bar.total = of
        self._bar.update(documents)

    def __enter__(self) -> Sending:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _say(report: LoadReport, where: str) -> None:
    click.echo(
        f"loaded {report.documents - report.unchanged:,} documents with {report.sentences:,} sentences "
        f"into {redacted(where)} in {report.seconds:.1f} s"
    )
    if report.unchanged:
        click.echo(f"{report.unchanged:,} documents were there already, and are the same")
    for note in report.notes:
        click.echo(note)


def _counted(documents: Iterable[Located]) -> Iterator[Located]:
    bar: Any = tqdm(documents, unit=" documents", disable=None, mininterval=0.5, leave=False)
    yield from bar
