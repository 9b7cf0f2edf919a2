"""Curves trained from judgements: indep and FLOE of a feature over the topics of a tuner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from esr import adjustments
from esr.adjustments import FORMS, Adjustment, estimate
from esr.adjustments.estimate import Estimates, EstimationOptions, ValueCounts
from esr.errors import UsageError, unknown
from esr.evaluation.qrels import unknown_sentences
from esr.evaluation.tuning.figures import Task
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery

_BATCH = 500


class Training(NamedTuple):
    """A curve to be trained: its form, its feature, and how probabilities are estimated."""

    form: str
    feature: str
    how: EstimationOptions = EstimationOptions()


def parse(text: str) -> Training:
    """From `FORM:FEATURE[:OPTION=VALUE...]`, as `floe:pos` or `indep:subj:delta=1`."""
    form, _, rest = text.partition(":")
    feature, *options = rest.split(":")
    trained = [known.name for known in FORMS.values() if known.is_trained]
    if form not in trained:
        raise unknown("form to train", form, trained)
    adjustments.feature_column(feature)
    known = [option.name for option in estimate.OPTIONS]
    values = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise UsageError(
                f"--train wants FORM:FEATURE[:OPTION=VALUE...], as floe:pos:delta=1, not {text!r}"
            )
        if name not in known:
            raise unknown("option of --train", name, known)
        values[name] = value
    return Training(form, feature, EstimationOptions.from_values(values))


def fit(searcher: Searcher, tasks: Sequence[Task], base: Ranking, trainings: Iterable[Training]) -> Ranking:
    """The ranking with the trained curves, one after another: each learns what those before it left.

    A curve of the same form and feature that the ranking has already is replaced.
    """
    for training in trainings:
        rest = without(base, training.feature, training.form)
        found = estimates(searcher, tasks, rest, training.feature, training.how)
        made = Adjustment(training.feature, training.form, curve=found.curve(training.form))
        base = replace(rest, features=(*rest.features, made))
    return base


def without(ranking: Ranking, feature: str, form: str | None = None) -> Ranking:
    """The ranking without this feature in this form, or in any."""
    kept = tuple(f for f in ranking.features if f.feature != feature or form not in (None, f.form))
    return replace(ranking, features=kept)


def estimates(
    searcher: Searcher, tasks: Sequence[Task], base: Ranking, feature: str, how: EstimationOptions
) -> Estimates:
    """What indep and FLOE add over a base. After a curve was added to the base, what is left to gain."""
    return estimate.estimate(sample(searcher, tasks, base, feature), how)


def left_over(
    searcher: Searcher, tasks: Sequence[Task], ranking: Ranking, trainings: Iterable[Training]
) -> list[dict[str, Any]]:
    """How far FLOE is from 0 on the mean sentence, before the curve and after. Near 0, no more can be gained.

    Fernández & Losada 2012, section 5.2.2: P(I|T) computed again with T from the combined ranking.
    """
    found = []
    for training in trainings:
        before, after = (
            estimates(searcher, tasks, base, training.feature, training.how)
            for base in (without(ranking, training.feature, training.form), ranking)
        )
        distances = (float(np.average(abs(e.floe), weights=e.everywhere)) for e in (before, after))
        found.append({"feature": training.feature, **dict(zip(("before", "after"), distances, strict=True))})
    return found


def sample(searcher: Searcher, tasks: Sequence[Task], base: Ranking, feature: str) -> ValueCounts:
    """The feature's values in the collection, in R and in T, pooled over the topics.

    T has the base's best r sentences of each topic, where r is the number of its relevant sentences.
    Those that the index does not hold are passed over.
    """
    searcher = searcher.snapshot()
    searcher.check_features([feature])
    column = adjustments.feature_column(feature)
    judged = {task.topic: dict.fromkeys(task.relevant, 1) for task in tasks}
    missing = set(unknown_sentences(judged, searcher.index))
    relevant = [[id for id in task.relevant if id not in missing] for task in tasks]
    top = [_best(searcher, task, base, len(ids)) for task, ids in zip(tasks, relevant, strict=True)]
    histogram = searcher.index.histogram(column)
    return estimate.count_values(
        histogram.values,
        histogram.counts,
        _values(searcher, chain.from_iterable(relevant), column),
        _values(searcher, chain.from_iterable(top), column),
    )


def _best(searcher: Searcher, task: Task, base: Ranking, k: int) -> list[str]:
    if not k:
        return []
    try:
        found = searcher.search(task.query, k, ranking=base, filters=task.filters, records=False)
    except UnsearchableQuery:
        return []
    return [hit.sentence_id for hit in found.hits]


def _values(searcher: Searcher, ids: Iterable[str], column: str) -> Array:
    """The column of these sentences, each once."""
    distinct = list(dict.fromkeys(ids))
    parts = [
        searcher.index.evidence([], distinct[start : start + _BATCH], [column]).columns[column]
        for start in range(0, len(distinct), _BATCH)
    ]
    return np.concatenate([np.zeros(0), *parts])
