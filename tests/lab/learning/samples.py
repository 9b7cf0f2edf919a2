"""Random topics whose signals help or are noise."""

from __future__ import annotations

import numpy as np

from esr.lab.training_data import TopicSignals
from esr.ranking.signals import RankingSignal

HELPS, NOISE = "dir", "feature quote"
SIGNALS = (RankingSignal(HELPS), RankingSignal(NOISE))
DEPTH = 20


def topics(number: int, seed: int = 0, below: int = 5) -> list[TopicSignals]:
    """Each has two relevant sentences, which may be below the candidates; `dir` is higher for these."""
    chance = np.random.default_rng(seed)
    sample = []
    for n in range(number):
        total = DEPTH + below
        ids = tuple(f"d{n}.s{position}" for position in range(total))
        relevant = chance.choice(total, 2, replace=False).tolist()
        judgements = {ids[position]: int(chance.integers(1, 3)) for position in relevant} | {f"lost{n}": 1}
        grades = np.array([judgements.get(id, 0) for id in ids[:DEPTH]], np.int64)
        helps = chance.normal(size=DEPTH) + 2.0 * (grades > 0)
        first_scores = np.sort(chance.normal(size=total))[::-1].copy()
        values = np.column_stack([helps, chance.normal(size=DEPTH)])
        first_run = dict(zip(ids, first_scores.tolist(), strict=True))
        sample.append(
            TopicSignals(f"t{n}", f"words of {n}", ids, first_scores, values, grades, judgements, first_run)
        )
    return sample
