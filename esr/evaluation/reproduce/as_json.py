"""What was found as one JSON object, at full precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import esr
from esr.evaluation.reproduce.found import Found
from esr.evaluation.reproduce.protocol import MEASURES
from esr.evaluation.reproduce.systems import SYSTEMS
from esr.evaluation.reproduce.target import Verdict

COMPARED = ("tfisf", "dir")


def as_json(found: Found, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The protocol, the data, the targets and every table."""
    return {
        "esr": esr.__version__,
        "protocol": {"notes": found.protocol.lines(), **asdict(found.protocol)},
        "absent": found.absent,
        "data": {
            year: asdict(shape) | {"findings": asdict(found.findings[year])}
            for year, shape in found.shapes.items()
        },
        "readings": found.readings,
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
        "training": {
            year: {
                name: {"ranking": one.ranking.as_dict(), "AP": one.figure, "tried": one.tried}
                for name, one in systems.items()
            }
            for year, systems in found.trained.items()
        },
        "tables": [
            {"train": train, "test": test, "systems": [_row(found, train, test, name) for name in SYSTEMS]}
            for train, test in found.tested
        ],
    }


def _row(found: Found, train: str, test: str, name: str) -> dict[str, Any]:
    tested = found.tested[train, test][name]
    row: dict[str, Any] = {
        "name": name,
        "group": SYSTEMS[name].group,
        "measures": dict(tested.means),
        "top_length": tested.top_length,
    }
    for other in COMPARED:
        row[f"p_{other}"] = {m: _p(found, train, test, name, other, m) for m in MEASURES}
    return row | {"topics": tested.values}


def _p(found: Found, train: str, test: str, name: str, other: str, measure: str) -> float | None:
    comparison = found.compared(train, test, name, other, measure)
    return None if comparison is None or math.isnan(comparison.t_test) else comparison.t_test
