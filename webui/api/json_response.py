"""Answers as JSON that any parser accepts: no infinity, no NaN."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app

from webui.running.json_text import write_json


def json_response(data: Any) -> Response:
    return current_app.response_class(write_json(data) + b"\n", mimetype="application/json")
