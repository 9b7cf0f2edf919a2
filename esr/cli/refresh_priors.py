"""`esr refresh-priors`: the stored importance priors, made anew."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import closing
from dataclasses import asdict

import click

from esr.cli.load import Sending
from esr.cli.options import as_json, place
from esr.engines.factory import open_priors


@click.command("refresh-priors")
@place
@as_json
def refresh_priors(where: str, as_json: bool) -> None:
    """Make the stored importance priors anew, by p(t|C) as it is now. esr status says how far it has drifted.

    Elasticsearch stores priors, of the time that a sentence came. An index folder does not. Searches go on
    meanwhile, and see the new priors bit by bit. A run that was stopped is taken up by running it again.

    \b
    Example:
      esr refresh-priors http://localhost:9200/news
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are removed
    with closing(open_priors(where)) as priors, Sending(" sentences", "compared") as bar:
        report = priors.refresh(bar.sent)
    if as_json:
        click.echo(json.dumps(asdict(report), indent=1))
        return
    if report.sentences:
        click.echo(
            f"{where}: {report.changed:,} of {report.sentences:,} sentences got another prior, "
            f"in {report.seconds:.1f} s"
        )
    for note in report.notes:
        click.echo(note)
