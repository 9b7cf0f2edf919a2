"""What `esr tune`, `esr learn` and `esr estimate` share: options, notes, and the ranking that they write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from esr.cli.output_file import open_output
from esr.errors import UsageError
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning.tasks import TaskSet
from esr.evaluation.tuning.training import WAYS
from esr.ranking.ranking import Ranking

grid_option = click.option(
    "--grid",
    "grid_texts",
    multiple=True,
    metavar="NAME=V,V,...",
    help="Values to try. Default: the papers', for every parameter that --set does not fix.",
)
measure_option = click.option(
    "--measure", default="AP", show_default=True, help="What to maximise: AP, RR, RPrec, P@k, R@k."
)


def way_option(default: str) -> Callable[[Any], Any]:
    return click.option(
        "--way",
        type=click.Choice(list(WAYS)),
        default=default,
        show_default=True,
        help="All combinations, or one parameter after another (for many parameters).",
    )


def build_grid(ranking: Ranking, texts: Sequence[str], *, is_required: bool = True) -> grids.Grid:
    """The grid of the options, or else the model's own. Raises UsageError if a required one is empty."""
    grid = grids.parse(texts) or grids.default(ranking)
    if is_required and not grid:
        raise UsageError(f"{ranking.model} has no parameter left to vary: name one, with values, by --grid")
    return grid


def save_ranking(output: Path, ranking: Mapping[str, Any]) -> None:
    """Write the ranking to a file for --ranking."""
    with open_output(output) as file:
        file.write(json.dumps(ranking, indent=1) + "\n")


def warn_of_unjudged(tasks: TaskSet) -> None:
    """Report the topics on which nothing can be tuned."""
    if tasks.unjudged:
        click.echo(f"{len(tasks.unjudged)} topics have no relevant sentence and are left out", err=True)


def format_ranking(data: Mapping[str, Any]) -> str:
    """A ranking's model, parameters and trained curves on one line."""
    ranking = Ranking.from_dict(data)
    values = (
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in grids.parameter_values(ranking).items()
    )
    curves = (f"{f.form}({f.feature})" for f in ranking.features if f.curve is not None)
    return " ".join([ranking.model, *values, *curves])
