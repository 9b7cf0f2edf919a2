"""Servers over HTTP: the page for one user, and throughput with many clients."""

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
from typing import Any, NamedTuple
from urllib.parse import quote_plus

import urllib3

from benchmarks.speed import cluster, queries
from benchmarks.speed.figures import ROOT
from benchmarks.speed.timing import Search, time_interleaved
from benchmarks.speed.workspace import ESR, Setup, esr_index

Job = dict[str, Any]
START_TIMEOUT = 300.0
RUNS = 2


def page(setup: Setup) -> Iterator[dict[str, Any]]:
    """A page of results for one user, over one HTTP connection to a server with default settings."""
    sample = queries.sample(setup)
    locations = {"embedded": str(esr_index(setup, 1))}
    if setup.elasticsearch:
        locations["elasticsearch"] = cluster.prepare_indexes(setup)
    searches: dict[str, Search] = {}
    sizes: dict[str, int] = {}
    with _serve_all(locations) as urls:
        for name, url in urls.items():
            pool = urllib3.connectionpool.connection_from_url(url)
            searches[name] = partial(_get_page, pool)
            sizes[name] = len(_get_page(pool, sample[0]))
            searches[f"{name}, health"] = partial(_get_health, pool)
        yield {"times": time_interleaved(searches, sample, setup.rounds), "bytes": sizes}


def throughput(setup: Setup) -> Iterator[dict[str, Any]]:
    """Queries for ten sentences without pauses: esr with one worker per core, and plain Elasticsearch."""
    sample = queries.sample(setup)
    workers = str(os.cpu_count())
    with serve(str(esr_index(setup, 1)), ESR_WORKERS=workers) as url:
        jobs: dict[str, Job] = {
            "esr": {
                "url": url,
                "requests": [[f"/api/v1/search?q={quote_plus(q)}&k=10", None] for q in sample],
            },
            "esr, health": {"url": url, "requests": [["/healthz", None]] * len(sample)},
        }
        if setup.elasticsearch:
            cluster.prepare_indexes(setup)
            bodies = [json.dumps({"query": {"match": {"text": query}}, "size": 10}) for query in sample]
            path = f"/{cluster.PLAIN}/_search"
            jobs["elasticsearch"] = {
                "url": setup.elasticsearch,
                "requests": [[path, body] for body in bodies],
            }
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in jobs}
        for run in range(RUNS + 1):
            for name, job in jobs.items():
                counts = run_clients(job, setup.seconds if run else setup.seconds / 2, setup.clients)
                if run:  # the first run warms up
                    runs[name].append(counts)
    yield {"clients": setup.clients, "workers": int(workers), "runs": runs}


def run_clients(job: Job, seconds: float, clients: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed.client", str(seconds), str(clients)]
    process = subprocess.run(
        command, input=json.dumps(job), text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True
    )
    counts: dict[str, float] = json.loads(process.stdout)
    return counts


def _get_page(pool: urllib3.HTTPConnectionPool, query: str) -> bytes:
    return _get(pool, f"/search?q={quote_plus(query)}")


def _get_health(pool: urllib3.HTTPConnectionPool, _query: str) -> bytes:
    return _get(pool, "/healthz")


def _get(pool: urllib3.HTTPConnectionPool, path: str) -> bytes:
    answer = pool.request("GET", path)
    if answer.status != 200:
        raise SystemExit(f"GET {path} failed with status {answer.status}")
    return answer.data


@contextmanager
def _serve_all(locations: dict[str, str]) -> Iterator[dict[str, str]]:
    """The URLs of one server per location, by name."""
    if not locations:
        yield {}
        return
    (name, location), *others = locations.items()
    with serve(location) as url, _serve_all(dict(others)) as urls:
        yield {name: url, **urls}


@contextmanager
def serve(location: str, **settings: str) -> Iterator[str]:
    """The URL of `esr serve` on a free port. The server is stopped at the end."""
    with start_server(location, **settings) as server:
        yield server.url


class Started(NamedTuple):
    """A server, and its process, whose children are the workers."""

    url: str
    process: subprocess.Popen[bytes]


@contextmanager
def start_server(location: str, **settings: str) -> Iterator[Started]:
    """`esr serve` on a free port, until the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [*ESR, "serve", "--index", location, "--port", str(port)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path("/"),
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(server, url)
        yield Started(url, server)
    finally:
        server.terminate()
        server.wait()


def _wait_until_ready(server: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end:
        if server.poll() is not None:
            raise SystemExit("esr serve ended before it was ready")
        try:
            if urllib3.request("GET", f"{url}/readyz", retries=False).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            time.sleep(0.1)
    raise SystemExit(f"esr serve at {url} was not ready in {START_TIMEOUT:.0f} s")
