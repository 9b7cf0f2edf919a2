from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable
from esr.ranking.searcher import Searcher
from tests.webui.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.observing import ID, JsonLines, log_to_standard_error
from webui.settings import Settings


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """The server's log, as the server has it."""
    logger = logging.getLogger("webui")
    kept = logger.handlers, logger.level, logger.propagate
    log_to_standard_error()
    yield
    logger.handlers, logger.level, logger.propagate = kept[0], kept[1], kept[2]
    logger.setLevel(kept[1])


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_request_is_one_line_of_json_without_what_was_searched_for(
    log: None, client: FlaskClient, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = client.get("/search.json?q=storm+secretword&source=secretsource", headers={ID: "abc-1"})
    (line,) = lines(capsys)
    assert (line["method"], line["path"], line["status"]) == ("GET", "/search.json", 200)
    assert line["request_id"] == "abc-1" == answer.headers[ID]
    assert line["client"] == "127.0.0.1"
    assert line["bytes"] == len(answer.data)
    assert line["logger"] == "webui.access"
    spent = line["stages_ms"]
    assert isinstance(spent, dict)
    assert {"queue", "search", "rest"} <= set(spent)
    assert sum(spent.values()) == pytest.approx(line["ms"], abs=1.0)
    assert "secret" not in json.dumps(line)


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "é", 'a"b', "<script>"])
def test_an_id_that_is_none_is_replaced(client: FlaskClient, given: str) -> None:
    answer = client.get("/healthz", headers={ID: given})
    assert answer.headers[ID] != given
    assert len(answer.headers[ID]) == 32


def test_what_fails_is_logged_with_the_id_and_inside_words(
    log: None, client: FlaskClient, index: FakeIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    index.error = EngineUnreachable("http://inside:9200 timed out")
    answer = client.get("/api/v1/search?q=storm", headers={ID: "abc-2"})
    told, access = lines(capsys)
    assert told["message"] == "engine_unreachable: http://inside:9200 timed out"
    assert told["level"] == "error"
    assert {line["request_id"] for line in (told, access)} == {"abc-2"}
    assert "inside" not in answer.text
    index.error = RuntimeError("a bug\nwith two lines")
    assert client.get("/api/v1/search?q=storm").status_code == 500
    told, _ = lines(capsys)
    assert "a bug" in str(told["trace"])


def test_there_are_no_lines_for_requests_if_none_are_wanted(
    log: None, capsys: pytest.CaptureFixture[str]
) -> None:
    client = create_app(Searcher(FakeIndex(STORM)), Settings(access_log=0)).test_client()
    client.get("/search?q=storm")
    assert lines(capsys) == []


def test_a_line_stays_one_line_whatever_is_in_it() -> None:
    record = logging.LogRecord("webui", logging.INFO, "", 0, "a\nb\u2028c \ud800 \x1b[31m", (), None)
    line = JsonLines().format(record)
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert json.loads(line)["message"] == "a\nb\u2028c \ud800 \x1b[31m"
