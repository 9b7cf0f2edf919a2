"""Write docs/evidence.md: each feature in each form on three collections.

    python -m benchmarks.evidence COLLECTIONS --work FOLDER

COLLECTIONS and FOLDER are those of benchmarks/results.py, which builds and enriches the indexes. Weights are
tuned and curves trained in five folds: the figure of a topic comes from the folds without it. An interrupted
call resumes. Takes forty minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.evidence_claims import CLAIMS, FeatureResults
from benchmarks.results import COLLECTIONS, prepare_collection
from esr.batch import topics
from esr.features import FEATURES
from esr.lab.comparison import FOLDS
from esr.lab.curves import CurveTraining, Estimates, EstimationOptions
from esr.lab.grid import CrossValidation, cross_validate, parameter_values
from esr.lab.measures import compare_systems, read_qrels
from esr.lab.report.parameters import estimate_feature_curves
from esr.lab.tuner import Tuner, build_tasks
from esr.models.adjustment import Adjustment
from esr.parameter import Value
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher

BASES = {"tfisf": Ranking("tfisf")}
WEIGHTED = ("linear", "log", "step", "satu", "sigm")
TRAINED = ("indep", "floe")
FORMS = (*WEIGHTED, *TRAINED)
MEASURES = ("AP", "P@10")
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
MEMORY = 4_000_000_000  # bytes, enough to retrieve the candidates of each topic only once for all forms
TARGET = Path(__file__).resolve().parents[1] / "docs" / "evidence.md"
HEAD = """# Features, one at a time

What one feature adds to tfisf, the second paper's baseline, on the collections of [the results](results.md).
Weights were tuned (0 and ±0.02 to ±1, by AP; satu and sigm with two values of k each, sigm with a = 2) and
curves trained in five folds: the figure of a topic comes from the folds without it. This page is written by
`python -m benchmarks.evidence`.

`*` and `**` mark differences from the base at 95 % and 99 % (paired t-test, not corrected: with 15 features,
one `*` in 20 is expected by chance). The grid includes the weight 0, which leaves the feature out.
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
        for feature in FEATURES
        if (collection, base, feature) not in results
    ]
    pool = ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn"))
    with pool, path.open("a", encoding="utf-8") as file:
        futures = [
            pool.submit(measure_feature, arguments.collections / collection, arguments.work, base, feature)
            for collection, base, feature in missing
        ]
        for future in tqdm(futures, unit=" features"):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()
    TARGET.write_text("\n".join(_render(_read(path), arguments)), "utf-8")


def measure_feature(source: Path, work: Path, base: str, feature: str) -> dict[str, Any]:
    """One feature in every form over one base: values by form, measure and topic."""
    collection = prepare_collection(source, work)
    values: dict[str, Any] = {}
    with open_searcher(collection.index) as searcher:
        tasks = build_tasks(topics.read_topics(collection.topics), read_qrels(collection.qrels)).ready
        tuner = Tuner(searcher, tasks, memory=MEMORY)
        tuners = {measure: Tuner(searcher, tuner.tasks, measure, cache=tuner.cache) for measure in MEASURES}
        values["base"] = {m: _values(tuners[m], [BASES[base]] * len(tasks)) for m in MEASURES}
        for form in FORMS:
            validation = _cross_validate(tuner, BASES[base], feature, form)
            values[form] = {m: _values(tuners[m], validation.by_topic) for m in MEASURES}
            if form in WEIGHTED:
                weight = f"{feature}.w"
                values[form]["w"] = [parameter_values(s)[weight] for s in validation.settings]
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
    yield "Over tfisf (docs/formulas.md, B.11); n.s.: not significant at 95 %. Curves are trained on all"
    yield "topics. The topics have no types, so whether the gains hold for both events and opinions cannot be"
    yield "tested.\n"
    yield "| claim | " + " | ".join(COLLECTIONS) + " |"
    yield "| --- |" + " --- |" * len(COLLECTIONS)
    by_collection = [_feature_results(results, collection, arguments) for collection in COLLECTIONS]
    for claim in CLAIMS:
        yield (
            f"| {claim.text} | "
            + " | ".join(str(claim.test(of_collection)) for of_collection in by_collection)
            + " |"
        )
    yield ""


def _table(results: Results, base: str, measure: str) -> Iterator[str]:
    heads = [f"{collection}, {form}" for collection in COLLECTIONS for form in FORMS]
    yield "| feature | " + " | ".join(heads) + " |"
    yield "| --- |" + " ---: |" * len(heads)
    first = next(iter(FEATURES))
    means = [_mean(results[collection, base, first]["base"][measure]) for collection in COLLECTIONS]
    yield "| none | " + " | ".join(f"{mean:.4f}" for mean in means for _ in FORMS) + " |"
    for feature in FEATURES:
        row = [
            _cell(results[collection, base, feature], form, measure)
            for collection in COLLECTIONS
            for form in FORMS
        ]
        yield f"| {feature} | " + " | ".join(row) + " |"
    yield ""


def _feature_results(results: Results, name: str, arguments: argparse.Namespace) -> FeatureResults:
    collection = prepare_collection(arguments.collections / name, arguments.work)
    tasks = build_tasks(topics.read_topics(collection.topics), read_qrels(collection.qrels)).ready

    @cache
    def curves(feature: str) -> Estimates:
        with open_searcher(collection.index) as searcher:
            return estimate_feature_curves(searcher, tasks, BASES["tfisf"], feature).before

    return FeatureResults({feature: results[name, "tfisf", feature] for feature in FEATURES}, curves)


def _cell(values: Mapping[str, Any], form: str, measure: str) -> str:
    adjusted, base = values[form][measure], values["base"][measure]
    p = compare_systems(adjusted, base, resamples=1).t_test
    mark = "\\*\\*" if p < 0.01 else "\\*" if p < 0.05 else ""
    return f"{_mean(adjusted):.4f}{mark}"


def _mean(values: Mapping[str, float]) -> float:
    return sum(values.values()) / len(values)


if __name__ == "__main__":
    main()
