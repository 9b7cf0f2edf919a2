"""What `esr tune` and `esr estimate` share: their options, progress, and the ranking they write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from esr.cli.output import written
from esr.errors import UsageError
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning.training import WAYS
from esr.ranking.ranking import Ranking

grid_option = click.option(
    "--grid",
    "grid_texts",
    multiple=True,
    metavar="NAME=V,V,...",
    help="Values to try. Default: the papers', for every parameter that --set leaves open.",
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
        help="Every combination, or one parameter after another (for many parameters).",
    )


def grid_of(ranking: Ranking, texts: Sequence[str], *, wanted: bool = True) -> grids.Grid:
    """The grid that was asked for, or the model's own. Raises UsageError if one is wanted and missing."""
    grid = grids.parse(texts) or grids.default(ranking)
    if wanted and not grid:
        raise UsageError(f"{ranking.model} leaves no parameter open: name one and its values with --grid")
    return grid


@contextmanager
def counting() -> Iterator[Callable[[int], None]]:
    """A progress bar of topics, as what moves it on."""
    with tqdm(unit=" topics", disable=None, leave=False) as bar:

        def tick(topics: int) -> None:
            bar.update(topics)

        yield tick


def save(output: Path, ranking: Mapping[str, Any]) -> None:
    """The ranking as a file for --ranking."""
    with written(output) as file:
        file.write(json.dumps(ranking, indent=1) + "\n")


def setting(ranking: Mapping[str, Any]) -> str:
    """A ranking's model, parameters and trained curves in a line."""
    made = Ranking.from_dict(ranking)
    values = (
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in grids.values_of(made).items()
    )
    curves = (f"{each.form}({each.feature})" for each in made.features if each.curve is not None)
    return " ".join([made.model, *values, *curves])
