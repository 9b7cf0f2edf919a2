"""`esr status`: counts, size and settings of an index, and how far its stored priors have drifted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import click
from msgspec.structs import asdict

import esr
from esr.cli import options
from esr.engines.factory import open_priors
from esr.engines.priors import Drift


@click.command()
@options.index
@click.option(
    "--drift", "shows_drift", is_flag=True, help="Also sample how far stored priors are from exact ones."
)
@options.as_json
def status(where: str, shows_drift: bool, as_json: bool) -> None:
    """Show an index's counts, size and settings.

    Elasticsearch stores importance priors, which depend on p(t|C), which drifts as documents are added and
    removed. With --drift, a sample of the sentences of each load is examined, which takes some seconds. The
    output shows natural logarithms: the mean change of log p(t|C) per occurrence, and the error of priors
    beside their spread.

    \b
    Example:
      esr status --index my-index
      esr status --index http://localhost:9200/news --drift
    """
    with esr.open(where) as searcher:
        index_status = dict(searcher.index.status())
    drifts = _read_drifts(where) if shows_drift else []
    if as_json:
        drift = {"drift": [asdict(drift) for drift in drifts]} if shows_drift else {}
        click.echo(json.dumps({**index_status, **drift}, indent=1))
        return
    parts = index_status.pop("enrichment")
    for name, value in index_status.items():
        click.echo(f"{name.replace('_', ' '):<12} {_format_value(value)}")
    if not parts:
        click.echo(f"{'enrichment':<12} none")
    total = index_status["documents"]
    for part in parts:
        tools = ", ".join(f"{name} {value}" for name, value in part["made_with"].items())
        click.echo(f"{part['part']:<12} {part['documents']:,} of {total:,} documents ({tools})")
    for line in _format_drifts(drifts):
        click.echo(line)


def _read_drifts(where: str) -> list[Drift]:
    with closing(open_priors(where)) as priors:
        return priors.drift()


def _format_value(value: Any) -> Any:
    if value is None:
        return "unknown"
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


def _format_drifts(drifts: list[Drift]) -> Iterator[str]:
    """For each load, how far p(t|C) has drifted and what error its priors have."""
    for drift in drifts:
        sample = f"{drift.sampled:,} of {drift.sentences:,} sentences sampled"
        if drift.largest:
            yield (
                f"{'drift':<12} {drift.load}: log p(t|C) by {drift.occurrence:.4f} per occurrence; "
                f"priors are off by {drift.mean:.3f}, at most {drift.largest:.3f}, "
                f"and spread by {drift.spread:.3f} ({sample})"
            )
        else:
            yield f"{'drift':<12} {drift.load}: none, stored priors are exact ({sample})"
    if any(drift.largest for drift in drifts):
        yield f"{'':<12} esr refresh-priors makes them exact; only rankings with --prior importance use them"
