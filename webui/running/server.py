"""The server: gunicorn around the application, all its settings here and none from elsewhere."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import mkdtemp
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger

import esr
from esr.engines import deadline
from esr.engines.redact import redacted
from esr.errors import EngineUnreachable, EsrError, UsageError
from webui.running.logs import JsonLines, log_to_standard_error
from webui.running.served_indexes import Indexes, places
from webui.running.settings import Settings

REQUEST_LINE = 8_190
"""Bytes. The most that gunicorn takes; a longer address is answered with 414."""
GRACE = 5
"""Seconds beyond the deadline that open requests have to end in when the server is stopped."""
COUNTS = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the metrics' library knows where several workers put their counts together."""


def serve(where: str, host: str, port: int) -> None:
    """Serve one index or several until SIGTERM or SIGINT, then exit when open requests are answered.

    `where` is a place, or `name=place name=place …`. Settings come from the environment. An engine that
    is away is waited for. Raises EsrError if an index is not there or cannot be used, or the address
    cannot be used. A port of 0 takes any free one.
    """
    settings = Settings.from_environment(os.environ)
    found = places(where)
    with counting_together(settings.workers):
        check(found, settings)
        listener = listen(host, port)
        greeting = f"esr serves {redacted(where)} at {url(listener)}"
        _Server(found, settings, listener.detach(), greeting).run()


@contextmanager
def counting_together(workers: int) -> Iterator[None]:
    """A folder where several workers put their counts, of metrics and of clients' requests.

    The metrics' library looks for it when imported.
    """
    if workers == 1:
        yield
        return
    folder = os.environ[COUNTS] = mkdtemp(prefix="esr-metrics-")
    own = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == own:  # workers come by here too when they end
            shutil.rmtree(folder, ignore_errors=True)
            del os.environ[COUNTS]


def check(found: Mapping[str, str], settings: Settings) -> None:
    """Open each index once, so that a mistake is one message at once. Raises EsrError."""
    from webui.running import rate_limit as rates

    rates.check(settings.rate)
    for place in found.values():
        try:
            with deadline.within(settings.deadline):
                esr.open(place).close()
        except EngineUnreachable as error:
            print(f"Warning: {error}. It is tried again with each search.", file=sys.stderr, flush=True)


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address. Bound here, so that a port in use is one message at once."""
    place = f"{host}:{port}"
    if not 0 <= port <= 65_535:
        raise UsageError(f"the port is a number from 0 to 65535, not {port}")
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise EsrError(f"cannot serve at {place}: there is no such host here") from error
    listener = socket.socket(family, kind)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        reason = (error.strerror or str(error)).lower()
        raise EsrError(f"cannot serve at {place}: {reason}; give another --host or --port") from error
    return listener


def url(listener: socket.socket) -> str:
    """The address of a socket, as a browser takes it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Log(Logger):  # type: ignore[misc]
    """gunicorn's own log, which has lines such as that a worker died, as JSON too."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonLines())


class _Server(BaseApplication):  # type: ignore[misc]
    """gunicorn with settings in code. Indexes are opened in the workers, after the fork."""

    def __init__(self, found: Mapping[str, str], settings: Settings, descriptor: int, greeting: str) -> None:
        self._places = found
        self._limits = settings
        self._descriptor = descriptor
        self._greeting = greeting
        self._indexes: Indexes | None = None
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._settings().items():
            if name in self.cfg.settings:  # older releases know fewer
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """The application of one worker. It starts whatever the engines do: a worker that cannot ends all."""
        from webui.app import create_app

        log_to_standard_error()
        self._indexes = Indexes.at(self._places, self._limits)
        return create_app(self._indexes, self._limits)

    def _settings(self) -> dict[str, Any]:
        def greet(arbiter: Any) -> None:
            print(self._greeting, flush=True)

        def close(arbiter: Any, worker: Any) -> None:
            if self._indexes is not None:
                self._indexes.close()

        def forget(arbiter: Any, worker: Any) -> None:
            if COUNTS in os.environ:
                from prometheus_client.multiprocess import mark_process_dead

                mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]

        limits = self._limits
        return {
            "bind": f"fd://{self._descriptor}",
            "worker_class": "gthread",
            "workers": limits.workers,
            "threads": limits.threads,
            "timeout": 60,
            "graceful_timeout": round(max(limits.deadline, limits.batch_deadline)) + GRACE,
            "keepalive": 5,
            "limit_request_line": REQUEST_LINE,
            "limit_request_fields": 60,
            "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,
            "loglevel": "warning",
            "logger_class": _Log,
            "proc_name": "esr serve",
            "control_socket_disable": True,
            "when_ready": greet,
            "worker_exit": close,
            "child_exit": forget,
        }
