"""`esr refresh-priors`: recomputes the stored importance priors."""

from __future__ import annotations

import json
from contextlib import closing

import click
from msgspec.structs import asdict

from esr.cli.options import as_json, place
from esr.cli.progress import SendProgress
from esr.cli.signals import exit_on_sigterm
from esr.engines.factory import open_priors
from esr.engines.redact import redact


@click.command("refresh-priors")
@place
@as_json
def refresh_priors(where: str, as_json: bool) -> None:
    """Recompute the stored importance priors from the current p(t|C). esr status --drift shows how far off
    they are.

    Elasticsearch stores priors as of the time that a sentence was loaded; an index folder stores none.
    Searches continue meanwhile and see the new priors gradually. To resume an interrupted run, run it again.

    \b
    Example:
      esr refresh-priors http://localhost:9200/news
    """
    exit_on_sigterm()
    with closing(open_priors(where)) as priors, SendProgress(" sentences", "compared") as progress:
        report = priors.refresh(progress.update)
    if as_json:
        click.echo(json.dumps(asdict(report), indent=1))
        return
    if report.sentences:
        click.echo(
            f"{redact(where)}: {report.changed:,} of {report.sentences:,} sentences got another prior, "
            f"in {report.seconds:.1f} s"
        )
    for note in report.notes:
        click.echo(note)
