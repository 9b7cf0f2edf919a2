"""`esr sync`: what is new in the sources of a file, as one delivery. Made to be run by a timer."""

from __future__ import annotations

import json
from pathlib import Path

import click

from esr.cli.options import FILE, as_json, place
from esr.cli.signals import exit_on_sigterm
from esr.cli.source_summary import describe_unknown_files
from esr.cli.sync_config import read_config
from esr.cli.sync_run import SyncRun
from esr.errors import EsrError
from esr.loaders.delivered_files import open_delivered_files


@click.command()
@place
@click.argument("config", type=FILE)
@click.option("--dry-run", "is_dry_run", is_flag=True, help="Read and compare, and report; write nothing.")
@click.option(
    "--reread", is_flag=True, help="Read all files again, also those whose documents a rollback rejected."
)
@as_json
def sync(where: str, config: Path, is_dry_run: bool, reread: bool, as_json: bool) -> None:
    """Bring an index up to date with the sources that CONFIG names: new and changed files, in one step.

    The first run makes the index. A run that finds nothing new makes no generation. A run that was killed or
    failed has changed nothing: the next one does its work. One line says what was done.

    \b
    Exit status:
      0   done, or there was nothing to do
      1   it failed and changed nothing, or documents were set aside in the file of bad-documents, or there
          are files that no loader knows
      2   the command or CONFIG is wrong
      75  another run has not finished yet, nothing was done

    \b
    Example:
      esr sync my-index news.toml
      esr sync http://localhost:9200/news news.toml --dry-run
    """
    exit_on_sigterm()
    settings = read_config(config)
    with open_delivered_files(settings.state, is_dry_run=is_dry_run) as record:
        run = SyncRun(where, settings, record, is_dry_run=is_dry_run)
        report = run.deliver(reread=reread)
        if not is_dry_run:
            record.commit()
    click.echo(json.dumps(report.as_dict()) if as_json else "\n".join(report.lines()))
    run.pipeline.raise_if_malformed()
    if report.unknown_files:
        raise EsrError(
            f"{describe_unknown_files(report.unknown_files)}; exclude them in the file that names the sources"
        )
