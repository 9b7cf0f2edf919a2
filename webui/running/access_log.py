"""What is recorded of each request: its id, its line in the access log, its share of the metrics."""

from __future__ import annotations

import logging
import random
import re
import time

from flask import Flask, Response, g, request

from webui.running import metrics
from webui.running.settings import Settings
from webui.running.stage_times import stage_times

REQUEST_ID = "X-Request-Id"
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_PATH_CHARS = 200
ACCESS_LOG = logging.getLogger("webui.access")


def install(app: Flask, settings: Settings) -> None:
    """Identify, time, count and log the requests of the application."""

    @app.before_request
    def begin() -> None:
        client_id = request.headers.get(REQUEST_ID, "")
        g.request_id = client_id if _ID.fullmatch(client_id) else f"{random.getrandbits(128):032x}"
        g.started = time.perf_counter()
        g.is_in_flight = True
        metrics.IN_FLIGHT.inc()

    @app.after_request
    def end(response: Response) -> Response:
        seconds = time.perf_counter() - g.get("started", time.perf_counter())
        route = request.endpoint or "none"
        response.headers[REQUEST_ID] = g.get("request_id", "")
        stages = stage_times(seconds)
        metrics.count_request(route, response.status_code, seconds, stages)
        if settings.access_log:
            # Queries are private: the address is logged without its arguments.
            fields = {
                "method": request.method,
                "path": request.path[:_PATH_CHARS],
                "status": response.status_code,
                "bytes": response.calculate_content_length(),
                "ms": round(seconds * 1000, 1),
                "stages_ms": {name: round(part * 1000, 1) for name, part in stages.items()},
                "client": request.remote_addr,
            }
            record = logging.LogRecord(ACCESS_LOG.name, logging.INFO, __file__, 0, "request", (), None)
            record.json_fields = fields
            ACCESS_LOG.handle(record)  # `info` would look for its caller
        return response

    @app.teardown_request
    def leave(error: BaseException | None) -> None:
        if g.pop("is_in_flight", False):
            metrics.IN_FLIGHT.dec()
