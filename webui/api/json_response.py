"""Answers as JSON that any parser accepts: no infinity, no NaN."""

from __future__ import annotations

import math
from typing import Any

from flask import Response, current_app, jsonify


def json_response(data: Any) -> Response:
    try:
        text = current_app.json.dumps(data, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return jsonify(replace_nonfinite(data))
    return current_app.response_class(f"{text}\n", mimetype="application/json")


def replace_nonfinite(data: Any) -> Any:
    """The same data, with null in place of numbers that JSON does not have."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: replace_nonfinite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [replace_nonfinite(value) for value in data]
    return data
