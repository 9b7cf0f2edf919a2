"""`esr status`: what an index holds."""

from __future__ import annotations

import json

import click

import esr
from esr.cli import options


@click.command()
@options.index
@options.as_json
def status(where: str, as_json: bool) -> None:
    """Show an index's counts, size and settings.

    \b
    Example:
      esr status --index my-index
    """
    with esr.open(where) as searcher:
        found = searcher.index.status()
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    for name, value in found.items():
        shown = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value
        shown = ", ".join(value) if isinstance(value, list) else shown
        click.echo(f"{name.replace('_', ' '):<12} {shown}")
