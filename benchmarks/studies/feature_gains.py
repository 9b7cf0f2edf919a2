"""Write docs/feature-gains.md: each feature in each form on three collections.

    python -m benchmarks.studies.feature_gains COLLECTIONS --work FOLDER

COLLECTIONS and FOLDER are those of benchmarks/studies/results.py, which builds and enriches the indexes.
Weights are tuned and curves trained in five folds: the figure of a topic comes from the folds without it. An
interrupted call resumes. Takes forty minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from benchmarks.studies.claims import LEVEL, Verdict
from benchmarks.studies.results import COLLECTIONS, prepare_collection
from esr.features import FEATURES
from esr.lab.comparison import FOLDS
from esr.lab.cross_validation import CrossValidation, cross_validate
from esr.lab.curves import CurveTraining, Estimates, EstimationOptions
from esr.lab.grid import read_parameters
from esr.lab.judgements import read_qrels
from esr.lab.report.parameters import estimate_feature_curves
from esr.lab.significance import compare_systems
from esr.lab.tuner import Tuner, build_tasks
from esr.models.adjustments import Adjustment
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.registry import Value
from esr.topics.topic_files import read_topics
from esr.wording import table_lines

# Claims of the second paper (docs/formulas.md, B.11), tested on the figures and curves of one collection.
#
# The paper ranks the sentences of a few relevant documents per topic by tfisf; here, whole collections are
# ranked.


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
    """A claim and its test. `finding` is the id of the finding in `esr reproduce`."""

    text: str
    test: Test
    finding: str


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
    Claim("FLOE(pos) brings no significant gain", _no_gain(("pos",), ("floe",), "AP"), "FL-F4"),
    Claim(
        "FLOE(neg) is above tfisf in both measures",
        _gains("neg", "floe", ("AP", "P@10"), significantly=False),
        "FL-F3",
    ),
    Claim(
        "FLOE(opt) is above tfisf in both measures",
        _gains("opt", "floe", ("AP", "P@10"), significantly=False),
        "FL-F3",
    ),
    Claim(
        "FLOE(subj) gains significantly in both measures",
        _gains("subj", "floe", ("AP", "P@10"), significantly=True),
        "FL-F2",
    ),
    Claim("linear(subj) is the strongest model of opinion", _subjectivity_is_strongest, "FL-F5"),
    Claim(
        "Named entities do not improve P@10",
        _no_gain(NAMES, ("floe", "linear", "log", "step"), "P@10"),
        "FL-F16",
    ),
    Claim("FLOE(len) brings nothing", _no_gain(("len",), ("floe",), "AP"), "FL-F19"),
    Claim("linear(len) or log(len) improves AP", _length_gains, "FL-F19"),
    Claim(
        "indep(len) is above 0 from 9 terms on, below 0 before",
        _changes_sign("indep", 9, is_rising=True),
        "FL-F18",
    ),
    Claim(
        "FLOE(len) is above 0 below 15 terms, below 0 after",
        _changes_sign("floe", 15, is_rising=False),
        "FL-F18",
    ),
    Claim("Sentences without a name: p(I=0) > p(I=0|R) > p(I=0|T)", _no_names_are_rarer, "FL-F13"),
    Claim("FLOE(ne) has the opposite sign of indep(ne)", _has_opposite_signs, "FL-F15"),
    Claim("indep(pers) is above 0 for 1 to 4 persons", _persons_add, "FL-F14"),
)


BASES = {"tfisf": Ranking("tfisf")}
WEIGHTED = ("linear", "log", "step", "satu", "sigm")
TRAINED = ("indep", "floe")
FORMS = (*WEIGHTED, *TRAINED)
MEASURES = ("AP", "P@10")
STUDIED = [feature for feature in FEATURES if feature != "furniture"]
"""All features except furniture: no relevant sentence is furniture, so its curve cannot be trained."""
WEIGHTS = [sign * w for w in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0) for sign in (1, -1)]
HALF_POINTS = {
    "len": (5.0, 20.0),
    "position": (2.0, 10.0),
    "novelty": (0.2, 0.5),
    "title_overlap": (0.2, 0.5),
}
"""The values of k for satu and sigm, by the range of a feature."""
DEFAULT_HALF_POINTS = (1.0, 3.0)
BANDWIDTHS = {"subj_score": 0.3, "novelty": 0.1, "title_overlap": 0.1, "quote": 0.1}
"""Kernel bandwidths of features with too many values for relative frequencies."""
MEMORY = 4_000_000_000  # bytes, enough to cache the candidates of each topic for all forms
TARGET = Path(__file__).resolve().parents[2] / "docs" / "feature-gains.md"
HEAD = """# Features, one at a time

What one feature adds to tfisf, the second paper's baseline, on the collections of [the results](results.md).
`python -m benchmarks.studies.feature_gains` writes this page.

Weights were tuned and curves trained in five folds: the figure of a topic comes from the folds without it.
Weights are 0 and ±0.02 to ±1, tuned by AP; the weight 0 leaves the feature out. satu and sigm have two values
of k each, sigm with a = 2. `*` and `**` mark differences from the base at 95 % and 99 % (paired t-test, not
corrected: with 15 features, one `*` in 20 is expected by chance).
"""

Results = dict[tuple[str, str, str], Any]
"""Values by form, measure and topic, by collection, base and feature."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", type=Path)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--workers", type=int, default=2)
    arguments = options.parse_args()
    path = arguments.work / "evidence.jsonl"
    results = _read(path)
    missing = [
        (collection, base, feature)
        for base in BASES
        for collection in COLLECTIONS
        for feature in STUDIED
        if (collection, base, feature) not in results
    ]
    pool = ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn"))
    with pool, path.open("a", encoding="utf-8") as file:
        futures = [
            pool.submit(measure_feature, arguments.collections / collection, arguments.work, base, feature)
            for collection, base, feature in missing
        ]
        for future in tqdm(as_completed(futures), total=len(futures), unit=" features"):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()
    TARGET.write_text("\n".join(_render(_read(path), arguments)), "utf-8")


