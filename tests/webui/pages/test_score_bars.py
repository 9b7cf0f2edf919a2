from __future__ import annotations

from typing import Any

import pytest

from esr.ranking.explain import Explanation, explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.pages.score_bars import WIDTH, score_bars

SENTENCE = "earthquake-relief.s0"
RANKINGS: list[dict[str, Any]] = [
    {},
    {"model": "bm25"},
    {"model": "tdsr"},
    {"model": "mrf_sdm", "params": {"lambda_SR": 0.5}},
    {"priors": {"length": 1.0}, "features": [{"feature": "subj", "form": "linear", "w": -1.0}]},
    {"rerank": [{"signal": "tdsr", "w": 3.0}]},
    {"boosts": {"variants": 0.3}},
]


def explanation_of(searcher: Searcher, query: str, data: dict[str, Any]) -> Explanation:
    return explain(searcher.prepare(query, Ranking.from_dict(data)), SENTENCE)


@pytest.mark.parametrize("data", RANKINGS)
def test_the_rows_add_up_to_the_score_and_stay_within_the_drawing(
    searcher: Searcher, data: dict[str, Any]
) -> None:
    explanation = explanation_of(searcher, "earthquakes relief China", data)
    bars = score_bars(explanation)
    assert sum(row.adds for row in bars.rows) == pytest.approx(explanation.score, abs=1e-6)
    for row in bars.rows:
        for piece in row.pieces:
            assert piece.x >= -1e-6 and piece.x + piece.width <= WIDTH + 1e-6
            assert (piece.x >= bars.zero - 1e-6) == (piece.adds > 0)


def test_a_boost_that_looks_at_a_feature_has_a_row_of_its_own(searcher: Searcher) -> None:
    explanation = explanation_of(searcher, "where was the earthquake", {"boosts": {"answer_type": 2.0}})
    bars = score_bars(explanation)
    assert [(row.label, row.adds) for row in bars.rows if row.kind == "boost"] == [("answer_type loc", 2.0)]
    assert sum(row.adds for row in bars.rows) == pytest.approx(explanation.score, abs=1e-6)
