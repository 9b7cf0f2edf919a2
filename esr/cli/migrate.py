"""`esr migrate`: an index of an older format, brought to this esr's."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict

import click

from esr.cli.load import Sending
from esr.cli.options import as_json, keep, place, workers
from esr.engines.factory import LoadOptions, open_migration
from esr.ranking.ranking import Ranking


@click.command()
@place
@keep
@workers
@as_json
def migrate(where: str, keep: int, workers: int, as_json: bool) -> None:
    """Bring an index of an older format to this esr's, from what is stored in it, then switch in one step.

    What esr enrich found is carried over. A run that was stopped is taken up by running it again.

    \b
    Example:
      esr migrate my-index
      esr migrate http://localhost:9200/news --workers 4
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are removed
    with Sending() as bar:
        report = open_migration(
            where, LoadOptions(keep=keep, workers=workers, sent=bar.sent, prepared=Ranking().mixture())
        ).run()
    if as_json:
        click.echo(json.dumps(asdict(report), indent=1))
        return
    if report.documents:
        click.echo(
            f"migrated {report.documents:,} documents with {report.sentences:,} sentences "
            f"of {where} in {report.seconds:.1f} s"
        )
    for note in report.notes:
        click.echo(note)
