"""A worker process of the server: gunicorn starts, watches and ends it, uvicorn speaks HTTP in it."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, ClassVar

import uvicorn
from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from webui.running.connections import HEADER_BYTES, SharedListener, TimedProtocol
from webui.running.gate import queue_seconds
from webui.running.settings import Settings
from webui.running.threaded_app import Limits, ThreadedApp

NOTIFY_SECONDS = 1.0
"""Seconds after which the worker tells gunicorn again that it is alive."""


class HttpWorker(Worker):  # type: ignore[misc]
    """A worker that runs uvicorn's event loop in a thread. The main thread obeys gunicorn's signals."""

    settings: ClassVar[Settings]

    @classmethod
    def limited(cls, settings: Settings) -> type[HttpWorker]:
        """A subclass with these settings. gunicorn takes a class, since it creates the workers itself."""
        return type(cls.__name__, (cls,), {"settings": settings})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ends = threading.Event()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End when open requests are answered."""
        super().handle_exit(sig, frame)
        self._ends.set()

    def run(self) -> None:
        """Serve until a signal comes or gunicorn is gone, then until open requests are answered."""
        limits = self.settings
        head_bytes = limits.address_bytes + HEADER_BYTES
        wait_seconds = queue_seconds(limits.deadline)
        app = ThreadedApp(
            self.wsgi, Limits(limits.threads, limits.receive, wait_seconds, head_bytes, limits.body_bytes)
        )
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                loop="asyncio",
                http=TimedProtocol.limited(limits.receive, limits.send, head_bytes),
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                proxy_headers=False,  # ESR_PROXIES alone says who is trusted
                server_header=False,
                timeout_keep_alive=self.cfg.keepalive,
            )
        )
        listeners = [self._share(sock.sock, server) for sock in self.sockets]
        # A daemon, so that SIGQUIT ends the worker at once.
        loop = threading.Thread(target=server.run, args=(listeners,), daemon=True)
        loop.start()
        while loop.is_alive() and not self._ends.wait(NOTIFY_SECONDS) and self.ppid == os.getppid():
            self.notify()
        server.should_exit = True
        while loop.is_alive():
            self.notify()
            loop.join(NOTIFY_SECONDS)
        if not server.started:
            sys.exit(Arbiter.WORKER_BOOT_ERROR)

    def _share(self, sock: Any, server: uvicorn.Server) -> SharedListener:
        listener = SharedListener(fileno=os.dup(sock.fileno()))
        if self.cfg.workers > 1:
            listener.connections = server.server_state.connections
        return listener
