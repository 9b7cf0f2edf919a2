"""`esr status`: what an index holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict

import click

import esr
from esr.cli import options
from esr.engines.factory import open_priors
from esr.engines.priors import Drift


@click.command()
@options.index
@options.as_json
def status(where: str, as_json: bool) -> None:
    """Show an index's counts, size and settings, and how far its stored priors are from exact.

    Elasticsearch stores importance priors, which depend on p(t|C), and this drifts when documents come and
    go. Of each load some sentences are looked at. Natural logarithms are shown: the mean change of log p(t|C)
    of an occurrence, and how much priors are off, beside how much they differ from each other.

    \b
    Example:
      esr status --index my-index
    """
    with esr.open(where) as searcher:
        found = dict(searcher.index.status())
    with closing(open_priors(where)) as priors:
        drifts = priors.drift()
    if as_json:
        click.echo(json.dumps({**found, "drift": [asdict(each) for each in drifts]}, indent=1))
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
    for line in _drift(drifts):
        click.echo(line)


def _drift(drifts: list[Drift]) -> Iterator[str]:
    """By load: how far p(t|C) has drifted, and what that means for its priors."""
    for each in drifts:
        looked_at = f"{each.sampled:,} of {each.sentences:,} sentences looked at"
        if each.largest:
            yield (
                f"{'drift':<12} {each.load}: log p(t|C) by {each.occurrence:.4f} an occurrence; "
                f"priors are off by {each.mean:.3f}, at most {each.largest:.3f}, "
                f"and spread by {each.spread:.3f} ({looked_at})"
            )
        else:
            yield f"{'drift':<12} {each.load}: none, stored priors are exact ({looked_at})"
    if any(each.largest for each in drifts):
        yield f"{'':<12} esr refresh-priors makes them exact; only rankings with --prior importance use them"
