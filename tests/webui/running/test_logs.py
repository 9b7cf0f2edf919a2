"""JSON is written as the module `json` writes it, in a part of its time."""

from __future__ import annotations

import io
import json
import logging
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from flask import Flask, Response
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from esr.cli.run_metrics import measure_run
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable, UsageError
from esr.ranking.searcher import Searcher
from esr.stdlib import replace_nonfinite
from tests.support.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.running import telemetry
from webui.running.logs import JsonFormatter, log_to_standard_error, write_json
from webui.running.settings import Settings
from webui.running.telemetry import REQUEST_ID
from webui.translations.language import as_sentence


def test_the_log_does_not_read_an_answer_that_is_sent_in_pieces(log: Log) -> None:
    app, read = Flask("app"), []
    telemetry.install_access_log(app, Settings())

    def write() -> Iterator[str]:
        for piece in ("one", "two"):
            read.append(piece)
            yield piece

    app.add_url_rule("/pieces", view_func=lambda: Response(write()))
    with app.test_client().get("/pieces") as answer:
        (line,) = log.lines()
        assert read == ["one"] and (line["status"], line["bytes"]) == (200, None)  # the client reads a piece
        assert answer.text == "onetwo"


def test_any_message_makes_one_line() -> None:
    record = logging.LogRecord("webui", logging.INFO, "", 0, "a\nb\u2028c \ud800 \x1b[31m", (), None)
    line = JsonFormatter().format(record)
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert json.loads(line)["message"] == "a\nb\u2028c \ud800 \x1b[31m"


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


_NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_TEXTS = st.text(st.characters(exclude_categories=()))  # halves of surrogate pairs too
_DATA = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner),
)


def dumps(data: Any, *, sort_keys: bool = True) -> str:
    return json.dumps(data, sort_keys=sort_keys, separators=(",", ":"))


def test_numbers_that_json_does_not_have_become_null_at_any_depth() -> None:
    nan, inf = float("nan"), float("inf")
    data = {"a": nan, "b": [1.5, -inf, {"c": (inf, 2)}], "d": None, "e": "NaN", "f": True}
    expected = {"a": None, "b": [1.5, None, {"c": [None, 2]}], "d": None, "e": "NaN", "f": True}
    assert replace_nonfinite(data) == expected
    assert write_json(data) == dumps(expected).encode()
    assert write_json([np.float64(nan), 1 << 70]) == b"[null,1180591620717411303424]"


@given(_DATA)
def test_any_data_is_read_as_it_was_written(data: Any) -> None:
    written = write_json(data)
    assert written.isascii()
    assert json.loads(written) == json.loads(dumps(data))


@given(_TEXTS | st.floats(1e-4, 1e15) | st.dictionaries(_TEXTS, st.integers()), st.booleans())
def test_texts_keys_and_common_numbers_have_the_bytes_that_json_writes(data: Any, sort_keys: bool) -> None:
    assert write_json(data, sort_keys=sort_keys).decode() == dumps(data, sort_keys=sort_keys)


@pytest.mark.parametrize("character", ["\x7f", "\x1f", "\u2028", "é", "😀", "\ud800", '"', "\\", "/"])
def test_characters_are_escaped_as_json_does(character: str) -> None:
    assert write_json({character: f"a{character}b"}).decode() == dumps({character: f"a{character}b"})


def test_a_number_of_numpy_is_one() -> None:
    assert json.loads(write_json([np.float64(math.pi)])) == [math.pi]


