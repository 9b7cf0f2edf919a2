"""`esr capacity`: estimate what a collection needs before it exists."""

from __future__ import annotations

import json

import click

from esr.cli import options
from esr.lab.capacity import CapacityEstimate, estimate_elasticsearch, estimate_folder, format_need


@click.command()
@click.option(
    "--sentences", type=click.FloatRange(1e4, 1e11), required=True, help="Sentences, such as 2500000 or 1e8."
)
@click.option(
    "--queries-per-second",
    type=click.FloatRange(0, 1e6),
    default=1.0,
    show_default=True,
    help="Searches in the busiest second.",
)
@click.option(
    "--replicas",
    type=click.IntRange(0, 10),
    default=1,
    show_default=True,
    help="Copies of each shard (Elasticsearch only).",
)
@click.option(
    "--loaders",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Loaders at the same time, each of a slice (Elasticsearch only).",
)
@options.as_json
def capacity(sentences: float, queries_per_second: float, replicas: int, loaders: int, as_json: bool) -> None:
    """Estimate what a collection needs, and how long it takes.

    The figures are disk, memory, processors and times, on either engine.

    \b
    Example:
      esr capacity --sentences 1e8 --queries-per-second 50
    The estimates are fits to measured figures (docs/capacity.md). "~" marks those beyond the sizes that were
    measured: try a tenth of your data before you buy machines.
    """
    estimates = (
        estimate_folder(sentences, queries_per_second),
        estimate_elasticsearch(sentences, queries_per_second, replicas, loaders),
    )
    click.echo(_to_json(estimates) if as_json else "\n".join(map(_to_text, estimates)))


def _to_text(estimate: CapacityEstimate) -> str:
    rows = [f"  {need.name:<30}{format_need(need):>12}" for need in estimate.needs]
    return "\n".join([estimate.engine, *rows, *(f"  {line}" for line in estimate.settings), ""])


def _to_json(estimates: tuple[CapacityEstimate, ...]) -> str:
    entries = [
        {
            "engine": estimate.engine,
            "needs": [vars(need) for need in estimate.needs],
            "settings": list(estimate.settings),
        }
        for estimate in estimates
    ]
    return json.dumps(entries, indent=1)
