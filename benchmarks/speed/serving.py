"""Servers over HTTP: the page for one user, and queries a second for many clients."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import urllib3

from benchmarks.speed import cluster, queries
from benchmarks.speed.figures import ROOT
from benchmarks.speed.prepared import ESR, index
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Search, interleaved

Job = dict[str, Any]
PATIENCE = 60.0
TURNS = 2


def page(setup: Setup) -> Iterator[dict[str, Any]]:
    """A page of results for one user: real HTTP over one connection, the server with its own settings."""
    asked = queries.chosen(setup)
    places = {"embedded": str(index(setup, 1))}
    if setup.elasticsearch:
        places["elasticsearch"] = cluster.where(setup)
    searches: dict[str, Search] = {}
    size: dict[str, int] = {}
    with _all_served(places) as urls:
        for name, url in urls.items():
            pool = urllib3.connectionpool.connection_from_url(url)
            searches[name] = partial(_page_of, pool)
            size[name] = len(_page_of(pool, asked[0]))
            searches[f"{name}, health"] = partial(_health, pool)
        yield {"times": interleaved(searches, asked, setup.rounds), "bytes": size}


def throughput(setup: Setup) -> Iterator[dict[str, Any]]:
    """Ten sentences a query, asked without a pause: a worker a core, and plain Elasticsearch."""
    asked = queries.chosen(setup)
    workers = str(os.cpu_count())
    with _served(str(index(setup, 1)), ESR_WORKERS=workers) as url:
        jobs: dict[str, Job] = {
            "esr": {
                "url": url,
                "requests": [[f"/api/v1/search?q={quote_plus(q)}&k=10", None] for q in asked],
            },
            "esr, health": {"url": url, "requests": [["/healthz", None]] * len(asked)},
        }
        if setup.elasticsearch:
            cluster.where(setup)
            bodies = [json.dumps({"query": {"match": {"text": query}}, "size": 10}) for query in asked]
            path = f"/{cluster.PLAIN}/_search"
            jobs["elasticsearch"] = {
                "url": setup.elasticsearch,
                "requests": [[path, body] for body in bodies],
            }
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in jobs}
        for turn in range(TURNS + 1):
            for name, job in jobs.items():
                found = _asked(job, setup.seconds if turn else setup.seconds / 2, setup.clients)
                if turn:  # the first one warms up
                    runs[name].append(found)
    yield {"clients": setup.clients, "workers": int(workers), "runs": runs}


def _asked(job: Job, seconds: float, clients: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed.client", str(seconds), str(clients)]
    done = subprocess.run(
        command, input=json.dumps(job), text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _page_of(pool: urllib3.HTTPConnectionPool, query: str) -> bytes:
    return _got(pool, f"/search?q={quote_plus(query)}")


def _health(pool: urllib3.HTTPConnectionPool, _query: str) -> bytes:
    return _got(pool, "/healthz")


def _got(pool: urllib3.HTTPConnectionPool, path: str) -> bytes:
    answer = pool.request("GET", path)
    if answer.status != 200:
        raise SystemExit(f"{path} was answered by {answer.status}")
    return answer.data


@contextmanager
def _all_served(places: dict[str, str]) -> Iterator[dict[str, str]]:
    if not places:
        yield {}
        return
    (name, place), *others = places.items()
    with _served(place) as url, _all_served(dict(others)) as urls:
        yield {name: url, **urls}


@contextmanager
def _served(place: str, **settings: str) -> Iterator[str]:
    """`esr serve` on a free port, stopped in the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [*ESR, "serve", "--index", place, "--port", str(port)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path("/"),
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(server, url)
        yield url
    finally:
        server.terminate()
        server.wait()


def _wait(server: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            raise SystemExit("esr serve did not start")
        try:
            if urllib3.request("GET", f"{url}/readyz", retries=False).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            time.sleep(0.1)
    raise SystemExit(f"esr serve at {url} was not ready in {PATIENCE:.0f} s")
