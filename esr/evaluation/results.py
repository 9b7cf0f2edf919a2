"""Runs evaluated side by side: figures of each, over all topics and by type, against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from esr.errors import UsageError
from esr.evaluation.measures import Evaluator, Values, mean
from esr.evaluation.qrels import Qrels
from esr.evaluation.runs import Scores
from esr.evaluation.significance import RESAMPLES, SEED, Comparison, compare, corrected

ALL = "all"
UNTYPED = "no type"


@dataclass(frozen=True, slots=True)
class Part:
    """Figures over some topics: by measure, the mean and, if there is a baseline, the comparison with it."""

    topics: tuple[str, ...]
    means: Mapping[str, float]
    significance: Mapping[str, Comparison] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A run's figures. `parts` are `all` and, if topics have types, one of each type."""

    name: str
    values: Values
    parts: Mapping[str, Part]
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
) -> list[Evaluated]:
    """Evaluate runs, given by name, in their order. `baseline` is the name of one of them.

    P-values are corrected over the runs that are compared with the baseline, for each measure and type on
    its own. Raises UsageError for an unknown measure or baseline.
    """
    if baseline is not None and baseline not in runs:
        raise UsageError(f"the baseline {baseline!r} is not among the runs")
    evaluator = Evaluator(names, qrels)
    groups = {ALL: tuple(qrels)} | by_kind(qrels, kinds)
    results = [
        Evaluated(
            name,
            values,
            {group: _part(topics, values) for group, topics in groups.items()},
            is_baseline=name == baseline,
        )
        for name, scores in runs.items()
        for values in (evaluator.evaluate(scores),)
    ]
    against = next((result for result in results if result.is_baseline), None)
    return _compared(results, against, resamples, seed) if against else results


def by_kind(qrels: Qrels, kinds: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """The judged topics of each type, the types in alphabetical order, topics without one last."""
    if kinds is None:
        return {}
    if ALL in kinds.values():
        raise UsageError(f"no type of topics can be called {ALL!r}, which stands for all topics")
    found: dict[str, list[str]] = {kind: [] for kind in sorted({kinds[t] for t in qrels if t in kinds})}
    for topic in qrels:
        found.setdefault(kinds.get(topic, UNTYPED), []).append(topic)
    return {kind: tuple(topics) for kind, topics in found.items()}


def _part(topics: tuple[str, ...], values: Values) -> Part:
    chosen = set(topics)
    return Part(
        topics,
        # In the order of the values: a sum of floats depends on it in its last digit.
        {name: mean(name, (v for t, v in found.items() if t in chosen)) for name, found in values.items()},
    )


def _compared(results: list[Evaluated], against: Evaluated, resamples: int, seed: int) -> list[Evaluated]:
    found: dict[str, dict[str, dict[str, Comparison]]] = {result.name: {} for result in results}
    for group, part in against.parts.items():
        for measure, theirs in against.values.items():
            comparisons: dict[str, Comparison] = {}
            for result in results:
                ours = result.values[measure]
                # A few measures have no value for some topics.
                common = [topic for topic in part.topics if topic in ours and topic in theirs]
                if common and not result.is_baseline:
                    a, b = ({topic: values[topic] for topic in common} for values in (ours, theirs))
                    comparisons[result.name] = compare(a, b, resamples=resamples, seed=seed)
            for name, comparison in zip(comparisons, corrected([*comparisons.values()]), strict=True):
                found[name].setdefault(group, {})[measure] = comparison
    return [
        replace(
            result,
            parts={
                group: replace(part, significance=found[result.name].get(group, {}))
                for group, part in result.parts.items()
            },
        )
        for result in results
    ]
