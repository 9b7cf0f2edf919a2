"""Splits topics into folds, so that every figure is for held-out topics."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Protocol

from esr.errors import UsageError


class HasTopic(Protocol):
    @property
    def topic(self) -> str: ...


def split_folds(
    tasks: Sequence[HasTopic], number: int, groups: Mapping[str, str], seed: int = 0
) -> list[list[int]]:
    """The positions of the tasks in `number` folds. Topics of a group are in the same fold.

    Deterministic for a seed. Raises UsageError if there are fewer groups than folds.
    """
    by_group: dict[str, list[int]] = {}
    for position, task in enumerate(tasks):
        by_group.setdefault(groups.get(task.topic, task.topic), []).append(position)
    if not 2 <= number <= len(by_group):
        raise UsageError(
            f"the number of folds must be from 2 to {len(by_group)}, the number of topic groups, not {number}"
        )
    names = sorted(by_group)
    random.Random(seed).shuffle(names)
    folds: list[list[int]] = [[] for _ in range(number)]
    for name in names:
        min(folds, key=len).extend(by_group[name])
    return [sorted(fold) for fold in folds]
