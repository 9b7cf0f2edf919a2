"""`esr compare`: rankings × collections × measures in one table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from esr.cli import options
from esr.cli.output import check
from esr.errors import EsrError
from esr.evaluation.comparing import Comparison, cells, compute, done
from esr.evaluation.showing import grid
from esr.evaluation.significance import compare as tested
from esr.evaluation.significance import corrected
from esr.extras import require

_RESAMPLES = 1  # the table's marks are those of the t-test
Values = Mapping[str, Mapping[str, float]]


@click.command()
@click.argument("comparison", type=options.FILE)
@click.option(
    "-o",
    "--output",
    required=True,
    type=options.FILE,
    help="JSON Lines of all figures, a cell a line. What is there already is not computed again.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes.")
def compare(comparison: Path, output: Path, workers: int) -> None:
    """Evaluate every ranking on every collection, and print one table a measure.

    COMPARISON is a JSON file: {"collections": {name: {"index", "topics", "qrels"}}, "rankings": {name:
    ranking}, "measures": ["AP"], "baseline": name}. Without rankings, every model in every context is
    taken. With "parameters": ["default", "tuned", "estimated"] each ranking stands there with its own
    parameters, with those tuned on four fifths of the topics for the last fifth, and with those estimated
    from the collection. A call that was stopped goes on where it was. * and ** mark differences from the
    baseline at 95 % and 99 % (paired t-test, Holm's correction).

    \b
    Example:
      esr compare comparison.json -o figures.jsonl
    """
    require("esr compare", "ir_measures", "scipy")
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
    found = {
        (cell.collection, cell.ranking, cell.parameters): known[key]
        for key, cell in zip(keys, every, strict=True)
    }
    for name in given.measures:
        click.echo(f"{name}\n{_table(given, found, name)}\n")


def _table(given: Comparison, found: Mapping[tuple[str, str, str], Mapping[str, Any]], measure: str) -> str:
    """A row a ranking and source of parameters, marked against the baseline of the same source."""
    marks = {}
    for collection, source in product(given.collections, given.parameters if given.baseline else ()):
        against = found[collection, given.baseline, source]["values"][measure]  # type: ignore[index]
        others = [name for name in given.rankings if name != given.baseline]
        tests = [
            tested(found[collection, o, source]["values"][measure], against, resamples=_RESAMPLES)
            for o in others
        ]
        for name, test in zip(others, corrected(tests), strict=True):
            marks[collection, name, source] = test.mark
    rows = [["", *given.collections]]
    for name, source in product(given.rankings, given.parameters):
        cells = [(collection, name, source) for collection in given.collections]
        figures = [f"{found[c]['measures'][measure]:.4f}{marks.get(c, ''):<2}" for c in cells]
        rows.append([name if len(given.parameters) == 1 else f"{name}, {source}", *figures])
    return grid(rows, left=1)
