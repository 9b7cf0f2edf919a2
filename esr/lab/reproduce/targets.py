"""Claims of the papers as targets, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from esr.lab.reproduce.experiment_results import ExperimentResults

MET, NOT_MET, RUN = "met", "not met", "run"
UNCHECKED, UNJUDGED = "cannot be checked", "not judged"
MARKS = {
    MET: "all lines hold",
    NOT_MET: "a line does not hold",
    RUN: "the experiment has its tables, and nothing survives to compare them with",
    UNCHECKED: "the data or the training are missing",
    UNJUDGED: "no command can judge it; the reason stands beside it",
}
REPORTED = "reported"
"""Placeholder for a figure of the paper that is lost."""


class Line(NamedTuple):
    """A claimed number and the number found. `holds` is None if data or training are missing."""

    what: str
    claimed: str
    found: str
    holds: bool | None


Check = Callable[[ExperimentResults], list[Line]]
KINDS = {"D": "data", "E": "experiment", "F": "finding"}
PAPERS = {
    "FLA": "Fernández, Losada & Azzopardi 2011",
    "FL": "Fernández & Losada 2012",
    "TDSR": "Cai, Bu, Chen & Liu 2007",
    "MRF": "Cai, Chen, Liu, Bu & Huang 2007",
}


@dataclass(frozen=True)
class Target:
    """A statistic of the data, an experiment or a finding that a paper reports.

    `id` is paper, kind and number, such as FLA-F8. `differs` says what differs from the paper, or without a
    `check`, why the target is not checked.
    """

    id: str
    claim: str
    check: Check | None
    differs: str = ""

    @property
    def paper(self) -> str:
        return PAPERS[self.id.partition("-")[0]]

    @property
    def kind(self) -> str:
        return KINDS[self.id.partition("-")[2][0]]


class Verdict(NamedTuple):
    """The mark of a target, and the lines of its check."""

    target: Target
    mark: str
    lines: list[Line]


def judge(target: Target, results: ExperimentResults) -> Verdict:
    """Judge a target: met if all lines hold, not met if any fails, otherwise unchecked."""
    if target.check is None:
        return Verdict(target, UNJUDGED, [])
    lines = target.check(results)
    return Verdict(target, choose_mark(lines), lines)


def choose_mark(lines: Sequence[Line]) -> str:
    """The mark that follows from lines."""
    if any(line.holds is False for line in lines):
        return NOT_MET
    if not lines or not all(line.holds for line in lines):
        return UNCHECKED
    return RUN if all(line.claimed == REPORTED for line in lines) else MET
