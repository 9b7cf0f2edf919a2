"""The claims of the three papers that survive, each with a check against the results of the experiment.

The papers are Fernández, Losada & Azzopardi 2011 (docs/formulas.md, A.15), Fernández & Losada 2012 (B.10 and
B.11) and Cai et al. 2007 (C.6). A check compares a number within a tolerance, a trained parameter, or two
systems, and yields lines, which decide the verdict. A line without data is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from esr.lab.measures import SystemComparison, compare_systems
from esr.lab.reproduce import systems
from esr.lab.reproduce.data import YEARS, Findings
from esr.lab.reproduce.second_task import SecondTask, YearStatistics
from esr.lab.reproduce.systems import (
    CONTEXTS,
    MAIN,
    Protocol,
    SystemFigures,
    TrainedSystem,
    language_models,
    with_prior,
)
from esr.lab.results import format_p

_RESAMPLES = 1  # the papers use only the t-test


@dataclass(frozen=True)
class ExperimentResults:
    """All results: `trained` by training year and system, `tested` by training and test year and system.

    `interpretations` has the AP of tfisf by year and interpretation of the protocol. `second_task` has only
    the years with judgements of new sentences. `absent` has the years without data.
    """

    protocol: Protocol
    absent: list[str]
    statistics: Mapping[str, YearStatistics]
    findings: Mapping[str, Findings]
    trained: Mapping[str, Mapping[str, TrainedSystem]]
    tested: Mapping[tuple[str, str], Mapping[str, SystemFigures]]
    interpretations: Mapping[str, Mapping[str, float]]
    second_task: Mapping[str, SecondTask] = field(default_factory=dict)

    def figures(self, train: str, test: str, system: str) -> SystemFigures | None:
        """A system's figures, or None without figures for these years."""
        return self.tested.get((train, test), {}).get(system)

    def untrained_figures(self, test: str, system: str) -> SystemFigures | None:
        """The figures of a system without parameters. They are the same for every training year."""
        pairs = (pair for pair in self.tested if pair[1] == test)
        return next((self.tested[pair][system] for pair in pairs), None)

    def parameters(self, train: str, system: str) -> Mapping[str, object]:
        """The trained parameters; empty if the system was not trained."""
        trained = self.trained.get(train, {}).get(system)
        return {} if trained is None else trained.ranking.params

    def compare(
        self, train: str, test: str, system: str, other: str, measure: str
    ) -> SystemComparison | None:
        """A system compared with another one, or None if either has no figures."""
        ours, theirs = self.figures(train, test, system), self.figures(train, test, other)
        if ours is None or theirs is None:
            return None
        return compare_systems(ours.values[measure], theirs.values[measure], resamples=_RESAMPLES)


# Targets and verdicts


MET, NOT_MET, UNCHECKED, NOT_BUILT = "met", "not met", "cannot be checked", "not built yet"


class Line(NamedTuple):
    """A claimed number and the number found. `holds` is None if data or training are missing."""

    what: str
    claimed: str
    found: str
    holds: bool | None


Check = Callable[[ExperimentResults], list[Line]]


def not_built(results: ExperimentResults) -> list[Line]:
    """Stands in for the check of a claim about something that esr does not have."""
    return []


@dataclass(frozen=True)
class Target:
    """A surviving claim of a paper, its source, and its check."""

    id: str
    claim: str
    source: str
    check: Check


class Verdict(NamedTuple):
    """The mark of a target, and the lines of its check."""

    target: Target
    mark: str
    lines: list[Line]


def judge(target: Target, results: ExperimentResults) -> Verdict:
    """Judge a target: met if all lines hold, not met if any fails, otherwise unchecked."""
    if target.check is not_built:
        return Verdict(target, NOT_BUILT, [])
    lines = target.check(results)
    if any(line.holds is False for line in lines):
        mark = NOT_MET
    else:
        mark = MET if lines and all(line.holds for line in lines) else UNCHECKED
    return Verdict(target, mark, lines)


# Kinds of checks


LEVEL = 0.05
NO_DATA = "the data or the training are missing"
Value = Callable[[ExperimentResults], float | None]


