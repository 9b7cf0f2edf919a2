"""The results of the experiment as one JSON object, at full precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import esr
from esr.evaluation.reproduce.experiment_results import ExperimentResults
from esr.evaluation.reproduce.protocol import MEASURES
from esr.evaluation.reproduce.systems import SYSTEMS
from esr.evaluation.reproduce.target import Verdict
from esr.evaluation.significance import SystemComparison

BASELINES = ("tfisf", "dir")


def as_json(results: ExperimentResults, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The protocol, the data, the targets and every table."""
    return {
        "esr": esr.__version__,
        "protocol": {"notes": results.protocol.lines(), **asdict(results.protocol)},
        "absent": results.absent,
        "data": {
            year: asdict(statistics) | {"findings": asdict(results.findings[year])}
            for year, statistics in results.statistics.items()
        },
        "readings": results.interpretations,
        "targets": [
            {
                "id": verdict.target.id,
                "claim": verdict.target.claim,
                "source": verdict.target.source,
                "mark": verdict.mark,
                "numbers": [line._asdict() for line in verdict.lines],
            }
            for verdict in verdicts
        ],
        "second_task": {
            year: asdict(task) | {"figures": {name: each._asdict() for name, each in task.figures.items()}}
            for year, task in results.second_task.items()
        },
        "training": {
            year: {
                name: {"ranking": system.ranking.as_dict(), "AP": system.figure, "tried": system.tried}
                for name, system in systems.items()
            }
            for year, systems in results.trained.items()
        },
        "tables": [
            {"train": train, "test": test, "systems": [_row(results, train, test, name) for name in SYSTEMS]}
            for train, test in results.tested
        ],
    }


def _row(results: ExperimentResults, train: str, test: str, name: str) -> dict[str, Any]:
    tested = results.tested[train, test][name]
    row: dict[str, Any] = {
        "name": name,
        "group": SYSTEMS[name].group,
        "measures": dict(tested.means),
        "top_length": tested.top_length,
    }
    for baseline in BASELINES:
        comparisons = {m: results.compare(train, test, name, baseline, m) for m in MEASURES}
        row[f"p_{baseline}"] = {m: _p_value(comparison) for m, comparison in comparisons.items()}
    return row | {"topics": tested.values}


def _p_value(comparison: SystemComparison | None) -> float | None:
    return None if comparison is None or math.isnan(comparison.t_test) else comparison.t_test
