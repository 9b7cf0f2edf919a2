"""The server: gunicorn around the application, all its settings here and none from elsewhere."""

from __future__ import annotations

import os
import socket
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

import esr
from esr.errors import EsrError, UsageError
from esr.ranking.searcher import Searcher
from webui.app import create_app

WORKERS = 1
THREADS = 8
REQUEST_LINE = 8_190
"""Bytes. The most that gunicorn takes; a longer address is answered with 414."""


def serve(where: str, host: str, port: int) -> None:
    """Serve the index at `where` until SIGTERM or SIGINT, then exit when open requests are answered.

    Raises EsrError if the index cannot be opened or the address cannot be used. A port of 0 takes
    any free one.
    """
    esr.open(where).close()
    listener = listen(host, port)
    greeting = f"esr serves {where} at {url(listener)}"
    _Server(where, listener.detach(), greeting).run()


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


class _Server(BaseApplication):  # type: ignore[misc]
    """gunicorn with settings in code. The index is opened in the worker, after the fork."""

    def __init__(self, where: str, descriptor: int, greeting: str) -> None:
        self._where = where
        self._descriptor = descriptor
        self._greeting = greeting
        self._searcher: Searcher | None = None
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._settings().items():
            if name in self.cfg.settings:  # older releases know fewer
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """The application of one worker."""
        self._searcher = esr.open(self._where)
        return create_app(self._searcher)

    def _settings(self) -> dict[str, Any]:
        def greet(arbiter: Any) -> None:
            print(self._greeting, flush=True)

        def close(arbiter: Any, worker: Any) -> None:
            if self._searcher is not None:
                self._searcher.close()

        return {
            "bind": f"fd://{self._descriptor}",
            "worker_class": "gthread",
            "workers": WORKERS,
            "threads": THREADS,
            "timeout": 60,
            "graceful_timeout": 10,
            "keepalive": 5,
            "limit_request_line": REQUEST_LINE,
            "limit_request_fields": 60,
            "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,
            "loglevel": "warning",
            "proc_name": "esr serve",
            "control_socket_disable": True,
            "when_ready": greet,
            "worker_exit": close,
        }