def all_of(*checks: Check) -> Check:
    """Concatenate the lines of several checks."""
    return lambda results: [line for check in checks for line in check(results)]


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
    train: str,
    tests: Iterable[str],
    systems: Sequence[str],
    others: Sequence[str],
    measures: Sequence[str] = ("AP", "RPrec"),
) -> Check:
    """Check that each system has a relation, such as `significantly above`, to each of the others."""
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


# Claims of the first paper


TESTS = tuple(year for year in YEARS if year != MAIN)
_PLAIN = language_models()
_PRIOR = [with_prior(name) for name in _PLAIN]
_BASE = ("tfisf", "dir")


def _in(*names: str) -> list[str]:
    """The names of these models in each context."""
    return [f"{name} {context}" for name in names for context in CONTEXTS]


def _year_statistic(year: str, name: str, factor: float = 1.0) -> Value:
    """A statistic of a year's data, times a factor; None without data."""

    def value(results: ExperimentResults) -> float | None:
        if year not in results.statistics:
            return None
        number: float = getattr(results.statistics[year], name) * factor
        return number

    return value


def _top_length(test: str, system: str) -> Value:
    def value(results: ExperimentResults) -> float | None:
        figures = results.figures(MAIN, test, system)
        return None if figures is None else figures.top_length

    return value


def relevant_shares(claimed: dict[str, float]) -> Check:
    """Check the share of relevant sentences of each year, in per cent."""
    return all_of(
        *(
            near(
                f"relevant in {year}, % (micro or macro)",
                percent,
                0.5,
                _year_statistic(year, "relevant_micro", 100.0),
                _year_statistic(year, "relevant_macro", 100.0),
            )
            for year, percent in claimed.items()
        )
    )


def _lengths() -> Check:
    return all_of(
        *(near(f"terms of a sentence, {y}", 9.0, 1.0, _year_statistic(y, "sentence_length")) for y in YEARS),
        *(
            near(f"terms of a relevant one, {y}", 14.0, 1.5, _year_statistic(y, "relevant_length"))
            for y in YEARS
        ),
    )


def _check_longest(results: ExperimentResults) -> list[Line]:
    """Check that in each context 2S-I has the longest top of the language models without a prior."""
    lines = []
    for test in TESTS:
        for context in CONTEXTS:
            system = f"2si {context}"
            others = [name for name in _PLAIN if name.endswith(context) or " " not in name]
            all_lengths = {name: _top_length(test, name)(results) for name in others}
            lengths = {name: value for name, value in all_lengths.items() if value is not None}
            label = f"top-100 length of {system}, {test}"
            if system not in lengths:
                lines.append(Line(label, "longest", NO_DATA, None))
                continue
            own = lengths.pop(system)
            name, second = max(lengths.items(), key=lambda item: item[1])
            lines.append(Line(label, "longest", f"{own:.2f} against {second:.2f} of {name}", own > second))
    return lines


def _top_lengths(model: str, claimed: dict[str, float]) -> Check:
    return all_of(
        *(
            near(
                f"top-100 length of {model}, {test} (document or surrounding)",
                number,
                0.5,
                *(_top_length(test, name) for name in _in(model)),
            )
            for test, number in claimed.items()
        )
    )