ENGINE = [
    (EngineUnreachable("http://inside:9200: timed out"), 503, "engine_unreachable", "is not responding"),
    (IndexMissing("no index at /inside"), 503, "index_missing", "does not exist"),
    (IndexUnusable("/inside is damaged"), 503, "index_unusable", "cannot be used"),
    (EsrError("inside: something else"), 500, "internal", "went wrong"),
    (ZeroDivisionError("inside"), 500, "internal", "went wrong"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("error", "status", "code", "title"), ENGINE)
def test_an_engine_error_is_answered_without_internals(
    client: FlaskClient, index: FakeIndex, error: Exception, status: int, code: str, title: str
) -> None:
    index.error = error
    page = client.get("/search?q=storm")
    assert (page.status_code, page.mimetype) == (status, "text/html")
    assert title in page.text
    answer = client.get("/search.json?q=storm")
    assert answer.status_code == status
    assert answer.json is not None
    assert answer.json["error"]["code"] == code
    assert set(answer.json["error"]) == {"code", "message", "field"}
    assert not client.application.debug
    for text in (page.text, answer.text):
        assert "inside" not in text and "Traceback" not in text
    assert ("Retry-After" in page.headers) == (status == 503)


@pytest.mark.slow
@pytest.mark.parametrize(("error", "status"), [(e, s) for e, s, *_ in ENGINE])
def test_an_engine_error_is_logged(
    client: FlaskClient,
    index: FakeIndex,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
) -> None:
    index.error = error
    client.get("/search?q=storm")
    assert "inside" in caplog.text
    assert ("Traceback" in caplog.text) == (status == 500)


@pytest.mark.slow
def test_the_page_recovers_with_the_engine(client: FlaskClient, index: FakeIndex) -> None:
    index.error = EngineUnreachable("down")
    assert client.get("/search?q=storm").status_code == 503
    index.error = None
    assert client.get("/search?q=storm").status_code == 200


@pytest.mark.slow
def test_a_usage_error_of_the_engine_is_a_bad_request(client: FlaskClient, index: FakeIndex) -> None:
    index.error = UsageError("lambda + nu is 1.2: at most 1")
    answer = client.get("/search.json?q=storm")
    assert answer.status_code == 400
    assert answer.json == {
        "error": {"code": "bad_input", "message": "Lambda + nu is 1.2: at most 1.", "field": None}
    }


@pytest.mark.slow
def test_parameters_that_contradict_each_other_are_a_bad_request(client: FlaskClient) -> None:
    answer = client.get("/search.json?q=storm&params.lambda=0.9&params.nu=0.9")
    assert answer.status_code == 400
    assert answer.json is not None and "lambda + nu" in answer.json["error"]["message"].lower()


@pytest.mark.slow
def test_an_unknown_path_is_not_found(client: FlaskClient) -> None:
    assert "Page not found" in client.get("/nowhere").text
    assert client.get("/nowhere").status_code == 404
    for path in ("/static/../app.py", "/static", "/static/"):
        assert client.get(path).status_code == 404
    answer = client.get("/nowhere.json")
    assert answer.json is not None and answer.json["error"]["code"] == "not_found"


@pytest.mark.slow
@pytest.mark.parametrize(
    "address", ["/search.csv?q=storm&k=9999999", "/search.bib?q=the", "/document.csv?id=x"]
)
def test_the_error_of_a_file_is_a_text_for_browsers_and_json_for_programs(
    client: FlaskClient, address: str
) -> None:
    for accept in ({}, {"Accept": "*/*"}, {"Accept": "text/csv"}):
        answer = client.get(address, headers=accept)
        assert answer.status_code in (400, 404)
        assert answer.json is not None and answer.json["error"]["field"] in ("k", "q", "id")
    page = client.get(address, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.mimetype) == (answer.status_code, "text/plain")
    assert "<" not in page.text


@pytest.mark.slow
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/search?q=storm", "/search.json?q=storm", "/healthz"])
def test_pages_take_get_and_head_only(client: FlaskClient, method: str, path: str) -> None:
    answer = client.open(path, method=method)
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD"}


@pytest.mark.slow
def test_a_head_request_is_answered_without_a_body(client: FlaskClient) -> None:
    answer = client.head("/search?q=storm")
    assert (answer.status_code, answer.data) == (200, b"")


@pytest.mark.slow
def test_a_message_becomes_a_sentence() -> None:
    assert as_sentence("the query is empty") == "The query is empty."
    assert as_sentence("did you mean it?") == "Did you mean it?"


# What to watch

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"


def test_each_query_is_counted_and_written_down_where_it_is_wanted(
    searcher: Searcher, tmp_path: Path
) -> None:
    file = tmp_path / "queries.jsonl"
    client = create_app(searcher, Settings(access_log=0, query_log=str(file))).test_client()

    def counts() -> tuple[float, float]:
        text = client.get("/metrics").get_data(as_text=True)
        found = [
            re.search(rf'^esr_{name}_total{{index="index"}} ([0-9.]+)$', text, re.MULTILINE)
            for name in ("searches", "searches_without_hits")
        ]
        return tuple(float(match[1]) if match else 0.0 for match in found)  # type: ignore[return-value]

    before = counts()
    body = {"queries": [{"id": "1", "query": "earthquake"}, {"id": "2", "query": "zzzz"}]}
    for path in ("/search?q=earthquake", "/search.csv?q=zzzz", "/api/v1/search?q=zz\u00e9zz%0Ayy"):
        assert client.get(path).status_code == 200
    assert client.post("/api/v1/batch", json=body).status_code == 200
    assert [after - now for after, now in zip(counts(), before, strict=True)] == [5, 3]
    lines = [json.loads(line) for line in file.read_text("ascii").splitlines()]
    assert [line["query"] for line in lines] == ["earthquake", "zzzz", "zz\u00e9zz\nyy", "earthquake", "zzzz"]
    assert [line["hits"] > 0 for line in lines] == [True, False, False, True, False]
    assert file.stat().st_mode & 0o777 == 0o600
    file.rename(tmp_path / "moved")
    client.get("/search?q=earthquake")
    assert len(file.read_text().splitlines()) == 1
    file.unlink()
    file.mkdir()
    assert client.get("/search?q=earthquake").status_code == 200  # better no line than no answer
    with pytest.raises(EsrError, match="cannot write"):
        telemetry.check_query_log(Settings(query_log=str(file)))


@pytest.fixture
def metrics_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ESR_METRICS_FOLDER", str(tmp_path))
    with measure_run("sync", "index"):
        pass
    (file,) = tmp_path.iterdir()
    return file.read_text("utf-8")


def test_alerts_and_the_dashboard_ask_for_metrics_that_there_are(
    searcher: Searcher, metrics_of_a_run: str
) -> None:
    client = create_app(searcher, Settings(access_log=0)).test_client()
    client.get("/search?q=zzzz")
    client.get("/nowhere")
    told = client.get("/metrics").get_data(as_text=True)
    told += metrics_of_a_run
    rules = yaml.safe_load((DEPLOY / "prometheus-alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((DEPLOY / "grafana-dashboard.json").read_text())["panels"]
    asked = [rule["expr"] for rule in rules] + [t["expr"] for panel in panels for t in panel["targets"]]
    names = {name for expression in asked for name in re.findall(r"\besr_[a-z_]+", expression)}
    assert len(names) > 8
    assert {name for name in names if not re.search(rf"^{name}[ {{]", told, re.MULTILINE)} == set()
    assert all({"alert", "expr", "for", "labels", "annotations"} <= rule.keys() for rule in rules)
    made = re.search(r'^esr_index_made_timestamp_seconds{index="index"} (\S+)$', told, re.MULTILINE)
    assert made
    assert float(made[1]) > 1.7e9
