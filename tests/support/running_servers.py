"""Servers of the page and the API that run as processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from esr.index.factory import open_writer
from esr.index.writer import LoadOptions
from esr.loaders import read_documents
from tests.support.processes import wait_until

SERVE = "import sys; from webui import serve; serve(sys.argv[1], '127.0.0.1', 0)"
SERVE_MORE = """
import os, sys, time
from flask import Response, request
from webui.running import server

def create(indexes, settings, rates):
    from webui.app import create_app

    def sleep():
        time.sleep(float(request.args["seconds"]))
        return ""

    def hold():
        while not os.path.exists(request.args["until"]):
            time.sleep(0.01)
        return ""

    def send():
        size = int(request.args["bytes"])
        pieces = (b"x" * 65_536 for _ in range(size // 65_536))
        return Response(pieces if "pieces" in request.args else b"x" * size)

    app = create_app(indexes, settings, rates)
    app.add_url_rule("/sleep", view_func=sleep)
    app.add_url_rule("/hold", view_func=hold)
    app.add_url_rule("/send", view_func=send)
    return app

server.serve(sys.argv[1], "127.0.0.1", 0, create, lambda settings, names: None)
"""
"""A server that also sleeps, waits for a file, and sends any number of bytes, in one piece or many."""
ROOT = Path(__file__).parents[2]
DOCUMENT = {"id": "a", "title": "Wind", "text": "It blew. The storms damaged forty houses. Nobody was hurt."}


@dataclass
class Running:
    """A server over a small index in a folder: its process, its address, and where the index is."""

    process: subprocess.Popen[str]
    address: str
    where: Path

    def get(self, path: str) -> tuple[int, str]:
        """The status and the text of an answer."""
        try:
            with urllib.request.urlopen(self.address + path, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def connect(self) -> socket.socket:
        host, port = self.address.removeprefix("http://").rstrip("/").split(":")
        return socket.create_connection((host, int(port)), timeout=60)

    def stop(self) -> str:
        """Stops it cleanly. Returns what it wrote to standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=30)  # workers that hang are killed later
        assert self.process.returncode == 0
        assert "Traceback" not in errors
        return errors

    def workers(self) -> list[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def in_flight(self) -> float:
        """The number of requests that are being answered, with that for the metrics."""
        (count,) = re.findall(r"^esr_requests_in_flight (\S+)$", self.get("metrics")[1], re.MULTILINE)
        return float(count)


@contextmanager
def run_servers(folder: Path) -> Iterator[Callable[..., Running]]:
    """A function that starts servers with settings over an index in the folder. All are ended."""
    started: list[subprocess.Popen[str]] = []

    def make(program: str = SERVE, **settings: str) -> Running:
        news, where = folder / "news.jsonl", folder / "index"
        news.write_text(json.dumps(DOCUMENT))
        open_writer(str(where), LoadOptions()).load(read_documents([str(news)]))
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(where)],
            cwd=ROOT,
            env=os.environ | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(f"esr serves {where} at http://127.0.0.1:"), line
        return Running(process, line.split()[-1], where)

    yield make
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its workers too: they hold its pipes
        process.communicate(timeout=60)


def start_two(start: Callable[..., Running], program: str = SERVE, **settings: str) -> Running:
    """A server of two workers, both of which are there."""
    server = start(program, ESR_WORKERS="2", ESR_ACCESS_LOG="0", **settings)
    wait_until(lambda: len(server.workers()) == 2)
    return server


@contextmanager
def stopped(worker: int) -> Iterator[None]:
    """A while in which a worker does nothing, so that the other one answers alone."""
    os.kill(worker, signal.SIGSTOP)
    tasks = Path(f"/proc/{worker}/task")
    try:  # until its last thread has stopped, which may take a connection meanwhile
        wait_until(lambda: all(" T " in (task / "stat").read_text() for task in tasks.iterdir()))
        yield
    finally:
        os.kill(worker, signal.SIGCONT)
