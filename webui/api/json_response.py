"""Answers as JSON that any reader takes: no infinity, no NaN."""

from __future__ import annotations

import math
from typing import Any

from flask import Response, current_app, jsonify


def json_answer(data: Any) -> Response:
    try:
        text = current_app.json.dumps(data, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return jsonify(finite(data))
    return current_app.response_class(f"{text}\n", mimetype="application/json")


def finite(data: Any) -> Any:
    """The same data, null in the place of each number that JSON does not know."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return data
