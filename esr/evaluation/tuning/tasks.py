"""Tuning tasks from topics and their judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from esr.engines.index import NO_FILTERS, Filters
from esr.errors import UsageError
from esr.evaluation.qrels import Qrels
from esr.evaluation.topic import TITLE, Topic
from esr.evaluation.tuning.tuner import Task


class TaskSet(NamedTuple):
    """The tasks, and the topics without a relevant sentence, on which nothing can be tuned."""

    ready: list[Task]
    unjudged: list[str]


def build_tasks(
    topics: Iterable[Topic],
    qrels: Qrels,
    *,
    field: str = TITLE,
    restrictions: Mapping[str, tuple[str, ...]] | None = None,
) -> TaskSet:
    """One task per topic with a relevant sentence. Raises UsageError if there is none."""
    ready, unjudged = [], []
    for topic in topics:
        relevant = tuple(s for s, grade in qrels.get(topic.id, {}).items() if grade > 0)
        if not relevant:
            unjudged.append(topic.id)
            continue
        filters = NO_FILTERS
        if restrictions is not None:
            # No id is empty, so that ("",) excludes all documents.
            filters = Filters(documents=restrictions.get(topic.id, ("",)))
        ready.append(Task(topic.id, topic.query(field), relevant, filters))
    if not ready:
        raise UsageError("no topic has a sentence judged relevant: check that topics and judgements match")
    return TaskSet(ready, unjudged)
