"""Claims of the second paper (docs/formulas.md, B.11), each tested on one collection's figures and curves.

They were made over tfisf where a topic's few relevant documents are ranked; here whole collections are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks.claims import LEVEL, Verdict
from esr.adjustments.estimate import Estimates
from esr.evaluation.significance import compare_systems

OPINION = ("subj", "pos", "neg", "opt")
NAMES = ("pers", "loc", "org", "ne")


class Found(NamedTuple):
    """Of a collection: for each feature over tfisf, values by form, measure and topic, and its curves."""

    values: Mapping[str, Mapping[str, Any]]
    curves: Callable[[str], Estimates]

    def mean(self, feature: str, form: str, measure: str) -> float:
        return float(np.mean(list(self.values[feature][form][measure].values())))

    def gain(self, feature: str, form: str, measure: str) -> tuple[float, bool]:
        """What the form adds to tfisf, as a share of it, and whether that is significant."""
        given, base = self.values[feature][form][measure], self.values[feature]["base"][measure]
        p = compare_systems(given, base, resamples=1).t_test
        before = self.mean(feature, "base", measure)
        return self.mean(feature, form, measure) / before - 1, bool(p is not None and p < LEVEL)

    def gains(self, feature: str, form: str, measure: str) -> bool:
        gain, significant = self.gain(feature, form, measure)
        return gain > 0 and significant

    def told(self, feature: str, form: str, measure: str) -> str:
        gain, significant = self.gain(feature, form, measure)
        return f"{form}({feature}) {measure} {gain:+.1%}{'' if significant else ' (n.s.)'}"


class Claim(NamedTuple):
    """A claim and its test."""

    text: str
    test: Callable[[Found], Verdict]


def _gains(
    feature: str, form: str, measures: tuple[str, ...], significantly: bool
) -> Callable[[Found], Verdict]:
    def test(found: Found) -> Verdict:
        each = [found.gain(feature, form, measure) for measure in measures]
        holds = all(gain > 0 and (significant or not significantly) for gain, significant in each)
        return Verdict(holds, ", ".join(found.told(feature, form, measure) for measure in measures))

    return test


def _no_gain(features: tuple[str, ...], forms: tuple[str, ...], measure: str) -> Callable[[Found], Verdict]:
    def test(found: Found) -> Verdict:
        better = [
            found.told(feature, form, measure)
            for feature in features
            for form in forms
            if found.gains(feature, form, measure)
        ]
        return Verdict(not better, ", ".join(better) or f"none of {', '.join(features)} gains significantly")

    return test


def _strongest(found: Found) -> Verdict:
    """linear(subj) against every form of every opinion feature."""
    forms = [form for form in found.values["subj"] if form != "base"]
    every = {(f, form): found.mean(f, form, "AP") for f in OPINION for form in forms}
    best = max(every, key=lambda key: every[key])
    shown = f"{found.told('subj', 'linear', 'AP')}; best: {found.told(*best, 'AP')}"
    return Verdict(every["subj", "linear"] >= every[best], shown)


def _length_pays(found: Found) -> Verdict:
    shown = ", ".join(found.told("len", form, "AP") for form in ("linear", "log"))
    return Verdict(any(found.gains("len", form, "AP") for form in ("linear", "log")), shown)


def _turns(form: str, at: int, rising: bool) -> Callable[[Found], Verdict]:
    """Where a curve of the length changes its sign: within three terms of where the paper has it."""

    def test(found: Found) -> Verdict:
        curve = found.curves("len")
        adds = curve.indep if form == "indep" else curve.floe
        near = (curve.values >= 1) & (curve.values <= 30)
        values, positive = curve.values[near], adds[near] > 0
        # The border that leaves the fewest values on the wrong side.
        wrong = [np.sum(positive[:n] == rising) + np.sum(positive[n:] != rising) for n in range(len(values))]
        border = float(values[int(np.argmin(wrong))])
        return Verdict(bool(abs(border - at) <= 3 and min(wrong) <= 3), f"turns at {border:g} terms")

    return test


def _persons(found: Found) -> Verdict:
    curve = found.curves("pers")
    adds = [float(np.interp(n, curve.values, curve.indep)) for n in range(1, 5)]
    return Verdict(min(adds) > 0, "indep(pers) of 1 to 4: " + " ".join(f"{value:+.2f}" for value in adds))


def _none(found: Found) -> Verdict:
    curve = found.curves("ne")
    shares = [float(part[0] / part.sum()) for part in (curve.everywhere, curve.relevant, curve.top)]
    shown = "p(ne=0) {:.2f}, in R {:.2f}, in T {:.2f}".format(*shares)
    return Verdict(shares == sorted(shares, reverse=True), shown)


def _opposite(found: Found) -> Verdict:
    curve = found.curves("ne")
    at = [0, 1, 2, 3, 4]
    indep, floe = (np.interp(at, curve.values, part) for part in (curve.indep, curve.floe))
    opposite = int(np.sum(np.sign(indep) != np.sign(floe)))
    return Verdict(opposite > len(at) / 2, f"of ne 0 to 4, {opposite} have opposite signs")


CLAIMS = (
    Claim("FLOE(pos) brings no significant gain", _no_gain(("pos",), ("floe",), "AP")),
    Claim("FLOE(neg) is above tfisf in both measures", _gains("neg", "floe", ("AP", "P@10"), False)),
    Claim("FLOE(opt) is above tfisf in both measures", _gains("opt", "floe", ("AP", "P@10"), False)),
    Claim("FLOE(subj) gains significantly in both measures", _gains("subj", "floe", ("AP", "P@10"), True)),
    Claim("linear(subj) is the strongest model of opinion", _strongest),
    Claim("Named entities do not improve P@10", _no_gain(NAMES, ("floe", "linear", "log", "step"), "P@10")),
    Claim("FLOE(len) brings nothing", _no_gain(("len",), ("floe",), "AP")),
    Claim("linear(len) or log(len) improves AP", _length_pays),
    Claim("indep(len) is above 0 from 9 terms on, below 0 before", _turns("indep", 9, True)),
    Claim("FLOE(len) is above 0 below 15 terms, below 0 after", _turns("floe", 15, False)),
    Claim("Sentences without a name: p(I=0) > p(I=0\\|R) > p(I=0\\|T)", _none),
    Claim("FLOE(ne) has the opposite sign of indep(ne)", _opposite),
    Claim("indep(pers) is above 0 for 1 to 4 persons", _persons),
)
