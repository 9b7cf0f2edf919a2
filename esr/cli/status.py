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
        found = dict(searcher.index.status())
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    made = found.pop("enrichment")
    for name, value in found.items():
        shown = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value
        shown = ", ".join(value) if isinstance(value, list) else "not told" if value is None else shown
        click.echo(f"{name.replace('_', ' '):<12} {shown}")
    if not made:
        click.echo(f"{'enrichment':<12} none")
    for each in made:
        tools = ", ".join(f"{name} {value}" for name, value in each["made_with"].items())
        click.echo(f"{each['part']:<12} {each['documents']:,} of {found['documents']:,} documents ({tools})")
