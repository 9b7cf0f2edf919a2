"""Writes docs/evidence.md: each feature in each form on three collections.

    python -m benchmarks.evidence COLLECTIONS --work FOLDER

COLLECTIONS and FOLDER are those of benchmarks/results.py, which makes the indexes and enriches them. Weights
are tuned and curves trained in five folds: each topic's figure is from the folds without it. A call that was
stopped goes on where it was. Forty minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tqdm import tqdm

import esr
from benchmarks.evidence_claims import CLAIMS, Found
from benchmarks.results import COLLECTIONS, prepared
from esr.adjustments import Adjustment
from esr.adjustments.estimate import Estimates
from esr.evaluation import qrels, topics
from esr.evaluation.parameter_sources import FOLDS
from esr.evaluation.report.feature_curves import estimate_curves
from esr.evaluation.significance import compare_systems
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning.curves import CurveTraining
from esr.evaluation.tuning.tasks import build_tasks
from esr.evaluation.tuning.training import cross_validate
from esr.evaluation.tuning.tuner import Tuner
from esr.features import FEATURES
from esr.ranking.ranking import Ranking

BASES = {"tfisf": Ranking("tfisf")}
WEIGHED = ("linear", "log", "step", "satu", "sigm")
TRAINED = ("indep", "floe")
MEASURES = ("AP", "P@10")
WEIGHTS = [sign * w for w in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0) for sign in (1, -1)]
# Where satu and sigm bend, by the size that a feature has.
BENDS = {"len": (5.0, 20.0), "position": (2.0, 10.0), "novelty": (0.2, 0.5), "title_overlap": (0.2, 0.5)}
BEND = (1.0, 3.0)
# Shares and scores with too many values for relative frequencies get a kernel.
BANDWIDTH = {"subj_score": 0.3, "novelty": 0.1, "title_overlap": 0.1, "quote": 0.1}
TARGET = Path(__file__).resolve().parents[1] / "docs" / "evidence.md"
HEAD = """# Features, one at a time

What one feature adds to tfisf, the second paper's baseline, on the collections of [the results](results.md).
Weights were tuned (0 and ±0.02 to ±1, by AP; satu and sigm with two values of k each, sigm with a = 2) and
curves trained in five folds: each topic's figure is from the folds without it. Written by
`python -m benchmarks.evidence`.

`*` and `**` mark differences from the base at 95 % and 99 % (paired t-test, not corrected: 15 features were
tried, so that one false `*` in 20 is to be expected). A weight of 0 is in the grid: where it was chosen, the
feature was left out.
"""


MEMORY = 4_000_000_000  # bytes: each topic's candidates are gathered once for all forms


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", type=Path)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--workers", type=int, default=2)
    given = options.parse_args()
    path = given.work / "evidence.jsonl"
    known = _read(path)
    wanted = [
        (collection, base, feature)
        for base in BASES
        for collection in COLLECTIONS
        for feature in FEATURES
        if (collection, base, feature) not in known
    ]
    pool = ProcessPoolExecutor(given.workers, mp_context=get_context("spawn"))
    with pool, path.open("a", encoding="utf-8") as file:
        waiting = [pool.submit(figures, given.collections / c, given.work, b, f) for c, b, f in wanted]
        for future in tqdm(waiting, unit=" features"):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()
    TARGET.write_text("\n".join(_page(_read(path), given)), "utf-8")


def figures(source: Path, work: Path, base: str, feature: str) -> dict[str, Any]:
    """One feature in every form over one base: values by form, measure and topic."""
    where = prepared(source, work)
    found: dict[str, Any] = {}
    with esr.open(where.index) as searcher:
        tasks = build_tasks(topics.read(where.topics), qrels.read(where.qrels)).ready
        tuner = Tuner(searcher, tasks, memory=MEMORY)
        by_measure = {m: tuner.with_objective(m) for m in MEASURES}
        found["base"] = {m: _values(by_measure[m], [BASES[base]] * len(tasks)) for m in MEASURES}
        for form in (*WEIGHED, *TRAINED):
            curves, grid, ranking = [], {}, BASES[base]
            if form in TRAINED:
                how = {"bandwidth": BANDWIDTH[feature]} if feature in BANDWIDTH else {}
                curves = [CurveTraining(form, feature, how_of(how))]
            else:
                ranking = Ranking(
                    ranking.model,
                    ranking.context,
                    ranking.params,
                    features=(Adjustment(feature, form, {"w": 0.0}),),
                )
                grid = {f"{feature}.w": [0.0, *WEIGHTS]}
                if form in ("satu", "sigm"):
                    grid[f"{feature}.k"] = list(BENDS.get(feature, BEND))
                if form == "sigm":
                    grid[f"{feature}.a"] = [2.0]
            done = cross_validate(tuner, ranking, grid, "grid", FOLDS, {}, curves=curves)
            found[form] = {m: _values(by_measure[m], done.by_topic) for m in MEASURES}
            if not curves:
                found[form]["w"] = [
                    grids.parameter_values(setting)[f"{feature}.w"] for setting in done.settings
                ]
    return {"collection": source.name, "base": base, "feature": feature, "values": found}


def how_of(options: dict[str, float]) -> Any:
    from esr.adjustments.estimate import EstimationOptions

    return EstimationOptions.from_values(options)


def _values(tuner: Tuner, settings: list[Ranking]) -> dict[str, float]:
    """Each topic's figure under its own setting."""
    return {
        task.topic: float(tuner.select_tasks([place]).compute_figures([setting])[0, 0])
        for place, (task, setting) in enumerate(zip(tuner.tasks, settings, strict=True))
    }


