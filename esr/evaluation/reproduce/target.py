"""A claim of a paper, and what came of it here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from esr.evaluation.reproduce.found import Found

MET, NOT_MET, UNCHECKED, NOT_BUILT = "met", "not met", "cannot be checked", "not built yet"


class Line(NamedTuple):
    """One number beside another. `holds` is None if the data or the training it needs are not there."""

    what: str
    claimed: str
    found: str
    holds: bool | None


Check = Callable[[Found], list[Line]]


def not_built(found: Found) -> list[Line]:
    """The check of a claim about something that esr does not have."""
    return []


@dataclass(frozen=True)
class Target:
    """A claim that survives of a paper: where it stands, and how it is checked."""

    id: str
    claim: str
    source: str
    check: Check


class Verdict(NamedTuple):
    """The mark of a target, and the numbers beside each other."""

    target: Target
    mark: str
    lines: list[Line]


def judge(target: Target, found: Found) -> Verdict:
    """Met if all of its lines hold; a line that fails decides before one that cannot be checked."""
    if target.check is not_built:
        return Verdict(target, NOT_BUILT, [])
    lines = target.check(found)
    if any(line.holds is False for line in lines):
        mark = NOT_MET
    else:
        mark = MET if lines and all(line.holds for line in lines) else UNCHECKED
    return Verdict(target, mark, lines)
