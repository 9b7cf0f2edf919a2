from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from esr.errors import UsageError
from esr.learning import linear
from esr.learning.gather import TopicSignals
from esr.learning.learn import Wanted, learn, steps
from esr.learning.learner import Learned
from esr.learning.table import Table
from esr.learning.twins import groups
from esr.learning.validate import cross_validated, split
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from tests.learning.making import SIGNALS, topics


class Memory:
    """A learner that keeps the relevant sentences of its topics, told by a signal that numbers sentences."""

    def __init__(self, table: Table, signals: Sequence[RankingSignal], seed: int) -> None:
        self.signals = tuple(signals)
        self.importance = np.ones(len(signals))
        self.topics = {each.topic for each in table.topics}
        known = [each.values[each.grades > 0, 0] for each in table.topics]
        self._known = np.concatenate(known)

    def scores(self, table: Table) -> Array:
        return np.asarray(table.first + 100.0 * np.isin(table.values[..., 0], self._known))

    def ranking(self, base: Ranking, depth: int) -> Ranking:
        return base


def numbered(seed: int = 0) -> list[TopicSignals]:
    """Topics in pairs: both of a pair have the same sentences, which a signal numbers at random."""
    chance = np.random.default_rng(seed)
    made = []
    for each in topics(30, seed):
        values = each.values.copy()
        values[:, 0] = chance.permutation(10**6)[: len(values)]
        one = replace(each, values=values)
        made += [one, replace(one, topic=f"{each.topic}-twin", query=f"otherwise {each.query}")]
    return made


def learner(table: Table, signals: Sequence[RankingSignal], seed: int) -> Learned:
    return Memory(table, signals, seed)


def test_what_remembers_topics_gains_nothing_on_those_left_out() -> None:
    some = numbered()
    table = Table(some, "AP")
    default = table.figures(table.first)
    remembered = table.figures(learner(table, SIGNALS, 0).scores(table))
    assert remembered.mean() > default.mean() + 0.2
    apart = split(table, 5, groups(some, {}), 0)
    assert table.figures(cross_validated(table, SIGNALS, learner, apart, 0)).tolist() == default.tolist()
    # With twins on both sides it would have gained: this is what the groups are for.
    mixed = split(table, 5, {}, 0)
    assert table.figures(cross_validated(table, SIGNALS, learner, mixed, 0)).mean() > default.mean() + 0.1


def test_no_group_is_cut_and_every_topic_is_in_one_fold() -> None:
    some = numbered()
    table = Table(some, "AP")
    together = groups(some, {"t0": "x", "t1": "x", "t2": "x"})
    parts = split(table, 4, together, 1)
    assert sorted(place for part in parts for place in part) == list(range(60))
    owners: dict[str, set[int]] = {}
    for number, part in enumerate(parts):
        for place in part:
            owners.setdefault(together[some[place].topic], set()).add(number)
    assert {len(each) for each in owners.values()} == {1}
    assert together["t0"] == together["t2-twin"]
    with pytest.raises(UsageError, match="61 folds need at least 2"):
        split(table, 61, together, 0)


def test_figures_are_of_what_the_other_folds_taught() -> None:
    table = Table(topics(40), "AP")
    parts = split(table, 4, {}, 0)
    scores = cross_validated(table, SIGNALS, linear.fit, parts, 0)
    rest = sorted(set(range(40)) - set(parts[1]))
    wanted = linear.fit(table.part(rest), SIGNALS, 0).scores(table.part(parts[1]))
    assert scores[parts[1]].tolist() == wanted.tolist()


def test_an_outcome_tells_gain_importance_and_what_is_lost_without_a_signal() -> None:
    wanted = Wanted("linear", "AP", 4, 0, 20, "signals")
    ticks: list[int] = []
    ranking, found = learn(topics(80), SIGNALS, Ranking(), wanted, {}, ticks.append)
    assert sum(ticks) == steps(SIGNALS, wanted) == 13
    assert [each.signal for each in ranking.rerank] == ["dir"]
    assert found.comparison.difference > 0.05
    assert found.comparison.t_test < 0.01
    assert found.figure(1) - found.figure(0) == pytest.approx(found.comparison.difference)
    assert [name for name, _ in found.importance] == ["dir", "feature quote"]
    lost = {each.without: each for each in found.ablated}
    assert lost["dir"].comparison.difference == pytest.approx(found.figure(1) - lost["dir"].figure)
    assert lost["dir"].comparison.difference > 0.05 > abs(lost["feature quote"].comparison.difference)
    assert lost["dir"].comparison.t_test_holm < 0.01


def test_what_cannot_be_learned_from_is_refused() -> None:
    lost = [replace(each, grades=np.zeros_like(each.grades)) for each in topics(10)]
    wanted = Wanted("linear", "AP", 2, 0, 20, "no")
    with pytest.raises(UsageError, match="nothing to learn from"):
        learn(lost, SIGNALS, Ranking(), wanted, {})
