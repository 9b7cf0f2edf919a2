"""The server: gunicorn around the Flask application. All of gunicorn's settings are made here.

gunicorn starts, watches and replaces the workers. In each of them, uvicorn reads requests and sends answers
on an event loop, and threads answer the requests (`worker.py`, `connections.py`, `threaded_app.py`).
"""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Callable, Collection, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger

from esr.access.rates import parse_rate
from esr.errors import EngineUnreachable, EsrError, UsageError
from esr.index.limits import within
from esr.index.login_variables import redact
from esr.ranking.searcher import open_searcher
from esr.threads import start_thread
from webui.running import traces
from webui.running.logs import JsonFormatter, log_to_standard_error
from webui.running.served_desk import check_desk
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import COUNTS_FOLDER, Settings, parse_locations, parse_origins, shared_folder
from webui.running.worker import HttpWorker

_ENDS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})
GRACE_SECONDS = 5
"""Seconds after the deadline within which open requests may finish when the server is stopped."""

CHECKS_OF_BODIES = "jsonschema.validators"
"""The module that checks bodies. Where the packages of its optional formats are, its import takes seconds."""

_LOG = logging.getLogger("webui.server")

CreateApp = Callable[[ServedIndexes, Settings, str], Flask]
"""Creates the application of a worker, given the file in which workers count the requests of clients.

The metrics library must not be imported before this call.
"""


CheckAccess = Callable[[Settings, Collection[str]], None]
"""Reports mistakes in the access settings, given the names of the indexes."""


def serve(where: str, host: str, port: int, create_app: CreateApp, check_access: CheckAccess) -> None:
    """Serve one index or several until SIGTERM or SIGINT, then exit when open requests are answered.

    `where` is a location, or `name=location name=location …`. Port 0 takes any free port. Settings come from
    the environment. The server starts even if an engine cannot be reached. Raises EsrError if an index does
    not exist or cannot be used, or if the address cannot be used.
    """
    settings = Settings.from_environment(os.environ)
    locations = parse_locations(where)
    log_to_standard_error()
    with shared_folder(settings.workers) as folder:
        rates = ":memory:" if folder is None else str(folder / "rates.sqlite")
        check_access(settings, locations)
        check(locations, settings)
        listener = listen(host, port)
        greeting = f"esr serves {redact(where)} at {url(listener)}"
        Server(
            locations,
            settings,
            listener.detach(),
            greeting,
            lambda served, limits: create_app(served, limits, rates),
        ).run()


def check(locations: Mapping[str, str], settings: Settings) -> None:
    """Open each index once, to report mistakes before the server starts. Raises EsrError."""
    from webui.running import telemetry  # imports the metrics library

    telemetry.check_query_log(settings)
    traces.check_traces(os.environ)
    parse_rate(settings.rate)
    parse_origins(settings.cors_origins)
    check_desk(settings)
    for location in locations.values():
        try:
            with within(settings.deadline):
                open_searcher(location).close()
        except EngineUnreachable as error:
            _LOG.warning("%s. Each search will try again.", error)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, bound before workers start, to report a port in use at once. Raises EsrError."""
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
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Log(Logger):  # type: ignore[misc]
    """gunicorn's own log as JSON, with events such as the death of a worker."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())


def end_new_workers() -> None:
    """Let signals end a worker from its start.

    Until a new worker installs its handlers, it would put signals into its copy of the arbiter's queue, which
    nobody reads. Signals are blocked during the fork, because Python drops those that arrive meanwhile.
    """

    def end() -> None:
        for number in _ENDS:
            signal.signal(number, signal.SIG_DFL)
        allow()

    allow = partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, _ENDS)
    hold = partial(signal.pthread_sigmask, signal.SIG_BLOCK, _ENDS)
    os.register_at_fork(before=hold, after_in_parent=allow, after_in_child=end)


class Server(BaseApplication):  # type: ignore[misc]
    """gunicorn with its settings in code. Indexes are opened in the workers, after the fork."""

    def __init__(
        self,
        locations: Mapping[str, str],
        settings: Settings,
        descriptor: int,
        greeting: str,
        create_app: Callable[[ServedIndexes, Settings], Flask],
    ) -> None:
        self._locations = locations
        self._limits = settings
        self._descriptor = descriptor
        self._greeting = greeting
        self._create_app = create_app
        self._indexes: ServedIndexes | None = None
        super().__init__()

    def run(self) -> None:
        end_new_workers()
        super().run()

    def load_config(self) -> None:
        for name, value in self._settings().items():
            if name in self.cfg.settings:  # older releases of gunicorn have fewer
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """The application of a worker. It opens no index: a worker that fails to start stops the server."""
        self._indexes = ServedIndexes.at(self._locations, self._limits)
        app = self._create_app(self._indexes, self._limits)
        start_thread(import_module, CHECKS_OF_BODIES, name="imports")
        return app

    def _settings(self) -> dict[str, Any]:
        def greet(arbiter: Any) -> None:
            print(self._greeting, flush=True)

        def close_indexes(arbiter: Any, worker: Any) -> None:
            if self._indexes is not None:
                self._indexes.close()
            traces.shut_down_traces()

        def end_at_once(worker: Any) -> None:
            """End an interrupted worker. Python would wait for the threads of open requests."""
            traces.shut_down_traces()
            os._exit(0)

        def forget_worker(arbiter: Any, worker: Any) -> None:
            if COUNTS_FOLDER in os.environ:
                from prometheus_client.multiprocess import mark_process_dead

                mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]

        limits = self._limits
        return {
            "bind": f"fd://{self._descriptor}",
            "worker_class": HttpWorker.limited(limits),
            "workers": limits.workers,
            "timeout": 60,
            "graceful_timeout": round(max(limits.deadline, limits.batch_deadline, limits.export_deadline))
            + GRACE_SECONDS,
            "keepalive": 5,
            "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,  # nosec B108  # a file without a name
            "loglevel": "warning",
            "logger_class": _Log,
            "proc_name": "esr serve",
            "control_socket_disable": True,
            "when_ready": greet,
            "worker_exit": close_indexes,
            "worker_int": end_at_once,
            "child_exit": forget_worker,
        }
