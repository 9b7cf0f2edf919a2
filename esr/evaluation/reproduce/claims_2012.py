"""The surviving claims of the second and third papers about what esr has."""

from __future__ import annotations

from esr.evaluation.reproduce.checks import NO_DATA, Value, all_of, compared, near
from esr.evaluation.reproduce.claims_2011 import relevant_shares
from esr.evaluation.reproduce.experiment_results import ExperimentResults
from esr.evaluation.reproduce.target import Check, Line, Target, not_built

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
    """KLD has the other year's parameters, since the paper gives none. The others need no training."""

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
    """TFIDF above KLD above OKAPI, in both years."""
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
