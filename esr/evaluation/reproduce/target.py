"""A claim of a paper, and whether it holds here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from esr.evaluation.reproduce.experiment_results import ExperimentResults

MET, NOT_MET, UNCHECKED, NOT_BUILT = "met", "not met", "cannot be checked", "not built yet"


class Line(NamedTuple):
    """A claimed number and the one found here. `holds` is None if data or training are missing."""

    what: str
    claimed: str
    found: str
    holds: bool | None


Check = Callable[[ExperimentResults], list[Line]]


def not_built(results: ExperimentResults) -> list[Line]:
    """The check of a claim about something that esr does not have."""
    return []


@dataclass(frozen=True)
class Target:
    """A claim that survives of a paper, its source, and its check."""

    id: str
    claim: str
    source: str
    check: Check


class Verdict(NamedTuple):
    """A target's mark and the lines of its check."""

    target: Target
    mark: str
    lines: list[Line]


def judge(target: Target, results: ExperimentResults) -> Verdict:
    """Met if all of its lines hold. A line that fails outweighs lines that cannot be checked."""
    if target.check is not_built:
        return Verdict(target, NOT_BUILT, [])
    lines = target.check(results)
    if any(line.holds is False for line in lines):
        mark = NOT_MET
    else:
        mark = MET if lines and all(line.holds for line in lines) else UNCHECKED
    return Verdict(target, mark, lines)
