from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable
from esr.ranking.searcher import Searcher
from tests.support.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.running.access_log import REQUEST_ID
from webui.running.logs import JsonFormatter, log_to_standard_error
from webui.running.settings import Settings


class Log:
    """What the server has logged since the last look."""

    def __init__(self) -> None:
        log_to_standard_error()
        (handler,) = (h for h in logging.getLogger().handlers if isinstance(h.formatter, JsonFormatter))
        assert isinstance(handler, logging.StreamHandler)
        assert handler.stream is sys.stderr
        self._text = handler.stream = io.StringIO()

    def lines(self) -> list[dict[str, object]]:
        text = self._text.getvalue()
        self._text.seek(0)
        self._text.truncate()
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def log() -> Iterator[Log]:
    root, own = logging.getLogger(), logging.getLogger("webui")
    handlers, levels = list(root.handlers), (root.level, own.level)
    yield Log()
    root.handlers = handlers
    root.setLevel(levels[0])
    own.setLevel(levels[1])


def test_a_request_is_one_line_of_json_without_its_arguments(log: Log, client: FlaskClient) -> None:
    answer = client.get("/search.json?q=storm+secretword&source=secretsource", headers={REQUEST_ID: "abc-1"})
    (line,) = log.lines()
    assert (line["method"], line["path"], line["status"]) == ("GET", "/search.json", 200)
    assert line["request_id"] == "abc-1" == answer.headers[REQUEST_ID]
    assert line["client"] == "127.0.0.1"
    assert line["bytes"] == len(answer.data)
    assert line["logger"] == "webui.access"
    stages = line["stages_ms"]
    assert isinstance(stages, dict)
    assert {"queue", "search", "rest"} <= set(stages)
    assert sum(stages.values()) == pytest.approx(line["ms"], abs=1.0)
    assert "secret" not in json.dumps(line)


@pytest.mark.parametrize("client_id", ["", "a b", "x" * 129, "é", 'a"b', "<script>"])
def test_a_malformed_request_id_is_replaced(client: FlaskClient, client_id: str) -> None:
    answer = client.get("/healthz", headers={REQUEST_ID: client_id})
    assert answer.headers[REQUEST_ID] != client_id
    assert len(answer.headers[REQUEST_ID]) == 32


def test_a_failure_is_logged_with_the_request_id_and_the_internal_message(
    log: Log, client: FlaskClient, index: FakeIndex
) -> None:
    index.error = EngineUnreachable("http://inside:9200 timed out")
    answer = client.get("/api/v1/search?q=storm", headers={REQUEST_ID: "abc-2"})
    failure, access = log.lines()
    assert failure["message"] == "engine_unreachable: http://inside:9200 timed out"
    assert failure["level"] == "error"
    assert {line["request_id"] for line in (failure, access)} == {"abc-2"}
    assert "inside" not in answer.text
    index.error = RuntimeError("a bug\nwith two lines")
    assert client.get("/api/v1/search?q=storm").status_code == 500
    failure, _ = log.lines()
    assert "a bug" in str(failure["trace"])


def test_the_access_log_can_be_turned_off(log: Log) -> None:
    client = create_app(Searcher(FakeIndex(STORM)), Settings(access_log=0)).test_client()
    client.get("/search?q=storm")
    assert log.lines() == []


def test_each_request_gets_an_id_of_its_own(client: FlaskClient) -> None:
    ids = [client.get("/healthz").headers[REQUEST_ID] for _ in range(100)]
    assert len(set(ids)) == 100
    assert all(re.fullmatch("[0-9a-f]{32}", id) for id in ids)
