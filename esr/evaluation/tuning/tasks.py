"""Topics with their judgements, made ready to tune on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from esr.engines.index import NO_FILTERS, Filters
from esr.errors import UsageError
from esr.evaluation.qrels import Qrels
from esr.evaluation.topic import TITLE, Topic
from esr.evaluation.tuning.figures import Task


class Tasks(NamedTuple):
    """What can be tuned on, and the topics that cannot: nothing is judged relevant for them."""

    ready: list[Task]
    unjudged: list[str]


def make(
    topics: Iterable[Topic],
    qrels: Qrels,
    *,
    field: str = TITLE,
    restrictions: Mapping[str, tuple[str, ...]] | None = None,
) -> Tasks:
    """One task a topic with a relevant sentence. Raises UsageError if there is none."""
    ready, unjudged = [], []
    for topic in topics:
        relevant = tuple(s for s, grade in qrels.get(topic.id, {}).items() if grade > 0)
        if not relevant:
            unjudged.append(topic.id)
            continue
        filters = NO_FILTERS
        if restrictions is not None:
            filters = Filters(documents=restrictions.get(topic.id, ("",)))  # no id is empty: nothing passes
        ready.append(Task(topic.id, topic.query(field), relevant, filters))
    if not ready:
        raise UsageError("no topic has a sentence judged relevant: there is nothing to tune on")
    return Tasks(ready, unjudged)
