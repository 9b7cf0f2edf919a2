from __future__ import annotations

import pytest

from esr.batch import runs
from esr.errors import UsageError
from esr.index.filters import Filters
from esr.lab import measures
from esr.lab.tuner import Task, Tuner, parse_objective
from esr.models.adjustment import Adjustment
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.lab.tuning.conftest import tasks

pytestmark = pytest.mark.slow

MEASURES = ["AP", "RR", "RPrec", "P@10", "P@3", "R@5", "R@1000"]
RANKINGS = [
    Ranking("tfisf"),
    Ranking("dir", params={"mu": 3}),
    Ranking("2si", "both", {"mu": 20}),
    Ranking("2si", "document", {"lambda": 0.6}, {"length": 1.0}),
    Ranking("bm25", priors={"importance": 0.3}, candidates="context"),
    Ranking("tfisf", features=(Adjustment("len", "linear", {"w": 1e39}),)),  # infinite in single precision
]


def figures_of_a_run(searcher: Searcher, ranking: Ranking, name: str, depth: int) -> dict[str, float]:
    """The figures by topic from an evaluation of the run file."""
    figures = {}
    for task in tasks():
        hits = searcher.search(task.query, depth, ranking=ranking, filters=Filters(), records=False).hits
        lines = [line.split() for line in runs.format_lines(task.topic, hits, "x")]
        run = {task.topic: {line[2]: float(line[4]) for line in lines}}
        qrels = {task.topic: dict.fromkeys(task.relevant, 1)}
        figures[task.topic] = measures.evaluate([name], qrels, run)[name][task.topic]
    return figures


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("ranking", RANKINGS, ids=lambda r: r.model)
@pytest.mark.parametrize("depth", [1000, 7])
def test_tuning_figures_equal_those_of_an_evaluated_run_exactly(
    searcher: Searcher, ranking: Ranking, name: str, depth: int
) -> None:
    table = Tuner(searcher, tasks(), name, depth).compute_figures([ranking])
    assert dict(zip((t.topic for t in tasks()), table[0].tolist(), strict=True)) == figures_of_a_run(
        searcher, ranking, name, depth
    )


def test_a_topic_without_an_indexed_word_scores_zero(searcher: Searcher) -> None:
    unmatched = [Task("t", "unheardof", ("d0.s0",)), Task("u", "...", ("d0.s0",))]
    assert Tuner(searcher, unmatched).compute_figures([Ranking()]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("name", ["nDCG@10", "P@0", "", "P@x"])
def test_a_measure_that_ranks_do_not_determine_is_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="cannot tune for"):
        parse_objective(name)
