from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable, IndexMissing, IndexUnusable
from esr.ranking.searcher import Searcher
from tests.support.fake_index import FLOOD, STORM, FakeIndex
from webui.app import create_app
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings


@pytest.fixture
def two() -> tuple[FlaskClient, FakeIndex, FakeIndex]:
    news, old = FakeIndex(STORM), FakeIndex(FLOOD)
    settings = Settings()
    served = ServedIndexes({"news": lambda: Searcher(news), "old": lambda: Searcher(old)}, settings)
    return create_app(served, settings).test_client(), news, old


def test_the_server_is_alive_even_if_the_engine_is_not(client: FlaskClient, index: FakeIndex) -> None:
    index.error = EngineUnreachable("away")
    assert client.get("/healthz").json == {"status": "ok"}


def test_the_server_is_ready_when_each_index_is(two: tuple[FlaskClient, FakeIndex, FakeIndex]) -> None:
    client, _, _ = two
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json) == (
        200,
        {"status": "ok", "indexes": {"news": "ok", "old": "ok"}},
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EngineUnreachable("http://inside timed out"), "engine_unreachable"),
        (IndexMissing("there is no index at http://inside/news"), "index_missing"),
        (IndexUnusable("http://inside/news lacks a stored script"), "index_unusable"),
    ],
)
def test_the_server_is_not_ready_while_an_index_is_not(
    two: tuple[FlaskClient, FakeIndex, FakeIndex], error: Exception, code: str
) -> None:
    client, _, old = two
    old.error = error
    for _ in range(5):  # each check asks the engine: no breaker stops it
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert answer.json == {"status": "not ready", "indexes": {"news": "ok", "old": code}}
        assert "inside" not in answer.text
    old.error = None
    assert client.get("/readyz").status_code == 200


def test_metrics_count_requests_errors_stages_and_requests_in_flight(client: FlaskClient) -> None:
    def value(line: str) -> float:
        match = re.search(rf"^{re.escape(line)} (\S+)$", client.get("/metrics").text, re.M)
        return float(match[1]) if match else 0.0

    increases = {
        'esr_requests_total{route="results",status="200"}': 2,
        'esr_requests_total{route="api.search",status="400"}': 1,
        'esr_errors_total{code="bad_input"}': 1,
        'esr_request_seconds_count{route="results"}': 2,
        'esr_stage_seconds_count{stage="queue"}': 3,
        'esr_stage_seconds_count{stage="search"}': 2,
    }
    before = {line: value(line) for line in increases}
    client.get("/search?q=storm")
    client.get("/search?q=storm")
    client.get("/api/v1/search?q=the")
    assert {line: value(line) - before[line] for line in increases} == increases
    assert value("esr_requests_in_flight") == 1  # the request for the metrics
    answer = client.get("/metrics")
    assert answer.content_type.startswith("text/plain; version=")


def test_unknown_addresses_share_one_line_of_metrics(client: FlaskClient) -> None:
    for n in range(3):
        client.get(f"/nosuch{n}")
    text = client.get("/metrics").text
    assert 'route="none",status="404"' in text
    assert "nosuch" not in text
