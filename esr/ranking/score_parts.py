"""The scores of the first stage, split into what each origin adds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from esr.plans.evaluate import score_static, split_scores
from esr.plans.evidence import Array, Evidence
from esr.ranking.origin import LENGTH, Origin
from esr.ranking.prepared_query import PreparedQuery


class ScoreParts(NamedTuple):
    """What one origin adds to the scores of n sentences: `adds` has shape (n,)."""

    origin: Origin
    adds: Array


def score_parts(prepared: PreparedQuery, evidence: Evidence) -> Iterator[ScoreParts]:
    """What fields, collection, length, priors, features and boosts add. All of it is the score."""
    split = split_scores(prepared.plan, evidence)
    for row, term in enumerate(prepared.plan.terms):
        for name, adds in split.fields.items():
            yield ScoreParts(Origin("field", name, term.term), adds[row])
        yield ScoreParts(Origin("collection", "collection", term.term), split.background[row])
    yield ScoreParts(LENGTH, split.length)
    for origin, static in prepared.statics():
        yield ScoreParts(origin, score_static(static, evidence.columns[static.column]))
