"""Trains curves of a feature on judgements: indep and FLOE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from esr import adjustments
from esr.adjustments import FORMS, Adjustment, estimate
from esr.adjustments.estimate import Estimates, EstimationOptions, ValueCounts
from esr.errors import UsageError, unknown
from esr.evaluation.qrels import unknown_sentences
from esr.evaluation.tuning.tuner import Task
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery

_BATCH = 500


class CurveTraining(NamedTuple):
    """A curve to train: its form, its feature, and how probabilities are estimated."""

    form: str
    feature: str
    options: EstimationOptions = EstimationOptions()


def parse_training(text: str) -> CurveTraining:
    """From `FORM:FEATURE[:OPTION=VALUE...]`, like `floe:pos` or `indep:subj:delta=1`."""
    form, _, rest = text.partition(":")
    feature, *option_texts = rest.split(":")
    trainable = [form.name for form in FORMS.values() if form.is_trained]
    if form not in trainable:
        raise unknown("form to train", form, trainable)
    adjustments.feature_column(feature)
    option_names = [option.name for option in estimate.OPTIONS]
    values = {}
    for option in option_texts:
        name, equals, value = option.partition("=")
        if not equals:
            raise UsageError(
                f"--train needs FORM:FEATURE[:OPTION=VALUE...], like floe:pos:delta=1, not {text!r}"
            )
        if name not in option_names:
            raise unknown("option of --train", name, option_names)
        values[name] = value
    return CurveTraining(form, feature, EstimationOptions.from_values(values))


def train_curves(
    searcher: Searcher, tasks: Sequence[Task], base: Ranking, trainings: Iterable[CurveTraining]
) -> Ranking:
    """The ranking with the trained curves. They are trained in turn, each on top of those before it.

    A curve replaces one with the same form and feature that the ranking already has.
    """
    for training in trainings:
        rest = remove_feature(base, training.feature, training.form)
        estimates = estimate_over(searcher, tasks, rest, training.feature, training.options)
        adjustment = Adjustment(training.feature, training.form, curve=estimates.curve(training.form))
        base = replace(rest, features=(*rest.features, adjustment))
    return base


def remove_feature(ranking: Ranking, feature: str, form: str | None = None) -> Ranking:
    """The ranking without this feature in this form, or in any."""
    rest = tuple(f for f in ranking.features if f.feature != feature or form not in (None, f.form))
    return replace(ranking, features=rest)


def estimate_over(
    searcher: Searcher, tasks: Sequence[Task], base: Ranking, feature: str, options: EstimationOptions
) -> Estimates:
    """What indep and FLOE add over a base. If the base has the curve, what is left to gain."""
    return estimate.estimate(count_feature_values(searcher, tasks, base, feature), options)


def measure_residuals(
    searcher: Searcher, tasks: Sequence[Task], ranking: Ranking, trainings: Iterable[CurveTraining]
) -> list[dict[str, Any]]:
    """FLOE's mean distance from 0 over sentences, before and after the curve. Near 0, no gain is left.

    Fernández & Losada 2012, section 5.2.2: P(I|T) computed again with T from the combined ranking.
    """
    residuals = []
    for training in trainings:
        before, after = (
            estimate_over(searcher, tasks, base, training.feature, training.options)
            for base in (remove_feature(ranking, training.feature, training.form), ranking)
        )
        distances = (float(np.average(abs(e.floe), weights=e.everywhere)) for e in (before, after))
        residuals.append(
            {"feature": training.feature, **dict(zip(("before", "after"), distances, strict=True))}
        )
    return residuals


def count_feature_values(
    searcher: Searcher, tasks: Sequence[Task], base: Ranking, feature: str
) -> ValueCounts:
    """The feature's values in the collection, in R and in T, pooled over the topics.

    T has the base's best r sentences of each topic, where r is the number of its relevant sentences.
    Relevant sentences that the index lacks are ignored.
    """
    searcher = searcher.snapshot()
    searcher.check_features([feature])
    column = adjustments.feature_column(feature)
    judgements = {task.topic: dict.fromkeys(task.relevant, 1) for task in tasks}
    missing = set(unknown_sentences(judgements, searcher.index))
    relevant = [[id for id in task.relevant if id not in missing] for task in tasks]
    top = [_search_top(searcher, task, base, len(ids)) for task, ids in zip(tasks, relevant, strict=True)]
    histogram = searcher.index.histogram(column)
    return estimate.count_values(
        histogram.values,
        histogram.counts,
        _read_column(searcher, chain.from_iterable(relevant), column),
        _read_column(searcher, chain.from_iterable(top), column),
    )


def _search_top(searcher: Searcher, task: Task, base: Ranking, k: int) -> list[str]:
    if not k:
        return []
    try:
        answer = searcher.search(
            task.query, k, ranking=base, filters=task.filters, records=False, literal=True
        )
    except UnsearchableQuery:
        return []
    return [hit.sentence_id for hit in answer.hits]


def _read_column(searcher: Searcher, ids: Iterable[str], column: str) -> Array:
    """The column of these sentences, each once."""
    distinct = list(dict.fromkeys(ids))
    batches = [
        searcher.index.evidence([], distinct[start : start + _BATCH], [column]).columns[column]
        for start in range(0, len(distinct), _BATCH)
    ]
    return np.concatenate([np.zeros(0), *batches])
