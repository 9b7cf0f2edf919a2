"""The kinds of checks in targets: a number within a tolerance, a parameter, one system above another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from esr.evaluation.formatting import format_p
from esr.evaluation.reproduce.experiment_results import ExperimentResults
from esr.evaluation.reproduce.target import Check, Line

LEVEL = 0.05
NO_DATA = "the data or the training are missing"
Value = Callable[[ExperimentResults], float | None]


def all_of(*checks: Check) -> Check:
    """The lines of several checks."""
    return lambda results: [line for check in checks for line in check(results)]


def near(label: str, claimed: float, tolerance: float, *values: Value, digits: int = 2) -> Check:
    """A number within the tolerance. If it has several interpretations, one is enough."""

    def check(results: ExperimentResults) -> list[Line]:
        all_numbers = [value(results) for value in values]
        numbers = [number for number in all_numbers if number is not None]
        text = f"{claimed:.{digits}f} ± {tolerance:.{digits}f}"
        if not numbers:
            return [Line(label, text, NO_DATA, None)]
        holds = any(abs(number - claimed) <= tolerance for number in numbers)
        return [Line(label, text, " or ".join(f"{number:.{digits}f}" for number in numbers), holds)]

    return check


def tuned_to(train: str, system: str, **claimed: float) -> Check:
    """The parameters that training selects."""

    def check(results: ExperimentResults) -> list[Line]:
        parameters = results.parameters(train, system)
        lines = []
        for name, value in claimed.items():
            actual = parameters.get(name)
            holds = None if not isinstance(actual, float) else math.isclose(actual, value, abs_tol=1e-9)
            text = NO_DATA if actual is None else f"{actual:g}" if isinstance(actual, float) else str(actual)
            lines.append(Line(f"{name} of {system}, trained on {train}", f"{value:g}", text, holds))
        return lines

    return check


def _is_satisfied(relation: str, difference: float, p: float) -> bool:
    significant = p < LEVEL  # False where p is NaN
    return {
        "above": difference > 0,
        "not below": difference >= 0,
        "significantly above": significant and difference > 0,
        "not significantly above": not (significant and difference > 0),
        "not significantly below": not (significant and difference < 0),
        "below": difference < 0,
        "not significantly different from": not significant,
    }[relation]


def compared(
    relation: str,
    train: str,
    tests: Iterable[str],
    systems: Sequence[str],
    others: Sequence[str],
    measures: Sequence[str] = ("AP", "RPrec"),
) -> Check:
    """Each system has this relation, such as `significantly above`, to each of the others."""
    years = tuple(tests)

    def compare(results: ExperimentResults, test: str, system: str, other: str, measure: str) -> Line:
        label, claimed = f"{measure} of {system}, {train} to {test}", f"{relation} {other}"
        comparison = results.compare(train, test, system, other, measure)
        ours, theirs = results.figures(train, test, system), results.figures(train, test, other)
        if comparison is None or ours is None or theirs is None:
            return Line(label, claimed, NO_DATA, None)
        holds = _is_satisfied(relation, comparison.difference, comparison.t_test)
        p = format_p(comparison.t_test, 3)
        text = f"{ours.means[measure]:.4f} against {theirs.means[measure]:.4f}, p {p}"
        return Line(label, claimed, text, holds)

    def check(results: ExperimentResults) -> list[Line]:
        return [
            compare(results, test, system, other, measure)
            for test in years
            for system in systems
            for other in others
            if system != other
            for measure in measures
        ]

    return check


def majority_of(check: Check) -> Check:
    """More than half of the lines hold. They become one line with all of their numbers."""
    label, claimed = "most of the comparisons", "more than half"

    def count(results: ExperimentResults) -> list[Line]:
        lines = check(results)
        checked = [line for line in lines if line.holds is not None]
        if len(checked) < len(lines) or not checked:
            return [Line(label, claimed, NO_DATA, None)]
        number = sum(bool(line.holds) for line in checked)
        text = f"{number} of {len(checked)}: " + "; ".join(f"{line.what} {line.found}" for line in checked)
        return [Line(label, claimed, text, 2 * number > len(checked))]

    return count
