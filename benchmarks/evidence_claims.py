"""Claims of the second paper (docs/formulas.md, B.11), tested on the figures and curves of one collection.

The paper ranks the sentences of a few relevant documents per topic by tfisf; here, whole collections are
ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks.claims import LEVEL, Verdict
from esr.lab.curves import Estimates
from esr.lab.measures import compare_systems

OPINION = ("subj", "pos", "neg", "opt")
NAMES = ("pers", "loc", "org", "ne")


class FeatureResults(NamedTuple):
    """The results of a collection over tfisf: by feature, values by form, measure and topic, and curves."""

    values: Mapping[str, Mapping[str, Any]]
    curves: Callable[[str], Estimates]

    def mean(self, feature: str, form: str, measure: str) -> float:
        return float(np.mean(list(self.values[feature][form][measure].values())))

    def gain(self, feature: str, form: str, measure: str) -> tuple[float, bool]:
        """The relative gain over tfisf, and whether it is significant."""
        adjusted, base = self.values[feature][form][measure], self.values[feature]["base"][measure]
        p = compare_systems(adjusted, base, resamples=1).t_test
        base_mean = self.mean(feature, "base", measure)
        return self.mean(feature, form, measure) / base_mean - 1, p < LEVEL

    def gains_significantly(self, feature: str, form: str, measure: str) -> bool:
        gain, is_significant = self.gain(feature, form, measure)
        return gain > 0 and is_significant

    def describe(self, feature: str, form: str, measure: str) -> str:
        gain, is_significant = self.gain(feature, form, measure)
        return f"{form}({feature}) {measure} {gain:+.1%}{'' if is_significant else ' (n.s.)'}"


Test = Callable[[FeatureResults], Verdict]


class Claim(NamedTuple):
    """A claim and its test."""

    text: str
    test: Test


def _gains(feature: str, form: str, measures: tuple[str, ...], *, significantly: bool) -> Test:
    """Test that a form of a feature is above tfisf in all measures."""

    def test(results: FeatureResults) -> Verdict:
        gains = [results.gain(feature, form, measure) for measure in measures]
        holds = all(gain > 0 and (is_significant or not significantly) for gain, is_significant in gains)
        return Verdict(holds, ", ".join(results.describe(feature, form, measure) for measure in measures))

    return test


def _no_gain(features: tuple[str, ...], forms: tuple[str, ...], measure: str) -> Test:
    """Test that no form of a feature gains significantly."""

    def test(results: FeatureResults) -> Verdict:
        better = [
            results.describe(feature, form, measure)
            for feature in features
            for form in forms
            if results.gains_significantly(feature, form, measure)
        ]
        return Verdict(not better, ", ".join(better) or f"none of {', '.join(features)} gains significantly")

    return test


def _subjectivity_is_strongest(results: FeatureResults) -> Verdict:
    """Compare linear(subj) with every form of every opinion feature."""
    forms = [form for form in results.values["subj"] if form != "base"]
    means = {(f, form): results.mean(f, form, "AP") for f in OPINION for form in forms}
    best = max(means, key=lambda key: means[key])
    figures = f"{results.describe('subj', 'linear', 'AP')}; best: {results.describe(*best, 'AP')}"
    return Verdict(means["subj", "linear"] >= means[best], figures)


def _length_gains(results: FeatureResults) -> Verdict:
    figures = ", ".join(results.describe("len", form, "AP") for form in ("linear", "log"))
    return Verdict(any(results.gains_significantly("len", form, "AP") for form in ("linear", "log")), figures)


def _changes_sign(form: str, claimed: int, *, is_rising: bool) -> Test:
    """Test that the curve of the length changes its sign within three terms of the claimed length."""

    def test(results: FeatureResults) -> Verdict:
        curve = results.curves("len")
        adds = curve.indep if form == "indep" else curve.floe
        in_range = (curve.values >= 1) & (curve.values <= 30)
        values, positive = curve.values[in_range], adds[in_range] > 0
        # The boundary with the fewest values on the wrong side.
        errors = [
            np.sum(positive[:n] == is_rising) + np.sum(positive[n:] != is_rising) for n in range(len(values))
        ]
        boundary = float(values[int(np.argmin(errors))])
        return Verdict(
            bool(abs(boundary - claimed) <= 3 and min(errors) <= 3), f"turns at {boundary:g} terms"
        )

    return test


def _persons_add(results: FeatureResults) -> Verdict:
    curve = results.curves("pers")
    adds = [float(np.interp(n, curve.values, curve.indep)) for n in range(1, 5)]
    return Verdict(min(adds) > 0, "indep(pers) of 1 to 4: " + " ".join(f"{value:+.2f}" for value in adds))


def _no_names_are_rarer(results: FeatureResults) -> Verdict:
    curve = results.curves("ne")
    shares = [float(part[0] / part.sum()) for part in (curve.everywhere, curve.relevant, curve.top)]
    figures = "p(ne=0) {:.2f}, in R {:.2f}, in T {:.2f}".format(*shares)
    return Verdict(shares == sorted(shares, reverse=True), figures)


def _has_opposite_signs(results: FeatureResults) -> Verdict:
    curve = results.curves("ne")
    counts = [0, 1, 2, 3, 4]
    indep, floe = (np.interp(counts, curve.values, part) for part in (curve.indep, curve.floe))
    opposite = int(np.sum(np.sign(indep) != np.sign(floe)))
    return Verdict(opposite > len(counts) / 2, f"of ne 0 to 4, {opposite} have opposite signs")


CLAIMS = (
    Claim("FLOE(pos) brings no significant gain", _no_gain(("pos",), ("floe",), "AP")),
    Claim(
        "FLOE(neg) is above tfisf in both measures",
        _gains("neg", "floe", ("AP", "P@10"), significantly=False),
    ),
    Claim(
        "FLOE(opt) is above tfisf in both measures",
        _gains("opt", "floe", ("AP", "P@10"), significantly=False),
    ),
    Claim(
        "FLOE(subj) gains significantly in both measures",
        _gains("subj", "floe", ("AP", "P@10"), significantly=True),
    ),
    Claim("linear(subj) is the strongest model of opinion", _subjectivity_is_strongest),
    Claim("Named entities do not improve P@10", _no_gain(NAMES, ("floe", "linear", "log", "step"), "P@10")),
    Claim("FLOE(len) brings nothing", _no_gain(("len",), ("floe",), "AP")),
    Claim("linear(len) or log(len) improves AP", _length_gains),
    Claim("indep(len) is above 0 from 9 terms on, below 0 before", _changes_sign("indep", 9, is_rising=True)),
    Claim("FLOE(len) is above 0 below 15 terms, below 0 after", _changes_sign("floe", 15, is_rising=False)),
    Claim("Sentences without a name: p(I=0) > p(I=0\\|R) > p(I=0\\|T)", _no_names_are_rarer),
    Claim("FLOE(ne) has the opposite sign of indep(ne)", _has_opposite_signs),
    Claim("indep(pers) is above 0 for 1 to 4 persons", _persons_add),
)
