"""

JSON is written as the module `json` writes it, in a part of its time.
"""

from __future__ import annotations

import io
import json
import logging
import math
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from esr.errors import EngineUnreachable
from esr.json_text import replace_nonfinite
from esr.ranking.searcher import Searcher
from tests.support.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.running.logs import JsonFormatter, log_to_standard_error, write_json
from webui.running.metrics import REQUEST_ID
from webui.running.settings import Settings


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
