"""Kinds of checks of the papers' claims, and the values that they compare.

A check compares a number within a tolerance, a trained parameter, the systems of two rows, or a curve, and
yields lines, which decide the verdict. A line without data is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.lab.curves import Estimates
from esr.lab.reproduce.experiment_results import ExperimentResults
from esr.lab.reproduce.protocol import MAIN
from esr.lab.reproduce.raw_files import YEARS
from esr.lab.reproduce.targets import REPORTED, Check, Line
from esr.lab.results import format_difference, format_p
from esr.plugin.provisional import Array

LEVEL = 0.05
NO_DATA = "the data or the training are missing"
NO_TABLE = "the figures of the paper's table are lost, so there is nothing to compare"
Value = Callable[[ExperimentResults], float | None]
Pairs = Sequence[tuple[str, str]]
"""Training and test years."""


def list_pairs(train: str) -> Pairs:
    """A training year with each of the others as test year."""
    return tuple((train, test) for test in YEARS if test != train)


MAIN_PAIRS = list_pairs(MAIN)
ALL_PAIRS = tuple(pair for year in YEARS for pair in list_pairs(year))
BOTH_WAYS = (("2003", "2004"), ("2004", "2003"))


def all_of(*checks: Check | Iterable[Check]) -> Check:
    """Concatenate the lines of several checks."""
    flat = [check for item in checks for check in ([item] if callable(item) else item)]
    return lambda results: [line for check in flat for line in check(results)]


def near(label: str, claimed: float, tolerance: float, *values: Value, digits: int = 2) -> Check:
    """Check that a number is within the tolerance. One of several interpretations is enough."""

    def check(results: ExperimentResults) -> list[Line]:
        all_numbers = [value(results) for value in values]
        numbers = [number for number in all_numbers if number is not None]
        text = f"{claimed:.{digits}f} ± {tolerance:.{digits}f}"
        if not numbers:
            return [Line(label, text, NO_DATA, None)]
        holds = any(abs(number - claimed) <= tolerance for number in numbers)
        return [Line(label, text, " or ".join(f"{number:.{digits}f}" for number in numbers), holds)]

    return check


def satisfies(
    label: str, claimed: str, value: Value, holds: Callable[[float], bool], digits: int = 3
) -> Check:
    """Check a number by a condition, which `claimed` states in words."""

    def check(results: ExperimentResults) -> list[Line]:
        number = value(results)
        if number is None:
            return [Line(label, claimed, NO_DATA, None)]
        return [Line(label, claimed, f"{number:.{digits}f}", holds(number))]

    return check


def at_least(label: str, least: float, value: Value) -> Check:
    """Check that a number is not below a bound."""
    return satisfies(label, f"at least {least:g}", value, lambda number: number >= least)


def ordered(label: str, *named: tuple[str, Value], digits: int = 3) -> Check:
    """Check that each number is above the next."""

    def check(results: ExperimentResults) -> list[Line]:
        claimed = " > ".join(name for name, _ in named)
        all_numbers = [value(results) for _, value in named]
        numbers = [number for number in all_numbers if number is not None]
        if len(numbers) < len(named):
            return [Line(label, claimed, NO_DATA, None)]
        text = ", ".join(f"{name} {n:.{digits}f}" for (name, _), n in zip(named, numbers, strict=True))
        return [Line(label, claimed, text, all(a > b for a, b in pairwise(numbers)))]

    return check


def tuned_to(train: str, system: str, **claimed: float) -> Check:
    """Check the parameters that training selects."""

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
    significant = p < LEVEL  # False if p is NaN
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
    systems: Iterable[str],
    others: Iterable[str],
    measures: Sequence[str] = ("AP", "RPrec"),
    pairs: Pairs = MAIN_PAIRS,
    kind: str | None = None,
) -> Check:
    """Check that each system has a relation, such as `significantly above`, to each of the others.

    With a kind, on the topics of this kind.
    """
    systems, others = tuple(systems), tuple(others)

    def compare(results: ExperimentResults, train: str, test: str, system: str, other: str, m: str) -> Line:
        label = f"{m} of {system}, {train} to {test}" + (f", {kind} topics" if kind else "")
        claimed = f"{relation} {other}"
        comparison = results.compare(train, test, system, other, m, kind)
        ours = results.values(train, test, system, m, kind)
        theirs = results.values(train, test, other, m, kind)
        if comparison is None or ours is None or theirs is None:
            return Line(label, claimed, NO_DATA, None)
        p = format_p(comparison.t_test, 3)
        text = f"{_mean(ours):.4f} against {_mean(theirs):.4f}: {format_difference(comparison)}, p {p}"
        return Line(label, claimed, text, _is_satisfied(relation, comparison.difference, comparison.t_test))

    def check(results: ExperimentResults) -> list[Line]:
        return [
            compare(results, train, test, system, other, measure)
            for train, test in pairs
            for system in systems
            for other in others
            if system != other
            for measure in measures
        ]

    return check


def _mean(by_topic: Mapping[str, float]) -> float:
    return math.fsum(by_topic.values()) / len(by_topic)


def majority_of(check: Check) -> Check:
    """Check that more than half of the lines hold. They become one line with all their numbers."""
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


def reported(check: Check) -> Check:
    """The lines of a check as a report, without comparison with the paper."""

    def report(results: ExperimentResults) -> list[Line]:
        return [
            Line(f"{subject}, {claimed}", REPORTED, result, None if holds is None else True)
            for subject, claimed, result, holds in check(results)
        ]

    return report


def any_of(label: str, *checks: Check) -> Check:
    """Check that all lines of at least one of the checks hold."""

    def either(results: ExperimentResults) -> list[Line]:
        all_lines = [check(results) for check in checks]
        if any(line.holds is None for lines in all_lines for line in lines):
            return [Line(label, "at least one", NO_DATA, None)]
        text = "; ".join(f"{line.what} {line.found}" for lines in all_lines for line in lines)
        holds = any(all(line.holds for line in lines) for lines in all_lines)
        return [Line(label, "at least one", text, holds)]

    return either


def figure(train: str, test: str, system: str, measure: str) -> Value:
    """A system's mean figure."""

    def value(results: ExperimentResults) -> float | None:
        figures = results.figures(train, test, system)
        return None if figures is None else figures.means[measure]

    return value


