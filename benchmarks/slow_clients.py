"""What a server answers while clients hold many connections: idle, with half requests, or without reading.

    python -m benchmarks.slow_clients URL [CONNECTIONS]

Prints for each kind of slow client how long the health check and a search take meanwhile, what a request gets
whose body comes late, and what the first of the slow clients is told, and when. docs/design-server.md has the
results of several servers.
"""

from __future__ import annotations

import socket
import sys
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import urllib3

CONNECTIONS = 150
SECONDS = 25.0
"""Seconds after which an answer counts as missing."""
POST = b"POST /api/v1/batch HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
QUERIES = b'{"queries": [{"id": "1", "query": "storm"}]}'
SLOW = {
    "idle": b"",
    "half a head": b"GET /search.json?q=storm HTTP/1.1\r\nHost: x\r\n",
    "half a body": POST + b"Content-Length: 99\r\n\r\n{",
    "an idle upload": POST + b"Content-Length: 900000\r\n\r\n" + b"x" * 100_000,
    "an answer that is not read": b"GET /search.jsonl?q=president&k=all HTTP/1.1\r\nHost: x\r\n\r\n",
}


def main() -> None:
    url = sys.argv[1].rstrip("/")
    connections = int(sys.argv[2]) if len(sys.argv) > 2 else CONNECTIONS
    print("warm:", probe(url))
    for name, data in SLOW.items():
        with ExitStack() as opened:
            slow = [opened.enter_context(connect(url)) for _ in range(connections)]
            for connection in slow:
                connection.sendall(data)
            time.sleep(1)
            print(f"{connections} x {name}: {probe(url)}, late body {post_late(url)}", flush=True)
            if not name.startswith("an answer"):
                print(f"    the first one: {wait_for_end(slow[0])}", flush=True)


def connect(url: str) -> socket.socket:
    """A connection with a small buffer, so that an answer that is not read stays with the server."""
    parts = urlsplit(url)
    connection = socket.socket()
    connection.settimeout(SECONDS)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((parts.hostname, parts.port))
    return connection


def probe(url: str) -> str:
    return ", ".join(
        f"{path} {get(f'{url}/{path}')}" for path in ("healthz", "metrics", "search.json?q=storm")
    )


def get(url: str) -> str:
    started = time.monotonic()
    try:
        answer = str(urllib3.request("GET", url, retries=False, timeout=SECONDS).status)
    except urllib3.exceptions.HTTPError as error:
        answer = type(error).__name__
    return f"{answer} in {time.monotonic() - started:.1f} s"


def post_late(url: str) -> str:
    """The status line of a request whose body comes a moment after its head."""
    with connect(url) as connection:
        connection.sendall(POST + f"Content-Length: {len(QUERIES)}\r\n\r\n".encode())
        time.sleep(0.3)
        connection.sendall(QUERIES)
        return read_line(connection)


def wait_for_end(connection: socket.socket) -> str:
    started = time.monotonic()
    return f"{read_line(connection)} after {time.monotonic() - started:.1f} s"


def read_line(connection: socket.socket) -> str:
    try:
        return connection.recv(65_536).partition(b"\r\n")[0].decode() or "closed"
    except OSError as error:
        return type(error).__name__


if __name__ == "__main__":
    main()