_prior_lengths = all_of(
    *(near(f"top-100 length of {s}, {t}", 20.0, 2.0, _top_length(t, s)) for t in TESTS for s in _PRIOR)
)
_others = [name for name in _PLAIN if not name.startswith("2si")]
SOURCE = "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.15, "
_CLAIMS: tuple[tuple[str, Check], ...] = (
    (
        "relevant sentences: 2002 2 %, 2003 39.07 %, 2004 15.97 %",
        relevant_shares({"2002": 2, "2003": 39.07, "2004": 15.97}),
    ),
    ("sentences have about 9 terms, relevant ones about 14", _lengths()),
    (
        "top-100 length without p(d|s): 2S-I 13.71 and 13.66, 3MM 12.68 and 12.67, all shorter than 2S-I",
        all_of(
            _top_lengths("2si", {"2003": 13.71, "2004": 13.66}),
            _top_lengths("3mm", {"2003": 12.68, "2004": 12.67}),
            _check_longest,
        ),
    ),
    ("top-100 length with p(d|s) is about 20 for every language model", _prior_lengths),
    ("the best BM25 has b = 0", tuned_to(MAIN, "bm25", b=0.0)),
    (
        "the best BM25f has b_sent = 0 and alpha = 1 in either context: it is BM25",
        all_of(*(tuned_to(MAIN, name, b_sent=0.0, alpha=1.0) for name in _in("bm25f"))),
    ),
    (
        "the best tfmix has alpha 1 with the document, 0.6 with the surrounding sentences (worse than tfisf "
        "on 2003, equal on 2004)",
        all_of(
            tuned_to(MAIN, "tfmix document", alpha=1.0),
            tuned_to(MAIN, "tfmix surrounding", alpha=0.6),
            compared("below", MAIN, ["2003"], ["tfmix surrounding"], ["tfisf"], ["AP"]),
            compared(
                "not significantly different from", MAIN, ["2004"], ["tfmix surrounding"], ["tfisf"], ["AP"]
            ),
        ),
    ),
    (
        "without p(d|s) 2S-I is best in AP and R-Prec, significantly above tfisf and dir in both contexts; "
        "the document is slightly better than the surrounding sentences, not significantly",
        all_of(
            compared("significantly above", MAIN, TESTS, _in("2si"), _BASE),
            compared("above", MAIN, TESTS, _in("2si"), _others),
            compared("not below", MAIN, TESTS, ["2si document"], ["2si surrounding"]),
            compared("not significantly different from", MAIN, TESTS, ["2si document"], ["2si surrounding"]),
        ),
    ),
    (
        "without p(d|s) 3MM and 2S bring nothing; 3MM is below both baselines",
        all_of(
            compared("not significantly above", MAIN, TESTS, _in("2s"), _BASE),
            compared("below", MAIN, TESTS, _in("3mm"), _BASE),
        ),
    ),
    (
        "P@10 of most context models is below the baselines; 2S-I with surrounding sentences has the best "
        "of 2004",
        all_of(
            majority_of(compared("below", MAIN, TESTS, _in(*systems.WITH_CONTEXT), _BASE, ["P@10"])),
            compared("above", MAIN, ["2004"], ["2si surrounding"], ["tfisf", "bm25", *_PLAIN], ["P@10"]),
        ),
    ),
    (
        "with p(d|s) every language model improves significantly and beats tfisf and BM25 in AP and R-Prec; "
        "smoothing methods do not differ significantly; 2S-I itself hardly changes",
        all_of(
            *(compared("significantly above", MAIN, TESTS, [with_prior(name)], [name]) for name in _others),
            compared("above", MAIN, TESTS, _PRIOR, ["tfisf", "bm25"]),
            *(
                compared("not significantly different from", MAIN, TESTS, [system], _PRIOR[position + 1 :])
                for position, system in enumerate(_PRIOR)
            ),
            *(
                compared("not significantly different from", MAIN, TESTS, [with_prior(name)], [name])
                for name in _in("2si")
            ),
        ),
    ),
    (
        "the length prior brings JM and DIR significantly up, but not above 2S-I",
        all_of(
            *(compared("significantly above", MAIN, TESTS, [f"{m} + length"], [m]) for m in systems.ALONE),
            compared(
                "not significantly above", MAIN, TESTS, [f"{m} + length" for m in systems.ALONE], _in("2si")
            ),
        ),
    ),
    (
        "tfisf and tuned BM25 are about equal; idfdoc changes nothing significantly",
        compared("not significantly different from", MAIN, TESTS, ["bm25", "idfdoc"], ["tfisf"]),
    ),
)
TARGETS_2011 = tuple(
    Target(f"A{number}", claim, f"{SOURCE}{number}", check)
    for number, (claim, check) in enumerate(_CLAIMS, 1)
)


# Claims of the second and third paper


