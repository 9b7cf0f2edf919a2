"""`esr migrate`: converts an index of an older format to the current one."""

from __future__ import annotations

import json

import click
from msgspec import to_builtins

from esr.cli.options import as_json, place
from esr.cli.progress import SendProgress
from esr.cli.signals import exit_on_sigterm
from esr.cli.writing_options import keep, lifts, workers
from esr.engines.factory import LoadOptions, open_migration
from esr.engines.redact import redact
from esr.plans.plan import Mixture


@click.command()
@place
@keep
@lifts
@workers
@as_json
def migrate(where: str, keep: int, precomputed_mixture: Mixture | None, workers: int, as_json: bool) -> None:
    """Convert an index of an older format to this version's, from its own contents, and switch in one step.

    What esr enrich stored is preserved. To resume an interrupted run, run it again.

    \b
    Example:
      esr migrate my-index
      esr migrate http://localhost:9200/news --workers 4
    """
    exit_on_sigterm()
    with SendProgress() as progress:
        options = LoadOptions(
            keep=keep,
            workers=workers,
            on_progress=progress.update,
            precomputed_mixture=precomputed_mixture,
            merge=True,
        )
        report = open_migration(where, options).run()
    if as_json:
        click.echo(json.dumps(to_builtins(report), indent=1))
        return
    if report.documents:
        click.echo(
            f"migrated {report.documents:,} documents with {report.sentences:,} sentences "
            f"of {redact(where)} in {report.seconds:.1f} s"
        )
    for note in report.notes:
        click.echo(note)