def measure_feature(source: Path, work: Path, base: str, feature: str) -> dict[str, Any]:
    """One feature in every form over one base: values by form, measure and topic."""
    collection = prepare_collection(source, work)
    values: dict[str, Any] = {}
    with open_searcher(collection.index) as searcher:
        tasks = build_tasks(read_topics(collection.topics), read_qrels(collection.qrels)).ready
        tuner = Tuner(searcher, tasks, memory=MEMORY)
        tuners = {measure: Tuner(searcher, tuner.tasks, measure, cache=tuner.cache) for measure in MEASURES}
        values["base"] = {m: _values(tuners[m], [BASES[base]] * len(tasks)) for m in MEASURES}
        for form in FORMS:
            validation = _cross_validate(tuner, BASES[base], feature, form)
            values[form] = {m: _values(tuners[m], validation.by_topic) for m in MEASURES}
            if form in WEIGHTED:
                weight = f"{feature}.w"
                values[form]["w"] = [read_parameters(s)[weight] for s in validation.settings]
    return {"collection": source.name, "base": base, "feature": feature, "values": values}


def _cross_validate(tuner: Tuner, base: Ranking, feature: str, form: str) -> CrossValidation:
    if form in TRAINED:
        options = {"bandwidth": BANDWIDTHS[feature]} if feature in BANDWIDTHS else {}
        training = CurveTraining(form, feature, EstimationOptions.from_values(options))
        return cross_validate(tuner, base, {}, "grid", FOLDS, {}, curves=[training])
    adjustment = Adjustment(feature, form, {"w": 0.0})
    ranking = Ranking(base.model, base.context, base.params, features=(adjustment,))
    grid: dict[str, list[Value]] = {f"{feature}.w": [0.0, *WEIGHTS]}
    if form in ("satu", "sigm"):
        grid[f"{feature}.k"] = list(HALF_POINTS.get(feature, DEFAULT_HALF_POINTS))
    if form == "sigm":
        grid[f"{feature}.a"] = [2.0]
    return cross_validate(tuner, ranking, grid, "grid", FOLDS, {}, curves=[])


def _values(tuner: Tuner, settings: list[Ranking]) -> dict[str, float]:
    """The figure of each topic under its own setting."""
    return {
        task.topic: float(tuner.select_tasks([position]).compute_figures([setting])[0, 0])
        for position, (task, setting) in enumerate(zip(tuner.tasks, settings, strict=True))
    }


def _read(path: Path) -> Results:
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines if line.endswith("}")]
    return {(record["collection"], record["base"], record["feature"]): record["values"] for record in records}


def _render(results: Results, arguments: argparse.Namespace) -> Iterator[str]:
    yield HEAD
    for base in BASES:
        for measure in MEASURES:
            yield f"## {measure} over {base}\n"
            yield from _table(results, base, measure)
    yield "## Which claims hold\n"
    yield "The claims are those of docs/formulas.md, B.11, tested over tfisf; n.s.: not significant at 95 %."
    yield "Curves are trained on all topics. The topics have no types, so whether the gains hold for both"
    yield "events and opinions cannot be tested.\n"
    by_collection = [_feature_results(results, collection, arguments) for collection in COLLECTIONS]
    rows = [[claim.text, *(str(claim.test(each)) for each in by_collection)] for claim in CLAIMS]
    yield from table_lines(["claim", *COLLECTIONS], rows)
    yield ""


def _table(results: Results, base: str, measure: str) -> Iterator[str]:
    heads = [f"{collection}, {form}" for collection in COLLECTIONS for form in FORMS]
    yield "| feature | " + " | ".join(heads) + " |"
    yield "| --- |" + " ---: |" * len(heads)
    first = STUDIED[0]
    means = [_mean(results[collection, base, first]["base"][measure]) for collection in COLLECTIONS]
    yield "| none | " + " | ".join(f"{mean:.4f}" for mean in means for _ in FORMS) + " |"
    for feature in STUDIED:
        row = [
            _cell(results[collection, base, feature], form, measure)
            for collection in COLLECTIONS
            for form in FORMS
        ]
        yield f"| {feature} | " + " | ".join(row) + " |"
    yield ""


def _feature_results(results: Results, name: str, arguments: argparse.Namespace) -> FeatureResults:
    collection = prepare_collection(arguments.collections / name, arguments.work)
    tasks = build_tasks(read_topics(collection.topics), read_qrels(collection.qrels)).ready

    @cache
    def curves(feature: str) -> Estimates:
        with open_searcher(collection.index) as searcher:
            return estimate_feature_curves(searcher, tasks, BASES["tfisf"], feature).before

    return FeatureResults({feature: results[name, "tfisf", feature] for feature in STUDIED}, curves)


def _cell(values: Mapping[str, Any], form: str, measure: str) -> str:
    adjusted, base = values[form][measure], values["base"][measure]
    p = compare_systems(adjusted, base, resamples=1).t_test
    mark = "\\*\\*" if p < 0.01 else "\\*" if p < 0.05 else ""
    return f"{_mean(adjusted):.4f}{mark}"


def _mean(values: Mapping[str, float]) -> float:
    return sum(values.values()) / len(values)


if __name__ == "__main__":
    main()