_DATA = "Fernández & Losada 2012; docs/formulas.md, B.10"
_RESULTS = "Fernández & Losada 2012; docs/formulas.md, B.11"
_TDSR = "Cai et al. 2007; docs/formulas.md, C.6"
_BOTH_WAYS = (("2003", "2004"), ("2004", "2003"))
_PUBLISHED = {
    "2003": {"tfisf": 0.308, "okapi": 0.239, "kld": 0.281},
    "2004": {"tfisf": 0.215, "okapi": 0.165, "kld": 0.204},
}
_TOLERANCE = 0.01


def _average_precision(year: str, system: str) -> Value:
    """The AP of a system on a year.

    KLD has the parameters trained on the other year, since the paper gives none. The others need no training.
    """

    def value(results: ExperimentResults) -> float | None:
        other = next(train for train, test in _BOTH_WAYS if test == year)
        if system == "kld":
            figures = results.figures(other, year, "kld")
        else:
            figures = results.untrained_figures(year, system)
        return None if figures is None else figures.means["AP"]

    return value


def _published(system: str) -> Check:
    return all_of(
        *(
            near(f"AP of {system}, {y}", n[system], _TOLERANCE, _average_precision(y, system), digits=3)
            for y, n in _PUBLISHED.items()
        )
    )


def _check_order(results: ExperimentResults) -> list[Line]:
    """Check that TFIDF is above KLD, and KLD above OKAPI, in both years."""
    lines = []
    for year in _PUBLISHED:
        names = ("tfisf", "kld", "okapi")
        all_numbers = [_average_precision(year, name)(results) for name in names]
        numbers = [number for number in all_numbers if number is not None]
        claimed = " > ".join(names)
        if len(numbers) < len(names):
            lines.append(Line(f"AP, {year}", claimed, NO_DATA, None))
            continue
        text = ", ".join(f"{name} {number:.3f}" for name, number in zip(names, numbers, strict=True))
        lines.append(Line(f"AP, {year}", claimed, text, numbers[0] > numbers[1] > numbers[2]))
    return lines


_tfisf = all_of(
    *(
        compared("not significantly below", train, [test], ["tfisf"], ["bm25", "kld"], ["P@10", "AP"])
        for train, test in _BOTH_WAYS
    )
)
TARGETS = (
    Target(
        "B0", "relevant sentences: 2003 38 %, 2004 19 %", _DATA, relevant_shares({"2003": 38.0, "2004": 19.0})
    ),
    Target("B1", "tfisf is at least as good as tuned BM25 and KLD", _RESULTS, _tfisf),
    Target("B2", "FLOE of opinion features: F_subj significant in P@10 and MAP", _RESULTS, not_built),
    Target("B3", "tfisf + linear(F_subj): +9 % to +26 % over tfisf", _RESULTS, not_built),
    Target("B4", "tfisf + linear(F_subj) + length: +11 % to +29 %", _RESULTS, not_built),
    Target("B5", "named entities: P@10 not improved, MAP hardly changes", _RESULTS, not_built),
    Target("B6", "F_len: FLOE brings nothing, linear or log improve MAP", _RESULTS, not_built),
    Target("B7", "indep(F_len) > 0 from 9 terms on; FLOE(F_len) > 0 below 15", _RESULTS, not_built),
    Target("B8", "named-entity curves: p(I=0) > p(I=0|R) > p(I=0|T)", _RESULTS, not_built),
    Target("B9", "indep(F_pers) > 0 for 1 to 4 persons", _RESULTS, not_built),
    Target("B10", "the features' gains hold for event and opinion topics alike", _RESULTS, not_built),
    Target("C1", "TFIDF: AP 0.308 on N1-N50, 0.215 on N51-N100", _TDSR, _published("tfisf")),
    Target("C2", "OKAPI (k1 1.2, b 0.75): AP 0.239 and 0.165", _TDSR, _published("okapi")),
    Target("C3", "KLD (trained on the other year): AP 0.281 and 0.204", _TDSR, _published("kld")),
    Target("C4", "TFIDF is above KLD, and KLD above OKAPI, in both years", _TDSR, _check_order),
    Target("C5", "TDSR: AP 0.355 and 0.237, above the others", _TDSR, not_built),
)
