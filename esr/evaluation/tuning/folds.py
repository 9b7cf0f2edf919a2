"""Topics cut into folds, so that every figure is of topics that were not trained on."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Protocol

from esr.errors import UsageError


class OfTopic(Protocol):
    @property
    def topic(self) -> str: ...


def folds(tasks: Sequence[OfTopic], number: int, groups: Mapping[str, str], seed: int = 0) -> list[list[int]]:
    """Places of the tasks, in `number` parts. Topics of one group stay together.

    Deterministic for a seed. Raises UsageError if there are fewer groups than parts.
    """
    by_group: dict[str, list[int]] = {}
    for place, task in enumerate(tasks):
        by_group.setdefault(groups.get(task.topic, task.topic), []).append(place)
    if not 2 <= number <= len(by_group):
        raise UsageError(f"{number} folds need at least 2 and at most {len(by_group)}, one topic group each")
    names = sorted(by_group)
    random.Random(seed).shuffle(names)
    parts: list[list[int]] = [[] for _ in range(number)]
    for name in names:
        min(parts, key=len).extend(by_group[name])
    return [sorted(part) for part in parts]
