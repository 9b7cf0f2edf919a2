"""What was searched for: counts of searches, with and without hits, and a file of queries, if one is wanted.

Queries are private. The file is written only where `ESR_QUERY_LOG` names it, and only its owner may read it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

from flask import Flask, current_app, g, has_request_context

from esr.errors import EsrError
from webui.running import metrics, traces
from webui.running.logs import write_json
from webui.running.settings import Settings

_CONFIG = "QUERY_LOG"


def install(app: Flask, settings: Settings) -> None:
    """Write the queries of the application to the file of the settings, if there is one."""
    app.config[_CONFIG] = settings.query_log


def check(settings: Settings) -> None:
    """Raise EsrError if the file of queries cannot be written."""
    if settings.query_log:
        try:
            os.close(_open(settings.query_log))
        except OSError as error:
            raise EsrError(f"cannot write {settings.query_log}: {(error.strerror or '').lower()}") from None


def record_search(query: str, hits: int) -> None:
    """Count a search of the current request, and write its query down. `hits` counts all candidates."""
    if not has_request_context():
        return
    index = g.get("index_name", "")
    metrics.SEARCHES.labels(index).inc()
    if not hits:
        metrics.WITHOUT_HITS.labels(index).inc()
    path = current_app.config.get(_CONFIG)
    traces.record_search(index, query if path else "", hits)
    if path:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "index": index,
            "query": query,
            "hits": hits,
            "request_id": g.get("request_id"),
        }
        try:
            file = _open(path)  # each time, so that the file may be moved away
            try:
                os.write(file, write_json(line, sort_keys=False) + b"\n")
            finally:
                os.close(file)
        except OSError as error:
            current_app.logger.error("a query was not written to %s: %s", path, error)


def _open(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
