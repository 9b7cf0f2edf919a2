"""Requests of the API, for its tests."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from flask.testing import FlaskClient

from webui.api.operation import BASE


def get(client: FlaskClient, path: str, status: int = 200, **arguments: Any) -> Any:
    """The JSON answer of an operation. `from_` and `vs__model` stand for from and vs.model."""
    values = {name.rstrip("_").replace("__", "."): value for name, value in arguments.items()}
    answer = client.get(f"{BASE}{path}?{urlencode(values, doseq=True)}")
    assert answer.status_code == status, answer.text
    return answer.json


def error(client: FlaskClient, path: str, status: int = 400, **arguments: Any) -> Any:
    """The error of an operation. All errors have one shape."""
    answer = get(client, path, status, **arguments)
    assert set(answer) == {"error"}
    assert set(answer["error"]) == {"code", "message", "field"}
    return answer["error"]


def post(client: FlaskClient, body: Any, status: int = 200) -> Any:
    """The answer to a batch."""
    answer = client.post(f"{BASE}/batch", json=body)
    assert answer.status_code == status, answer.text
    return answer


def ids(answer: Any) -> list[str]:
    return [hit["sentence_id"] for hit in answer["hits"]]
