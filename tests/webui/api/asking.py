"""How the tests ask the API."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from flask.testing import FlaskClient

from webui.api.operation import BASE


def get(client: FlaskClient, path: str, status: int = 200, **arguments: Any) -> Any:
    """The JSON answer of an operation. `from_` and `vs__model` stand for from and vs.model."""
    given = {name.rstrip("_").replace("__", "."): value for name, value in arguments.items()}
    answer = client.get(f"{BASE}{path}?{urlencode(given, doseq=True)}")
    assert answer.status_code == status, answer.text
    return answer.json


def error(client: FlaskClient, path: str, status: int = 400, **arguments: Any) -> Any:
    """The error of an operation, which has one shape."""
    found = get(client, path, status, **arguments)
    assert set(found) == {"error"}
    assert set(found["error"]) == {"code", "message", "field"}
    return found["error"]


def post(client: FlaskClient, body: Any, status: int = 200) -> Any:
    """What a batch answers."""
    answer = client.post(f"{BASE}/batch", json=body)
    assert answer.status_code == status, answer.text
    return answer


def ids(found: Any) -> list[str]:
    return [hit["sentence_id"] for hit in found["hits"]]
