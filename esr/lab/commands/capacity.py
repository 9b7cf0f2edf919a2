"""`esr capacity`: estimate what a collection needs before it exists."""

from __future__ import annotations

import json

import click

from esr.cli import options
from esr.lab.capacity import Plan, format_need, plan_elasticsearch, plan_folder


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
    "--replicas", type=click.IntRange(0, 10), default=1, show_default=True, help="Of Elasticsearch."
)
@click.option(
    "--loaders", type=click.IntRange(1, 64), default=1, show_default=True, help="Slices, for Elasticsearch."
)
@options.as_json
def capacity(sentences: float, queries_per_second: float, replicas: int, loaders: int, as_json: bool) -> None:
    """Estimate disk, memory, processors and times for a collection, on either engine.

    \b
    Example:
      esr capacity --sentences 1e8 --queries-per-second 50
    The estimates are fits to measured figures (docs/capacity.md). "~" marks those beyond the sizes that were
    measured: try a tenth of your data before you buy machines.
    """
    plans = (
        plan_folder(sentences, queries_per_second),
        plan_elasticsearch(sentences, queries_per_second, replicas, loaders),
    )
    click.echo(_to_json(plans) if as_json else "\n".join(map(_to_text, plans)))


def _to_text(plan: Plan) -> str:
    rows = [f"  {need.name:<30}{format_need(need):>12}" for need in plan.needs]
    return "\n".join([plan.engine, *rows, *(f"  {line}" for line in plan.settings), ""])


def _to_json(plans: tuple[Plan, ...]) -> str:
    entries = [
        {
            "engine": plan.engine,
            "needs": [vars(need) for need in plan.needs],
            "settings": list(plan.settings),
        }
        for plan in plans
    ]
    return json.dumps(entries, indent=1)