def _read(path: Path) -> dict[tuple[str, str, str], Any]:
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    cells = [json.loads(line) for line in lines if line.endswith("}")]
    return {(cell["collection"], cell["base"], cell["feature"]): cell["values"] for cell in cells}


def _page(known: dict[tuple[str, str, str], Any], given: argparse.Namespace) -> Iterator[str]:
    yield HEAD
    for base in BASES:
        for measure in MEASURES:
            yield f"## {measure} over {base}\n"
            heads = [f"{collection}, {form}" for collection in COLLECTIONS for form in (*WEIGHED, *TRAINED)]
            yield "| feature | " + " | ".join(heads) + " |"
            yield "| --- |" + " ---: |" * len(heads)
            plain = [_mean(known[c, base, next(iter(FEATURES))]["base"][measure]) for c in COLLECTIONS]
            cells = [f"{value:.4f}" for value in plain for _ in (*WEIGHED, *TRAINED)]
            yield "| none | " + " | ".join(cells) + " |"
            for feature in FEATURES:
                row = [
                    _cell(known[collection, base, feature], form, measure)
                    for collection in COLLECTIONS
                    for form in (*WEIGHED, *TRAINED)
                ]
                yield f"| {feature} | " + " | ".join(row) + " |"
            yield ""
    yield "## What holds of the claims\n"
    yield "Over tfisf (docs/formulas.md, B.11); n.s.: not significant at 95 %. Curves are trained on all"
    yield "topics. Topics of the collections have no type: whether gains hold for events and opinions alike"
    yield "cannot be tested.\n"
    yield "| claim | " + " | ".join(COLLECTIONS) + " |"
    yield "| --- |" + " --- |" * len(COLLECTIONS)
    found = {c: _found(known, c, given) for c in COLLECTIONS}
    for claim in CLAIMS:
        verdicts = [claim.test(found[collection]) for collection in COLLECTIONS]
        told = [f"{'holds' if verdict.holds else 'does not hold'}: {verdict.shown}" for verdict in verdicts]
        yield f"| {claim.text} | " + " | ".join(told) + " |"
    yield ""


def _found(known: dict[tuple[str, str, str], Any], collection: str, given: argparse.Namespace) -> Found:
    where = prepared(given.collections / collection, given.work)
    tasks = build_tasks(topics.read(where.topics), qrels.read(where.qrels)).ready

    @cache
    def curves(feature: str) -> Estimates:
        with esr.open(where.index) as searcher:
            return estimate_curves(searcher, tasks, BASES["tfisf"], feature).before

    return Found({feature: known[collection, "tfisf", feature] for feature in FEATURES}, curves)


def _cell(values: dict[str, Any], form: str, measure: str) -> str:
    given, base = values[form][measure], values["base"][measure]
    p = compare_systems(given, base, resamples=1).t_test
    mark = "\\*\\*" if p < 0.01 else "\\*" if p < 0.05 else ""
    return f"{_mean(given):.4f}{mark}"


def _mean(values: dict[str, float]) -> float:
    return sum(values.values()) / len(values)


if __name__ == "__main__":
    main()
