"""The outcome of `esr learn`, and its forms as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from esr.evaluation.formatting import format_p
from esr.evaluation.results import ALL, RunEvaluation
from esr.evaluation.significance import SystemComparison
from esr.learning.cross_validation import Ablation

FIRST, LEARNED = "first stage", "learned"
_MAX_SIGNALS = 10


@dataclass(frozen=True)
class Outcome:
    """The options of learning, figures on held-out topics, and the importance of signals.

    `results` has the first stage, which is the baseline, and the learned ranking. `importance` has each
    signal's importance on all topics, in descending order.
    """

    learner: str
    measure: str
    folds: int
    seed: int
    depth: int
    topics: int
    groups: int
    results: Sequence[RunEvaluation]
    importance: Sequence[tuple[str, float]]
    ablations: Sequence[Ablation]

    @property
    def comparison(self) -> SystemComparison:
        """The learned ranking compared with the first stage."""
        return self.results[1].groups[ALL].significance[self.measure]

    def figure(self, position: int) -> float:
        """The mean figure of a result."""
        return self.results[position].groups[ALL].means[self.measure]


def to_dict(outcome: Outcome) -> dict[str, Any]:
    """The outcome for JSON."""
    return {
        "learner": outcome.learner,
        "measure": outcome.measure,
        "folds": outcome.folds,
        "seed": outcome.seed,
        "depth": outcome.depth,
        "topics": outcome.topics,
        "groups": outcome.groups,
        FIRST.replace(" ", "_"): dict(outcome.results[0].groups[ALL].means),
        LEARNED: dict(outcome.results[1].groups[ALL].means),
        "comparison": outcome.comparison.as_dict(),
        "importance": [{"signal": name, "importance": value} for name, value in outcome.importance],
        "ablation": [
            {"without": a.without, outcome.measure: a.figure, "lost": a.comparison.as_dict()}
            for a in outcome.ablations
        ],
    }


def to_text(outcome: Outcome) -> str:
    """The outcome in lines."""
    c = outcome.comparison
    lines = [
        f"{outcome.measure} {outcome.figure(1):.4f} on held-out topics, {outcome.folds} folds of "
        f"{outcome.groups:,} groups of {outcome.topics:,} topics",
        f"{outcome.measure} {outcome.figure(0):.4f} by the first stage: difference {c.difference:+.4f} "
        f"({c.low:+.4f} to {c.high:+.4f}), p {format_p(c.t_test)} (t-test), "
        f"{format_p(c.randomisation)} (randomisation), {c.wins} topics won, {c.losses} lost",
    ]
    used = [(name, value) for name, value in outcome.importance if value > 0]
    if not used:
        lines.append("no signal is used: the learned ranking is the first stage itself")
    lines += [f"  {name:<30}{value:12.4g}" for name, value in used[:_MAX_SIGNALS]]
    if len(used) > _MAX_SIGNALS:
        lines.append(f"  and {len(used) - _MAX_SIGNALS} more signals")
    lines += [
        f"without {a.without}: {outcome.measure} {a.figure:.4f}, "
        f"{a.comparison.difference:+.4f} by them, p {format_p(a.comparison.t_test_holm)}"
        for a in outcome.ablations
    ]
    return "\n".join(lines)
