"""The server: gunicorn around the application. All of gunicorn's settings are made here."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger

import esr
from esr.engines import deadline
from esr.engines.redact import redact
from esr.errors import EngineUnreachable, EsrError, UsageError
from webui.running import shared_counts
from webui.running.index_locations import parse_locations
from webui.running.keepalive_worker import KeepaliveWorker
from webui.running.logs import JsonFormatter, log_to_standard_error
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings
from webui.running.shared_counts import shared_folder

GRACE_SECONDS = 5
"""Time beyond the deadline that open requests have to end in when the server is stopped."""

CreateApp = Callable[[ServedIndexes, Settings], Flask]
"""Makes the application of a worker. It must import the metrics library no earlier."""


def serve(where: str, host: str, port: int, create_app: CreateApp) -> None:
    """Serve one index or several until SIGTERM or SIGINT, then exit when open requests are answered.

    `where` is a location, or `name=location name=location …`. Settings come from the environment. The server
    starts even if an engine cannot be reached. Raises EsrError if an index does not exist or cannot be used,
    or the address cannot be used. Port 0 takes any free port.
    """
    settings = Settings.from_environment(os.environ)
    locations = parse_locations(where)
    with shared_folder(settings.workers):
        check(locations, settings)
        listener = listen(host, port)
        greeting = f"esr serves {redact(where)} at {url(listener)}"
        _Server(locations, settings, listener.detach(), greeting, create_app).run()


def check(locations: Mapping[str, str], settings: Settings) -> None:
    """Open each index once, so that a mistake is reported at once. Raises EsrError."""
    from webui.running import rate_limit  # imports the metrics library

    rate_limit.parse_rate(settings.rate)
    for location in locations.values():
        try:
            with deadline.within(settings.deadline):
                esr.open(location).close()
        except EngineUnreachable as error:
            print(f"Warning: {error}. Each search will try again.", file=sys.stderr, flush=True)


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address. It is bound here, so that a port in use is reported at once."""
    address = f"{host}:{port}"
    if not 0 <= port <= 65_535:
        raise UsageError(f"cannot serve at port {port}: give a number from 0 to 65535")
    try:
        family, kind, _, _, socket_address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise EsrError(f"cannot serve at {address}: unknown host") from error
    listener = socket.socket(family, kind)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(socket_address)
        listener.listen()
    except OSError as error:
        listener.close()
        reason = (error.strerror or str(error)).lower()
        raise EsrError(f"cannot serve at {address}: {reason}; give another --host or --port") from error
    return listener


def url(listener: socket.socket) -> str:
    """The address of a socket, for a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Log(Logger):  # type: ignore[misc]
    """gunicorn's own log as JSON: it reports, for example, that a worker died."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())


class _Server(BaseApplication):  # type: ignore[misc]
    """gunicorn with settings in code. Indexes are opened in the workers, after the fork."""

    def __init__(
        self,
        locations: Mapping[str, str],
        settings: Settings,
        descriptor: int,
        greeting: str,
        create_app: CreateApp,
    ) -> None:
        self._locations = locations
        self._limits = settings
        self._descriptor = descriptor
        self._greeting = greeting
        self._create_app = create_app
        self._indexes: ServedIndexes | None = None
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._settings().items():
            if name in self.cfg.settings:  # older releases have fewer
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """The application of one worker. It opens no index: a worker that fails to start ends the server."""
        log_to_standard_error()
        self._indexes = ServedIndexes.at(self._locations, self._limits)
        return self._create_app(self._indexes, self._limits)

    def _settings(self) -> dict[str, Any]:
        def greet(arbiter: Any) -> None:
            print(self._greeting, flush=True)

        def close_indexes(arbiter: Any, worker: Any) -> None:
            if self._indexes is not None:
                self._indexes.close()

        def forget_worker(arbiter: Any, worker: Any) -> None:
            if shared_counts.FOLDER in os.environ:
                from prometheus_client.multiprocess import mark_process_dead

                mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]

        limits = self._limits
        return {
            "bind": f"fd://{self._descriptor}",
            "worker_class": KeepaliveWorker.limited(limits.receive, limits.address_bytes, limits.body_bytes),
            "workers": limits.workers,
            "threads": limits.threads,
            "timeout": 60,
            "graceful_timeout": round(max(limits.deadline, limits.batch_deadline)) + GRACE_SECONDS,
            "keepalive": 5,
            "limit_request_line": 0,  # 8,190 is the most, and too few for some scripts: the worker limits it
            "limit_request_fields": 60,
            "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,
            "loglevel": "warning",
            "logger_class": _Log,
            "proc_name": "esr serve",
            "control_socket_disable": True,
            "when_ready": greet,
            "worker_exit": close_indexes,
            "child_exit": forget_worker,
        }
