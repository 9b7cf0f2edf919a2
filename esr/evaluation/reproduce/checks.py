"""The kinds of checks that targets are made of: a number nearby, a parameter, one system above another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from esr.evaluation.reproduce.found import Found
from esr.evaluation.reproduce.target import Check, Line

LEVEL = 0.05
_NOT_THERE = "the data or the training are not there"
Value = Callable[[Found], float | None]


def every(*checks: Check) -> Check:
    """All lines of several checks."""
    return lambda found: [line for check in checks for line in check(found)]


def near(what: str, claimed: float, tolerance: float, *values: Value, digits: int = 2) -> Check:
    """A number within the tolerance. Of several readings of it, one is enough."""

    def check(found: Found) -> list[Line]:
        numbers = [value(found) for value in values]
        there = [number for number in numbers if number is not None]
        text = f"{claimed:.{digits}f} ± {tolerance:.{digits}f}"
        if not there:
            return [Line(what, text, _NOT_THERE, None)]
        holds = any(abs(number - claimed) <= tolerance for number in there)
        return [Line(what, text, " or ".join(f"{number:.{digits}f}" for number in there), holds)]

    return check


def chosen(train: str, system: str, **claimed: float) -> Check:
    """The parameters that training chose."""

    def check(found: Found) -> list[Line]:
        setting = found.setting(train, system)
        lines = []
        for name, value in claimed.items():
            there = setting.get(name)
            holds = None if not isinstance(there, float) else math.isclose(there, value, abs_tol=1e-9)
            text = _NOT_THERE if there is None else f"{there:g}" if isinstance(there, float) else str(there)
            lines.append(Line(f"{name} of {system}, trained on {train}", f"{value:g}", text, holds))
        return lines

    return check


def _passes(kind: str, difference: float, p: float) -> bool:
    significant = p < LEVEL  # False where p is NaN
    return {
        "above": difference > 0,
        "not below": difference >= 0,
        "significantly above": significant and difference > 0,
        "not significantly above": not (significant and difference > 0),
        "not significantly below": not (significant and difference < 0),
        "below": difference < 0,
        "not significantly different from": not significant,
    }[kind]


def against(
    kind: str,
    train: str,
    tests: Iterable[str],
    systems: Sequence[str],
    others: Sequence[str],
    measures: Sequence[str] = ("AP", "RPrec"),
) -> Check:
    """Each of the systems stands to each of the others as `kind` says, such as `significantly above`."""
    years = tuple(tests)

    def line(found: Found, test: str, system: str, other: str, measure: str) -> Line:
        what = f"{measure} of {system}, {train} to {test}"
        comparison = found.compared(train, test, system, other, measure)
        ours, theirs = found.of(train, test, system), found.of(train, test, other)
        if comparison is None or ours is None or theirs is None:
            return Line(what, f"{kind} {other}", _NOT_THERE, None)
        holds = _passes(kind, comparison.difference, comparison.t_test)
        text = f"{ours.means[measure]:.4f} against {theirs.means[measure]:.4f}, p {comparison.t_test:.3f}"
        return Line(what, f"{kind} {other}", text, holds)

    def check(found: Found) -> list[Line]:
        return [
            line(found, test, system, other, measure)
            for test in years
            for system in systems
            for other in others
            if system != other
            for measure in measures
        ]

    return check


def most(check: Check) -> Check:
    """More than half of the lines hold. They become one line, with all of their numbers."""

    def counted(found: Found) -> list[Line]:
        lines = check(found)
        known = [line for line in lines if line.holds is not None]
        if len(known) < len(lines) or not known:
            return [Line("most of the comparisons", "more than half", _NOT_THERE, None)]
        number = sum(bool(line.holds) for line in known)
        text = f"{number} of {len(known)}: " + "; ".join(f"{line.what} {line.found}" for line in known)
        return [Line("most of the comparisons", "more than half", text, 2 * number > len(known))]

    return counted
