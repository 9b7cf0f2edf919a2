"""Boosts are tuned as any parameter: the figures are those of searches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from esr.batch import runs
from esr.lab import grid, measures
from esr.lab.grid import ascend, search_grid
from esr.lab.tuner import Task, Tuner
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Located
from tests.support.boost_corpus import corpus
from tests.support.folder_index import load

TASKS = [
    Task("1", "who stops migrated", ("d0.0", "d3.1", "d7.0", "d9.1", "d20.0")),
    Task("2", "how many courts vote", ("d1.0", "d2.1", "d8.0", "d11.0")),
    Task("3", "court migrants court banker", ("d4.0", "d5.0", "d6.1", "d12.0", "d13.1")),
]
BOOSTED = Ranking.from_dict(
    {
        "params": {"mu": 5},
        "boosts": {"answer_type": {}, "variants": {}, "feedback": {"sentences": 2}},
        "features": [{"feature": "position", "form": "log"}],
    }
)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    where = tmp_path_factory.mktemp("tuned") / "index"
    load(where, [Located("made up", document) for document in corpus(0, 30)])
    with open_searcher(str(where)) as searcher:
        yield searcher


def figures(searcher: Searcher, ranking: Ranking) -> list[float]:
    """AP of the runs of searches, topic by topic."""
    values = []
    for task in TASKS:
        hits = searcher.search(task.query, 1000, ranking=ranking, records=False).hits
        lines = [line.split() for line in runs.format_lines(task.topic, hits, "x")]
        run = {task.topic: {line[2]: float(line[4]) for line in lines}}
        qrels = {task.topic: dict.fromkeys(task.relevant, 1)}
        values.append(measures.evaluate(["AP"], qrels, run)["AP"][task.topic])
    return values


def test_the_default_grid_has_the_weights_that_the_ranking_leaves_open() -> None:
    names = set(grid.build_default_grid(BOOSTED))
    assert {"answer_type.w", "variants.w", "feedback.w", "position.w"} <= names
    assert "variants.w" not in grid.build_default_grid(Ranking(boosts={"variants": 0.2}))
    tuned = grid.set_parameters(BOOSTED, {"variants.w": 0.4, "feedback.terms": 3.0, "mu": 7.0})
    assert tuned.boosts == {
        "answer_type": {},
        "variants": {"w": 0.4},
        "feedback": {"sentences": 2.0, "terms": 3.0},
    }
    assert grid.parameter_values(tuned)["feedback.terms"] == 3.0


@pytest.mark.parametrize(
    "values",
    [
        {"answer_type.w": [0.0, 0.5, 3.0], "variants.w": [0.0, 0.3, 2.0]},
        {"feedback.terms": [1.0, 4.0], "feedback.w": [0.0, 0.4, 2.0]},
        {"feedback.w": [0.5, 2.0], "mu": [1.0, 50.0], "position.w": [-3.0, 1.0]},  # the first search changes
    ],
    ids=lambda values: "+".join(values),
)
def test_the_figures_of_settings_are_those_of_searches(
    searcher: Searcher, values: dict[str, list[float]]
) -> None:
    settings = grid.expand_grid(BOOSTED, values)
    table = Tuner(searcher, TASKS).compute_figures(settings)
    assert table.tolist() == [figures(searcher, setting) for setting in settings]
    assert len({tuple(row) for row in table.tolist()}) > 2


def test_boosts_signals_and_features_are_tuned_together(searcher: Searcher) -> None:
    ranking = Ranking.from_dict({**BOOSTED.as_dict(), "rerank": [{"signal": "tdsr", "w": 1}]})
    values = {"variants.w": [0.0, 2.0], "tdsr.w": [0.0, 1.0], "position.w": [-1.0, 0.0]}
    settings = grid.expand_grid(ranking, values)
    assert len(settings) == 8
    table = Tuner(searcher, TASKS).compute_figures(settings)
    assert table.tolist() == [figures(searcher, setting) for setting in settings]
    best = search_grid(Tuner(searcher, TASKS), ranking, values)
    assert best.figures.mean() == table.mean(axis=1).max()
    assert ascend(Tuner(searcher, TASKS), ranking, values).figures.mean() <= best.figures.mean()
