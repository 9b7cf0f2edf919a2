"""Evaluations of runs over all topics and by type of topic, compared with a baseline.

They can be printed as a text table, CSV or JSON.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from dataclasses import field as dataclasses_field
from typing import Any

from esr.lab.judgements import Qrels
from esr.lab.measures import Evaluator, Values, mean
from esr.lab.significance import RESAMPLES, SEED, SystemComparison, compare_common, correct_p_values
from esr.plugin import UsageError
from esr.plugin.provisional import Scores, align_columns

ALL = "all"
UNTYPED = "no type"


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """Means over a group of topics by measure, and any comparisons with the baseline."""

    topics: tuple[str, ...]
    means: Mapping[str, float]
    significance: Mapping[str, SystemComparison] = dataclasses_field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunEvaluation:
    """A run's figures. `groups` has the group `all`, and one per type if topics have types."""

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
    """Evaluate runs by name, in their order. `baseline` names one of them; `kinds` has topic types by topic.

    P-values are corrected for the number of runs compared with the baseline, separately for each measure and
    group. Raises UsageError for an unknown measure or baseline.
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
    """The judged topics of each type, in alphabetical order of types. Topics without a type come last."""
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
        # The order of the values affects the last digit of a sum of floats.
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
                if evaluation.is_baseline:
                    continue
                ours = evaluation.values[measure]
                comparison = compare_common(figures.topics, ours, theirs, resamples=resamples, seed=seed)
                if comparison is not None:
                    comparisons[evaluation.name] = comparison
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


# Output


_COMPARISON_COLUMNS = tuple(field.name for field in fields(SystemComparison) if field.name != "topics")


def to_json(evaluations: Sequence[RunEvaluation], *, per_topic: bool = False) -> list[dict[str, Any]]:
    """One object per run: `run`, `measures`, and, where present, `topics`, `significance` and `types`."""
    return [_to_object(evaluation, per_topic) for evaluation in evaluations]


def _to_object(evaluation: RunEvaluation, per_topic: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"run": evaluation.name, **_figures_object(evaluation.groups[ALL])}
    if evaluation.is_baseline:
        data["baseline"] = True
    if len(evaluation.groups) > 1:
        data["types"] = {
            kind: {"count": len(figures.topics), **_figures_object(figures)}
            for kind, figures in evaluation.groups.items()
            if kind != ALL
        }
    if per_topic:
        data["topics"] = {
            topic: {name: _none_if_nan(values.get(topic)) for name, values in evaluation.values.items()}
            for topic in evaluation.groups[ALL].topics
        }
    return data


def _figures_object(figures: GroupFigures) -> dict[str, Any]:
    means = {name: _none_if_nan(value) for name, value in figures.means.items()}
    data: dict[str, Any] = {"measures": means}
    if figures.significance:
        data["significance"] = {name: c.as_dict() for name, c in figures.significance.items()}
    return data


def _none_if_nan(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def to_csv(evaluations: Sequence[RunEvaluation], *, per_topic: bool = False) -> str:
    """A row for each run, type, topic and measure. The topic `all` is the mean."""
    has_significance = any(figures.significance for e in evaluations for figures in e.groups.values())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    extra_columns = _COMPARISON_COLUMNS if has_significance else ()
    writer.writerow(["run", "type", "topic", "measure", "value", *extra_columns])
    for evaluation in evaluations:
        if per_topic:
            for topic in evaluation.groups[ALL].topics:
                for name, values in evaluation.values.items():
                    writer.writerow([evaluation.name, ALL, topic, name, values.get(topic, "")])
        for kind, figures in evaluation.groups.items():
            for name, value in figures.means.items():
                comparison = figures.significance.get(name)
                writer.writerow([evaluation.name, kind, ALL, name, value, *_csv_cells(comparison)])
    return text.getvalue()


def _csv_cells(comparison: SystemComparison | None) -> list[Any]:
    return [getattr(comparison, name) for name in _COMPARISON_COLUMNS] if comparison else []


def to_table(evaluations: Sequence[RunEvaluation], *, per_topic: bool = False) -> str:
    """The figures to four decimals with marks of significance, then the comparisons with the baseline."""
    parts = [*_topic_tables(evaluations)] if per_topic else []
    parts.append(_means_table(evaluations))
    baseline = next((evaluation for evaluation in evaluations if evaluation.is_baseline), None)
    if baseline and len(evaluations) > 1:
        others = len(evaluations) - 1
        correction = f", corrected by Holm over {others} runs" if others > 1 else ""
        parts[-1] += (
            f"\n\n* differs from {baseline.name} at 95 %, ** at 99 %: paired two-sided t-test{correction}"
        )
        parts += _comparison_tables(evaluations)
    return "\n\n".join(parts)


def _means_table(evaluations: Sequence[RunEvaluation]) -> str:
    has_types = any(len(evaluation.groups) > 1 for evaluation in evaluations)
    rows = [["run", *(["type"] if has_types else []), "topics", *evaluations[0].values]]
    for evaluation in evaluations:
        for kind, figures in evaluation.groups.items():
            row = [evaluation.name, *([kind] if has_types else []), str(len(figures.topics))]
            for name, value in figures.means.items():
                mark = figures.significance[name].mark if name in figures.significance else ""
                row.append(f"{_format_figure(value)}{mark:<2}")
            rows.append(row)
    return align_columns(rows, (0, 1) if has_types else (0,))


def _topic_tables(evaluations: Sequence[RunEvaluation]) -> Iterator[str]:
    for name in evaluations[0].values:
        rows = [[name, *(evaluation.name for evaluation in evaluations)]]
        for topic in evaluations[0].groups[ALL].topics:
            rows.append([topic, *(_format_figure(e.values[name].get(topic)) for e in evaluations)])
        yield align_columns(rows)


def _comparison_tables(evaluations: Sequence[RunEvaluation]) -> Iterator[str]:
    for name in evaluations[0].values:
        rows = [row for row, _ in comparison_rows(evaluations, name)]
        yield align_columns([[name, *COMPARISON_HEADS], *rows])


COMPARISON_HEADS = (
    *("topics", "difference", "95 % interval", "effect", "t-test", "corrected", "randomised", "corrected"),
    *("won", "tied", "lost"),
)


def comparison_rows(evaluations: Sequence[RunEvaluation], measure: str) -> Iterator[tuple[list[str], str]]:
    """For each run and type of topics: its name, a cell for each of COMPARISON_HEADS; and its mark."""
    for evaluation in evaluations:
        for kind, figures in evaluation.groups.items():
            if c := figures.significance.get(measure):
                yield (
                    [
                        evaluation.name if kind == ALL else f"{evaluation.name}, {kind}",
                        str(c.topics),
                        *difference_cells(c),
                        *map(format_p, (c.t_test, c.t_test_holm, c.randomisation, c.randomisation_holm)),
                        *map(str, (c.wins, c.ties, c.losses)),
                    ],
                    c.mark,
                )


def difference_cells(c: SystemComparison) -> tuple[str, str, str]:
    """The difference of a comparison, its 95 % interval and its size; a dash for what is undefined."""
    return (
        f"{c.difference:+.4f}",
        "-" if math.isnan(c.low) else f"{c.low:+.4f} to {c.high:+.4f}",
        "-" if math.isnan(c.effect) else f"{c.effect:+.2f}",
    )


def format_difference(c: SystemComparison) -> str:
    """The difference of a comparison with its 95 % interval and its size, for a sentence."""
    interval = "" if math.isnan(c.low) else f" ({c.low:+.4f} to {c.high:+.4f})"
    return f"{c.difference:+.4f}{interval}" + ("" if math.isnan(c.effect) else f", effect {c.effect:+.2f}")


def format_p(value: float, digits: int = 4) -> str:
    """Format a p-value. No p-value is 0: one that would be rounded to 0 is shown as below the last digit."""
    least = 10.0**-digits
    return f"<{least:.{digits}f}" if value < least else "-" if math.isnan(value) else f"{value:.{digits}f}"


def _format_figure(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.4f}"
