"""`esr compare`: rankings × collections × measures, one table per measure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from esr.cli import options
from esr.cli.output_file import check_output
from esr.errors import EsrError
from esr.evaluation.comparison import ComparisonPlan, build_cells, compute_cells, read_results
from esr.evaluation.formatting import align_columns
from esr.evaluation.significance import compare_systems, correct_p_values
from esr.extras import require

_RESAMPLES = 1  # the table shows the t-test only


@click.command()
@click.argument("comparison", type=options.FILE)
@click.option(
    "-o",
    "--output",
    required=True,
    type=options.FILE,
    help="JSON Lines of all figures, one cell per line. Existing cells are not computed again.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes.")
def compare(comparison: Path, output: Path, workers: int) -> None:
    """Evaluate every ranking on every collection, and print one table per measure.

    COMPARISON is a JSON file: {"collections": {name: {"index", "topics", "qrels"}}, "rankings": {name:
    ranking}, "measures": ["AP"], "baseline": name}. Without rankings, every model is evaluated in every
    context. With "parameters": ["default", "tuned", "estimated"] each ranking is evaluated with its own
    parameters, with those tuned on four fifths of the topics for the last fifth, and with those estimated
    from the collection. An interrupted call resumes where it stopped. * and ** mark differences from the
    baseline at 95 % and 99 % (paired t-test, Holm's correction).

    \b
    Example:
      esr compare comparison.json -o figures.jsonl
    """
    require("esr compare", "ir_measures", "scipy")
    plan = ComparisonPlan.from_file(comparison)
    all_cells = build_cells(plan)
    try:
        inputs = (file for c in plan.collections.values() for file in (c.topics, c.qrels))
        check_output(output, comparison, *inputs)
        results = read_results(output)
        keys = [cell.key() for cell in all_cells]
        missing = {key: cell for key, cell in zip(keys, all_cells, strict=True) if key not in results}
        for result in tqdm(
            compute_cells(missing, output, workers),
            total=len(missing),
            unit=" cells",
            disable=None,
            leave=False,
        ):
            results[result["key"]] = result
    except OSError as error:
        raise EsrError(f"cannot use {error.filename or output}: {error.strerror}") from error
    table = {
        (cell.collection, cell.ranking, cell.parameters): results[key]
        for key, cell in zip(keys, all_cells, strict=True)
    }
    for name in plan.measures:
        click.echo(f"{name}\n{_format_table(plan, table, name)}\n")


Results = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""By collection, ranking and source of parameters."""


def _format_table(plan: ComparisonPlan, results: Results, measure: str) -> str:
    """One row per ranking and source of parameters, compared with the baseline from the same source."""
    marks = _find_marks(plan, results, measure)
    rows = [["", *plan.collections]]
    for ranking, source in product(plan.rankings, plan.parameters):
        keys = [(collection, ranking, source) for collection in plan.collections]
        figures = [f"{results[key]['measures'][measure]:.4f}{marks.get(key, ''):<2}" for key in keys]
        rows.append([ranking if len(plan.parameters) == 1 else f"{ranking}, {source}", *figures])
    return align_columns(rows, left=1)


def _find_marks(plan: ComparisonPlan, results: Results, measure: str) -> dict[tuple[str, str, str], str]:
    """The marks of significant differences from the baseline."""
    marks: dict[tuple[str, str, str], str] = {}
    if plan.baseline is None:
        return marks
    rankings = [name for name in plan.rankings if name != plan.baseline]
    for collection, source in product(plan.collections, plan.parameters):
        baseline = results[collection, plan.baseline, source]["values"][measure]
        tests = [
            compare_systems(
                results[collection, name, source]["values"][measure], baseline, resamples=_RESAMPLES
            )
            for name in rankings
        ]
        for name, test in zip(rankings, correct_p_values(tests), strict=True):
            marks[collection, name, source] = test.mark
    return marks
