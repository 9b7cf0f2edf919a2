from __future__ import annotations

from collections.abc import Sequence

import pytest
from flask.testing import FlaskClient

from esr.ranking.completion import Completion
from esr.ranking.searcher import Searcher
from tests.support.api_requests import error, get

FLOOD = Completion("flood", "word", 2, "storm flood")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What is asked for, where everything is completed to a flood."""
    questions: list[tuple[str, int]] = []

    def complete(searcher: Searcher, text: str, limit: int) -> Sequence[Completion]:
        questions.append((text, limit))
        return [FLOOD]

    monkeypatch.setattr("webui.api.complete.complete_query", complete)
    return questions


def test_completions_have_their_kind_their_count_and_the_query(
    client: FlaskClient, asked: list[tuple[str, int]]
) -> None:
    answer = get(client, "/complete", q="storm fl")
    assert answer == {
        "completions": [{"text": "flood", "kind": "word", "frequency": 2, "query": "storm flood"}]
    }
    get(client, "/complete", q="storm fl", limit=3)
    assert asked == [("storm fl", 8), ("storm fl", 3)]


def test_nothing_is_completed_to_nothing(client: FlaskClient, asked: list[tuple[str, int]]) -> None:
    for query in ("", "  "):
        assert get(client, "/complete", q=query) == {"completions": []}
    assert get(client, "/complete") == {"completions": []}
    assert not asked


@pytest.mark.parametrize("limit", [0, 21, "many"])
def test_a_bad_limit_is_named(client: FlaskClient, limit: object) -> None:
    assert error(client, "/complete", q="st", limit=limit)["field"] == "limit"
