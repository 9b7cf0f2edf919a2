"""Evaluations of runs, over all topics and by type of topic, compared with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from esr.errors import UsageError
from esr.evaluation.measures import Evaluator, Values, mean
from esr.evaluation.qrels import Qrels
from esr.evaluation.runs import Scores
from esr.evaluation.significance import (
    RESAMPLES,
    SEED,
    SystemComparison,
    compare_systems,
    correct_p_values,
)

ALL = "all"
UNTYPED = "no type"


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """Figures over a group of topics: for each measure the mean and any comparison with the baseline."""

    topics: tuple[str, ...]
    means: Mapping[str, float]
    significance: Mapping[str, SystemComparison] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunEvaluation:
    """A run's figures. `groups` has `all` topics and, if topics have types, a group per type."""

    name: str
    values: Values
    groups: Mapping[str, GroupFigures]
    is_baseline: bool = False


def evaluate_runs(
    names: Sequence[str],
    qrels: Qrels,
    runs: Mapping[str, Scores],
    *,
    baseline: str | None = None,
    kinds: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[RunEvaluation]:
    """Evaluate runs by name, in their order. `baseline` is the name of one of them; `kinds` are topic types.

    P-values are corrected for the number of runs compared with the baseline, separately for each measure and
    type. Raises UsageError for an unknown measure or baseline.
    """
    if baseline is not None and baseline not in runs:
        raise UsageError(f"the baseline {baseline!r} is not among the runs")
    evaluator = Evaluator(names, qrels)
    groups = {ALL: tuple(qrels)} | group_by_kind(qrels, kinds)
    evaluations = [
        RunEvaluation(
            name,
            values,
            {group: _summarise(topics, values) for group, topics in groups.items()},
            is_baseline=name == baseline,
        )
        for name, scores in runs.items()
        for values in (evaluator.evaluate(scores),)
    ]
    base = next((evaluation for evaluation in evaluations if evaluation.is_baseline), None)
    return _add_significance(evaluations, base, resamples, seed) if base else evaluations


def group_by_kind(qrels: Qrels, kinds: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """The judged topics of each type, in alphabetical order of types; topics without a type come last."""
    if kinds is None:
        return {}
    if ALL in kinds.values():
        raise UsageError(f"a type of topics must not be called {ALL!r}, which means all topics: rename it")
    groups: dict[str, list[str]] = {kind: [] for kind in sorted({kinds[t] for t in qrels if t in kinds})}
    for topic in qrels:
        groups.setdefault(kinds.get(topic, UNTYPED), []).append(topic)
    return {kind: tuple(topics) for kind, topics in groups.items()}


def _summarise(topics: tuple[str, ...], values: Values) -> GroupFigures:
    group = set(topics)
    means = {
        # In the order of the values, which affects the last digit of a sum of floats.
        name: mean(name, (value for topic, value in by_topic.items() if topic in group))
        for name, by_topic in values.items()
    }
    return GroupFigures(topics, means)


def _add_significance(
    evaluations: list[RunEvaluation], baseline: RunEvaluation, resamples: int, seed: int
) -> list[RunEvaluation]:
    by_run: dict[str, dict[str, dict[str, SystemComparison]]] = {e.name: {} for e in evaluations}
    for group, figures in baseline.groups.items():
        for measure, theirs in baseline.values.items():
            comparisons: dict[str, SystemComparison] = {}
            for evaluation in evaluations:
                ours = evaluation.values[measure]
                # A few measures have no value for some topics.
                common = [topic for topic in figures.topics if topic in ours and topic in theirs]
                if common and not evaluation.is_baseline:
                    a, b = ({topic: values[topic] for topic in common} for values in (ours, theirs))
                    comparisons[evaluation.name] = compare_systems(a, b, resamples=resamples, seed=seed)
            corrected = correct_p_values([*comparisons.values()])
            for name, comparison in zip(comparisons, corrected, strict=True):
                by_run[name].setdefault(group, {})[measure] = comparison
    return [
        replace(
            evaluation,
            groups={
                group: replace(figures, significance=by_run[evaluation.name].get(group, {}))
                for group, figures in evaluation.groups.items()
            },
        )
        for evaluation in evaluations
    ]
