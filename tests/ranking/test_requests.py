"""Which rankings can be requests of Elasticsearch with their second stage."""

from __future__ import annotations

from typing import Any

import pytest

from esr.ranking.ranking import Ranking
from esr.ranking.requests import can_rescore

SENTENCE_ALONE = {"signal": "meaning", "nu": 0.0, "lambda": 0.0}


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        ({"rerank": [SENTENCE_ALONE]}, True),
        ({}, False),
        ({"rerank": [SENTENCE_ALONE, {"signal": "bm25"}]}, False),
        ({"rerank": [{"signal": "bm25"}]}, False),
        ({"rerank": [{**SENTENCE_ALONE, "nu": 0.5}]}, False),
        ({"rerank": [{**SENTENCE_ALONE, "lambda": 0.5}]}, False),
    ],
)
def test_a_request_can_rerank_by_one_similarity_of_sentences_alone(
    ranking: dict[str, Any], expected: bool
) -> None:
    assert can_rescore(Ranking.from_dict(ranking)) is expected
