"""Topics made by chance, with signals that help, that do not, and that know too much."""

from __future__ import annotations

import numpy as np

from esr.learning.gather import TopicSignals
from esr.ranking.ranking_signal import RankingSignal

HELPS, NOISE = "dir", "feature quote"
SIGNALS = (RankingSignal(HELPS), RankingSignal(NOISE))
DEPTH = 20


def topics(number: int, seed: int = 0, below: int = 5) -> list[TopicSignals]:
    """Each has two relevant sentences, perhaps below the candidates. `dir` is higher for these."""
    chance = np.random.default_rng(seed)
    made = []
    for n in range(number):
        total = DEPTH + below
        ids = tuple(f"d{n}.s{place}" for place in range(total))
        chosen = chance.choice(total, 2, replace=False).tolist()
        grades_of = {ids[place]: int(chance.integers(1, 3)) for place in chosen} | {f"lost{n}": 1}
        grades = np.array([grades_of.get(id, 0) for id in ids[:DEPTH]], np.int64)
        helps = chance.normal(size=DEPTH) + 2.0 * (grades > 0)
        first = np.sort(chance.normal(size=total))[::-1].copy()
        values = np.column_stack([helps, chance.normal(size=DEPTH)])
        made.append(TopicSignals(f"t{n}", f"words of {n}", ids, first, values, grades, grades_of))
    return made
