"""All targets, in the order of the papers; those of the two papers on term dependence are here.

Cai, Bu, Chen & Liu 2007 (docs/formulas.md, C.6) and Cai, Chen, Liu, Bu & Huang 2007 (D.10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from esr.lab.reproduce import claims_context, claims_evidence
from esr.lab.reproduce.checks import BOTH_WAYS, Value, all_of, compared, figure, has_rows, near, ordered
from esr.lab.reproduce.experiment_results import ExperimentResults
from esr.lab.reproduce.pooled_years import CROSSED, POOLED_SYSTEMS, READINGS
from esr.lab.reproduce.protocol import RECALL_MEASURES, TOP_MEASURES
from esr.lab.reproduce.systems import MRF_SUFFIXES, TDSR_READINGS
from esr.lab.reproduce.targets import Check, Line, Target

PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "2003": {"tfisf": 0.308, "okapi": 0.239, "kld": 0.281, "tdsr": 0.355},
    "2004": {"tfisf": 0.215, "okapi": 0.165, "kld": 0.204, "tdsr": 0.237},
}
"""Table 1 of the third paper, the only complete table of the four papers."""
_TOLERANCE, _POINTS = 0.01, 3.0
_BASELINES = ("tfisf", "okapi", "kld")
_OTHER = {test: train for train, test in BOTH_WAYS}


def _average_precision(year: str, system: str) -> Value:
    """The AP of a system on a year.

    KLD and TDSR are trained on the other year, since the paper gives no parameters. The others need no
    training.
    """

    def value(results: ExperimentResults) -> float | None:
        if system in ("kld", "tdsr"):
            return figure(_OTHER[year], year, system, "AP")(results)
        figures = results.untrained_figures(year, system)
        return None if figures is None else figures.means["AP"]

    return value


def _gain(year: str, system: str) -> Value:
    """The gain over tfisf in per cent."""

    def value(results: ExperimentResults) -> float | None:
        ours, theirs = (_average_precision(year, name)(results) for name in (system, "tfisf"))
        return None if ours is None or not theirs else 100.0 * (ours / theirs - 1.0)

    return value


def _published(*systems: str) -> Check:
    return all_of(
        near(f"AP of {system}, {y}", n[system], _TOLERANCE, _average_precision(y, system), digits=3)
        for system in systems
        for y, n in PUBLISHED.items()
    )


def _gains(*systems: str) -> Check:
    """Check the percentages that follow the values of the table."""
    return all_of(
        near(
            f"AP of {system} over tfisf in %, {year}",
            100.0 * (values[system] / values["tfisf"] - 1.0),
            _POINTS,
            _gain(year, system),
            digits=1,
        )
        for system in systems
        for year, values in PUBLISHED.items()
    )


def _in_nearest_collection(build: Callable[[Sequence[tuple[str, str]]], Check]) -> Check:
    """Check in AQUAINT if the folder has it, otherwise in the documents of both years."""

    def check(results: ExperimentResults) -> list[Line]:
        reading = "aquaint" if (CROSSED, "aquaint") in results.pooled else "pooled"
        return build([(CROSSED, reading)])(results)

    return check


_DEPENDENT = [model + suffix for suffix in MRF_SUFFIXES.values() for model in ("sdm", "fdm")]
_COLLECTION = (
    "judged in AQUAINT if the folder has it, otherwise in the documents of both years; k is lost, so each of "
    f"{', '.join(TOP_MEASURES)} is asked for; both readings of the first potential are"
)


def _report_readings(results: ExperimentResults) -> list[Line]:
    """Report the tables over the topics' documents, those of both years, and AQUAINT if available."""
    readings = [name for name in READINGS if name != "aquaint" or (CROSSED, name) in results.pooled]
    return has_rows(POOLED_SYSTEMS, [(CROSSED, name) for name in readings])(results)


_DEPENDENCE = (
    Target(
        "TDSR-E1",
        "Table 1: AP of TFIDF .308 / .215, OKAPI .239 / .165, KLD .281 / .204, TDSR .355 / .237",
        _published(*_BASELINES, "tdsr"),
        "OKAPI has k1 1.2 and b 0.75; KLD and TDSR are trained on the other year; the formula of TDSR is "
        f"lost; the reading is exp; others are in the tables: {', '.join(list(TDSR_READINGS)[1:])}",
    ),
    Target(
        "TDSR-E2",
        "Figures 2 and 3: precision-recall curves of the four models",
        has_rows([*_BASELINES, *TDSR_READINGS], BOTH_WAYS),
        "tables of precision at 11 points of recall, instead of pictures",
    ),
    Target(
        "TDSR-F1",
        "TDSR is above TFIDF: +15.3 %, +10.2 %",
        all_of(compared("above", ["tdsr"], ["tfisf"], ["AP"], BOTH_WAYS), _gains("tdsr")),
        f"within {_POINTS:g} points; no test of significance is mentioned, so none is asked for",
    ),
    Target(
        "TDSR-F2",
        "TFIDF is above KLD, and KLD above OKAPI: OKAPI -22.4 %, -23.3 %; KLD -8.8 %, -5.1 %",
        all_of(
            *(
                ordered(
                    f"AP, {year}",
                    *((name, _average_precision(year, name)) for name in ("tfisf", "kld", "okapi")),
                )
                for year in PUBLISHED
            ),
            _gains("okapi", "kld"),
        ),
        f"within {_POINTS:g} points",
    ),
    Target(
        "TDSR-F3",
        "TDSR is above the others at every level of recall",
        compared("above", ["tdsr"], _BASELINES, RECALL_MEASURES, BOTH_WAYS),
        "at 11 points of recall",
    ),
    Target(
        "MRF-E1",
        "Tables 1 and 2: FIDM, SDM and FDM against TFIDF and KLD, by P@k",
        _report_readings,
        "the division of the two tables and all figures are lost; each topic has what was trained on the "
        "other year's; the collection is read in three ways",
    ),
    Target(
        "MRF-F1",
        "SDM and FDM are clearly above TFIDF and KLD",
        _in_nearest_collection(
            lambda pairs: compared("above", _DEPENDENT, ("tfisf", "kld"), TOP_MEASURES, pairs)
        ),
        _COLLECTION,
    ),
    Target(
        "MRF-F2",
        "SDM and FDM are clearly above FIDM",
        _in_nearest_collection(
            lambda pairs: all_of(
                compared(
                    "above",
                    [f"{m}{suffix}" for m in ("sdm", "fdm")],
                    [f"fidm{suffix}"],
                    TOP_MEASURES,
                    pairs,
                )
                for suffix in MRF_SUFFIXES.values()
            )
        ),
        _COLLECTION,
    ),
)
TARGETS: tuple[Target, ...] = (*claims_context.TARGETS, *claims_evidence.TARGETS, *_DEPENDENCE)
ADDED = ("FLA-F22", "FLA-F23", "FLA-F24", "FLA-F25", "FLA-F26", *(f"FL-F{n}" for n in range(23, 28)))
"""Targets that were added to the first list after a second reading of the papers."""
