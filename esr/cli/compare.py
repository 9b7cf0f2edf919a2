"""`esr compare`: rankings × collections × measures in one table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from esr.cli.output import check
from esr.errors import EsrError
from esr.evaluation.comparing import Comparison, cells, compute, done
from esr.evaluation.showing import grid
from esr.evaluation.significance import compare as tested
from esr.evaluation.significance import corrected

_RESAMPLES = 1  # the table's marks are those of the t-test
Values = Mapping[str, Mapping[str, float]]


@click.command()
@click.argument("comparison", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSON Lines of all figures, a cell a line. What is there already is not computed again.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes.")
def compare(comparison: Path, output: Path, workers: int) -> None:
    """Evaluate every ranking on every collection, and print one table a measure.

    COMPARISON is a JSON file: {"collections": {name: {"index", "topics", "qrels"}}, "rankings": {name:
    ranking}, "measures": ["AP"], "baseline": name}. Without rankings, every model in every context is
    taken. A call that was stopped goes on where it was. * and ** mark differences from the baseline at
    95 % and 99 % (paired t-test, Holm's correction).

    \b
    Example:
      esr compare comparison.json -o figures.jsonl
    """
    given = Comparison.from_file(comparison)
    every = cells(given)
    try:
        check(output, comparison, *(f for c in given.collections.values() for f in (c.topics, c.qrels)))
        known = done(output)
        keys = [cell.key() for cell in every]
        missing = {key: cell for key, cell in zip(keys, every, strict=True) if key not in known}
        for cell in tqdm(
            compute(missing, output, workers), total=len(missing), unit=" cells", disable=None, leave=False
        ):
            known[cell["key"]] = cell
    except OSError as error:
        raise EsrError(f"cannot use {error.filename or output}: {error.strerror}") from error
    found = {(cell.collection, cell.ranking): known[key] for key, cell in zip(keys, every, strict=True)}
    for name in given.measures:
        click.echo(f"{name}\n{_table(given, found, name)}\n")


def _table(given: Comparison, found: Mapping[tuple[str, str], Mapping[str, Any]], measure: str) -> str:
    marks = {}
    if given.baseline is not None:
        for collection in given.collections:
            against = found[collection, given.baseline]["values"][measure]
            others = [name for name in given.rankings if name != given.baseline]
            tests = [
                tested(found[collection, o]["values"][measure], against, resamples=_RESAMPLES) for o in others
            ]
            for name, test in zip(others, corrected(tests), strict=True):
                marks[collection, name] = test.mark
    rows = [["", *given.collections]]
    for name in given.rankings:
        figures = [
            f"{found[c, name]['measures'][measure]:.4f}{marks.get((c, name), ''):<2}"
            for c in given.collections
        ]
        rows.append([name, *figures])
    return grid(rows, left=1)
