"""The server's log: lines of JSON on standard error, including the access log.

The JSON is ASCII, for programs that may read it in any encoding, and has null for infinity and NaN. Each
request has an id, which is also in its answer.
"""

from __future__ import annotations

import codecs
import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from flask import g, has_request_context

from esr.stdlib import replace_nonfinite

_sorted, _unsorted = msgspec.json.Encoder(order="sorted"), msgspec.json.Encoder()
_ESCAPE = "esr-json"
"""The name of the codec error handler that escapes characters outside ASCII."""


def write_json(data: Any, *, sort_keys: bool = True) -> bytes:
    """The data as compact JSON in ASCII, with null for infinity and NaN.

    The result is that of the module `json` in a third of the time, except that numbers below .0001 or from
    1e16 on may be written in another form.
    """
    try:
        encoded = (_sorted if sort_keys else _unsorted).encode(data)
    except (TypeError, UnicodeEncodeError, OverflowError):
        # Only `json` takes numpy numbers, lone surrogates and integers of more than 64 bits.
        encoded = json.dumps(replace_nonfinite(data), sort_keys=sort_keys, separators=(",", ":")).encode()
    if not encoded.isascii():
        encoded = encoded.decode().encode("ascii", _ESCAPE)
    return encoded.replace(b"\x7f", b"\\u007f")


def _escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPE, _escape)


class JsonFormatter(logging.Formatter):
    """Formats each record as a JSON object, with the id of its request.

    A record may have further keys in its attribute `json_fields`.
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


def log_event(logger: logging.Logger, event: str, fields: Mapping[str, Any]) -> None:
    """Log an event with these keys, without the search for the caller that `Logger.info` does."""
    record = logging.LogRecord(logger.name, logging.INFO, __file__, 0, event, (), None)
    record.json_fields = fields
    logger.handle(record)


def log_to_standard_error() -> None:
    """Log to standard error as JSON lines: the records of the server, and warnings of libraries."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    # These take most of the time of a record, and are not in the lines.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("webui").setLevel(logging.INFO)
