"""The server's log: lines of JSON on standard error."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

from flask import g, has_request_context

from webui.running.json_text import write_json


class JsonFormatter(logging.Formatter):
    """Writes each record as a JSON object, with the id of the request that it belongs to.

    A record may bring further keys in its attribute `json_fields`.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if has_request_context():
            line["request_id"] = g.get("request_id")
        line |= getattr(record, "json_fields", {})
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return write_json(line, sort_keys=False).decode()


def log_to_standard_error() -> None:
    """Send this process's log to standard error as JSON lines: our own, and warnings of libraries."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    # The lines have none of these, and they take most of the time of a record.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("webui").setLevel(logging.INFO)
