"""Everything that a call of `esr learn` finds out, and how it is told: in lines, as JSON, on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from esr.evaluation.results import ALL, Evaluated
from esr.evaluation.significance import Comparison
from esr.learning.validate import Ablated

FIRST, LEARNED = "first stage", "learned"
_MOST = 10


@dataclass(frozen=True)
class Outcome:
    """What was learned with what, its figures on topics left out, and what the signals are worth.

    `results` are the first stage's and the learned ranking's, the first stage being the baseline.
    `importance` has each signal's worth on all topics, the greatest first.
    """

    learner: str
    measure: str
    folds: int
    seed: int
    depth: int
    topics: int
    groups: int
    results: Sequence[Evaluated]
    importance: Sequence[tuple[str, float]]
    ablated: Sequence[Ablated]

    @property
    def comparison(self) -> Comparison:
        """The learned ranking against the first stage."""
        return self.results[1].parts[ALL].significance[self.measure]

    def figure(self, place: int) -> float:
        return self.results[place].parts[ALL].means[self.measure]


def as_dict(found: Outcome) -> dict[str, Any]:
    """For JSON."""
    return {
        "learner": found.learner,
        "measure": found.measure,
        "folds": found.folds,
        "seed": found.seed,
        "depth": found.depth,
        "topics": found.topics,
        "groups": found.groups,
        FIRST.replace(" ", "_"): dict(found.results[0].parts[ALL].means),
        LEARNED: dict(found.results[1].parts[ALL].means),
        "comparison": found.comparison.as_dict(),
        "importance": [{"signal": name, "importance": worth} for name, worth in found.importance],
        "ablation": [
            {"without": each.without, found.measure: each.figure, "lost": each.comparison.as_dict()}
            for each in found.ablated
        ],
    }


def as_text(found: Outcome) -> str:
    """In lines."""
    versus = found.comparison
    lines = [
        f"{found.measure} {found.figure(1):.4f} on topics left out of learning, {found.folds} folds of "
        f"{found.groups:,} groups of {found.topics:,} topics",
        f"{found.measure} {found.figure(0):.4f} by the first stage: difference {versus.difference:+.4f} "
        f"({versus.low:+.4f} to {versus.high:+.4f}), p {versus.t_test:.4f} (t-test), "
        f"{versus.randomisation:.4f} (randomisation), {versus.wins} topics won, {versus.losses} lost",
    ]
    used = [(name, worth) for name, worth in found.importance if worth > 0]
    if not used:
        lines.append("no signal is used: what was learned is the first stage itself")
    lines += [f"  {name:<30}{worth:12.4g}" for name, worth in used[:_MOST]]
    if len(used) > _MOST:
        lines.append(f"  and {len(used) - _MOST} more signals")
    lines += [
        f"without {each.without}: {found.measure} {each.figure:.4f}, "
        f"{each.comparison.difference:+.4f} by them, p {each.comparison.t_test_holm:.4f}"
        for each in found.ablated
    ]
    return "\n".join(lines)