def gain(system: str, other: str, measure: str, *, pairs: Pairs) -> list[Value]:
    """The gain of a system over another one in per cent, for each pair of years."""

    def of(train: str, test: str) -> Value:
        def value(results: ExperimentResults) -> float | None:
            ours = figure(train, test, system, measure)(results)
            theirs = figure(train, test, other, measure)(results)
            return None if ours is None or not theirs else 100.0 * (ours / theirs - 1.0)

        return value

    return [of(*pair) for pair in pairs]


def extreme(choose: Callable[[Iterable[float]], float], values: Iterable[Value]) -> Value:
    """The minimum or maximum of some numbers; None if one is missing."""
    values = tuple(values)

    def value(results: ExperimentResults) -> float | None:
        numbers = [number for value in values if (number := value(results)) is not None]
        return choose(numbers) if len(numbers) == len(values) else None

    return value


def top_length(train: str, test: str, system: str) -> Value:
    """The mean length of a system's best sentences."""

    def value(results: ExperimentResults) -> float | None:
        figures = results.figures(train, test, system)
        return None if figures is None else figures.top_length

    return value


def statistic(year: str, name: str, factor: float = 1.0) -> Value:
    """A statistic of a year's data, times a factor; None without data."""

    def value(results: ExperimentResults) -> float | None:
        number = getattr(results.statistics.get(year), name, None)
        return None if number is None else factor * float(number)

    return value


def has_rows(systems: Iterable[str], pairs: Pairs) -> Check:
    """Report that the tables have these systems for these training and test years."""
    systems = tuple(systems)

    def check(results: ExperimentResults) -> list[Line]:
        lines = []
        for train, test in pairs:
            missing = [name for name in systems if results.figures(train, test, name) is None]
            label = f"table of {train} to {test}"
            text = f"{NO_DATA}: {', '.join(missing)}" if missing else f"{len(systems)} systems"
            lines.append(Line(label, REPORTED, text, None if missing else True))
        return lines

    return check


# Checks of curves


Selection = Callable[[Array], npt.NDArray[np.bool_]]
"""A function from a feature's values to booleans, which select some of them."""


def at(value: float) -> Selection:
    return lambda values: np.equal(values, value)


def from_to(low: float, high: float = math.inf) -> Selection:
    """The values from `low` to `high`, both included."""
    return lambda values: np.greater_equal(values, low) & np.less_equal(values, high)


def _compute_on_curves(
    year: str, feature: str, compute: Callable[[Estimates], Any], base: str = "tfisf"
) -> Value:
    """A number computed from the estimates for a feature; None without estimates or by `compute`."""

    def value(results: ExperimentResults) -> float | None:
        estimates = results.curves.get((year, base, feature))
        number = None if estimates is None else compute(estimates)
        return None if number is None else float(number)

    return value


def curve_mean(year: str, feature: str, name: str, where: Selection) -> Value:
    """The mean of a curve, such as `floe`, over the sentences with these values; None without any."""

    def mean(estimates: Estimates) -> Any:
        weights = np.where(where(estimates.values), estimates.everywhere, 0.0)
        return np.average(getattr(estimates, name), weights=weights) if weights.sum() else None

    return _compute_on_curves(year, feature, mean)


def probability(year: str, feature: str, name: str, where: Selection) -> Value:
    """The probability of these values in all, the relevant or the top sentences."""
    return _compute_on_curves(year, feature, lambda curve: np.sum(getattr(curve, name)[where(curve.values)]))


def feature_mean(year: str, feature: str, name: str) -> Value:
    """The mean of a feature in all, the relevant or the top sentences."""
    return _compute_on_curves(
        year, feature, lambda curve: np.average(curve.values, weights=getattr(curve, name))
    )


def curve_size(year: str, feature: str, name: str, base: str = "tfisf") -> Value:
    """The mean distance of a curve from 0 over all sentences."""
    return _compute_on_curves(
        year, feature, lambda curve: np.average(abs(getattr(curve, name)), weights=curve.everywhere), base
    )


def sign_changes(year: str, feature: str, name: str) -> Value:
    """The number of sign changes of a curve from one value to the next."""

    def changes(estimates: Estimates) -> Any:
        signs = np.sign(getattr(estimates, name))
        return np.count_nonzero(np.diff(signs[signs != 0]))

    return _compute_on_curves(year, feature, changes)


def has_curves(features: Iterable[str], years: Iterable[str], base: str = "tfisf") -> Check:
    """Report that these curves are in the output."""
    wanted = [(year, base, feature) for year in years for feature in features]

    def check(results: ExperimentResults) -> list[Line]:
        curves = [(key, results.curves.get(key)) for key in wanted]
        return [
            Line(
                f"curves of {feature} over {base}, {year}",
                REPORTED,
                NO_DATA if curve is None else f"{len(curve.values)} values",
                None if curve is None else True,
            )
            for (year, base, feature), curve in curves
        ]

    return check
