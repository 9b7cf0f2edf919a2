"""A server under load for as long as is wanted: clients, slow clients, deliveries, reloads and kills.

    python -m benchmarks.load INDEX queries.tsv [--clients 500] [--slow 20] [--minutes 10] [--pause 4]

A copy of the folder INDEX is served with two workers. Clients keep their connections and send a request after
a pause of about so many seconds. Beside them, slow clients of each kind send half a request, send it byte by
byte, or do not read the answer. In each minute, `esr append` delivers documents after 15 seconds, SIGHUP
reloads the server after 30, and a worker is killed after 45.

Prints a row for each minute: requests with status 200, percentiles of their milliseconds, errors, requests
that a killed worker had, refusals (503 with `Retry-After`), connections that had to be opened again, and the
memory of all processes of the server and of its first one. Then come the totals, what the errors were, and
what slow clients were told. Times include what this client costs on the same processors.

Why not locust: it counts a request on a connection that the server has closed meanwhile as an error, which a
browser sends again; and its clients cannot send half a request.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote_plus, urlsplit

import numpy as np

from benchmarks.queries import read_queries
from benchmarks.slow_clients import SLOW
from benchmarks.speed.serving import Started, start_server
from benchmarks.speed.workspace import ESR

ANSWER_SECONDS = 30.0
"""Seconds after which an answer counts as missing."""
KILL_SECONDS = 2.0
"""Seconds after a kill in which a connection may end because of it."""
DELIVERY, RELOAD, KILL, MINUTE = 15.0, 30.0, 45.0, 60.0
DELIVERED = 100
"""Number of documents of a delivery."""
BYTE_BY_BYTE = "a head byte by byte"
QUERIES = 300


class Lost(Exception):
    """The connection ended. `has_begun`: amid an answer."""

    def __init__(self, has_begun: bool) -> None:
        self.has_begun = has_begun
        super().__init__("amid an answer" if has_begun else "before an answer")


class Counts:
    """What clients saw since a moment."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.errors: Counter[str] = Counter()
        self.killed = self.refused = self.reopened = 0

    def add(self, other: Counts) -> None:
        """Add what was seen later."""
        self.seconds += other.seconds
        self.errors += other.errors
        self.killed += other.killed
        self.refused += other.refused
        self.reopened += other.reopened

    def percentiles(self) -> tuple[float, float, float]:
        """The milliseconds that half, 99 of 100 and all of the answers took at most."""
        if not self.seconds:
            return 0.0, 0.0, 0.0
        p50, p99, most = np.percentile(np.array(self.seconds) * 1000, (50, 99, 100)).tolist()
        return p50, p99, most

    def as_row(self, name: str, memory: tuple[float, float]) -> str:
        """A row of the table."""
        numbers = (self.errors.total(), self.killed, self.refused, self.reopened)
        cells = [f"{len(self.seconds):,}", *(f"{each:.1f}" for each in self.percentiles())]
        cells += [*map(str, numbers), *(f"{megabytes:.0f}" for megabytes in memory)]
        return f"| {name} | {' | '.join(cells)} |"


COLUMNS = ("answers", "p50 ms", "p99 ms", "most ms", "errors", "lost in kills", "refused", "reopened")
HEAD = f"| | {' | '.join(COLUMNS)} | MB | MB of the first |"


class Load:
    """The clients of a server, and what they saw."""

    def __init__(self, server: Started, requests: list[str], pause: float) -> None:
        self._server = server
        self._requests = requests
        self._pause = pause
        self._chance = random.Random(1)
        self._killed_at = float("-inf")
        parts = urlsplit(server.url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self.counts = Counts()
        self.told: dict[str, Counter[str]] = {name: Counter() for name in (*SLOW, BYTE_BY_BYTE)}
        """What slow clients of each kind were told."""

    # Clients

    async def run_client(self) -> None:
        """Send requests on one connection, which is opened again when it has ended."""
        connection: _Connection | None = None
        while True:
            await asyncio.sleep(
                self._pause * self._chance.uniform(0.5, 1.5) if connection else self._chance.random()
            )
            address = self._chance.choice(self._requests)
            connection = await self._ask(connection, address)

    async def _ask(self, connection: _Connection | None, address: str) -> _Connection | None:
        """Send a request, again if the server had closed the connection. Returns the connection."""
        started = time.monotonic()
        for is_again in (False, True):
            is_new = connection is None
            try:
                if connection is None:
                    connection = await _Connection.open(self._host, self._port)
                async with asyncio.timeout(ANSWER_SECONDS):
                    status, headers = await connection.get(address)
            except TimeoutError:
                self.counts.errors["no answer"] += 1
                return None
            except (OSError, Lost) as error:
                connection = None
                has_begun = isinstance(error, Lost) and error.has_begun
                if not is_new and not has_begun and not is_again:
                    self.counts.reopened += 1
                    continue
                if time.monotonic() - self._killed_at < KILL_SECONDS:
                    self.counts.killed += 1
                else:
                    self.counts.errors[f"{type(error).__name__} {error}"] += 1
                return None
            self._count(status, headers, time.monotonic() - started)
            return None if headers.get("connection", "").lower() == "close" else connection
        return None

    def _count(self, status: int, headers: dict[str, str], seconds: float) -> None:
        if status == 200:
            self.counts.seconds.append(seconds)
        elif status == 503 and "retry-after" in headers:
            self.counts.refused += 1
        else:
            self.counts.errors[f"status {status}"] += 1

    # Slow clients

    async def run_slow_client(self, kind: str, data: bytes) -> None:
        """Send what a slow client sends, wait for what it is told, and begin again."""
        while True:
            try:
                told = await self._be_slow(kind, data)
            except OSError as error:
                told = type(error).__name__
            self.told[kind][told] += 1
            await asyncio.sleep(1)

    async def _be_slow(self, kind: str, data: bytes) -> str:
        is_slowest = kind == BYTE_BY_BYTE
        pieces = [data[n : n + 1] for n in range(len(data))] if is_slowest else [data]
        async with _open_slow(self._host, self._port) as (reader, writer):
            line = asyncio.ensure_future(reader.readline())
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.wait([line], timeout=1.0 if is_slowest else 0.0)
                if line.done():
                    break
            if kind.startswith("an answer"):
                line.cancel()
                await asyncio.sleep(MINUTE)
                return "not read"
            told = await asyncio.wait_for(line, 5 * MINUTE)
            return told.decode("latin-1").strip() or "closed"

    # What disturbs

    async def deliver(self, where: Path, words: list[str]) -> None:
        """Deliver documents each minute."""
        for number in range(1_000_000):
            await asyncio.sleep(DELIVERY if number == 0 else MINUTE)
            file = where.with_name("delivery.jsonl")
            file.write_text("".join(self._write_documents(number, words)))
            process = await asyncio.create_subprocess_exec(
                *ESR, "append", str(file), "--index", str(where), stdout=subprocess.DEVNULL
            )
            if await process.wait():
                self.counts.errors["a delivery failed"] += 1

    def _write_documents(self, number: int, words: list[str]) -> Iterator[str]:
        for document in range(DELIVERED):
            sentences = [" ".join(self._chance.choices(words, k=12)).capitalize() + "." for _ in range(10)]
            yield json.dumps({"id": f"load-{number}-{document}", "text": " ".join(sentences)}) + "\n"

    async def reload(self) -> None:
        """Replace the workers each minute."""
        await asyncio.sleep(RELOAD)
        while True:
            self._server.process.send_signal(signal.SIGHUP)
            await asyncio.sleep(MINUTE)

    async def kill(self) -> None:
        """Kill a worker each minute."""
        await asyncio.sleep(KILL)
        while True:
            if workers := list_children(self._server.process.pid):
                self._killed_at = time.monotonic()
                os.kill(self._chance.choice(workers), signal.SIGKILL)
            await asyncio.sleep(MINUTE)

    def measure_memory(self) -> tuple[float, float]:
        """The MB of all processes of the server, where shared memory counts once, and of the first one."""
        first = self._server.process.pid
        return sum(map(read_memory, (first, *list_children(first)))), read_memory(first)


class _Connection:
    """A connection of a client that reads its answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, host: str, port: int) -> _Connection:
        return cls(*await asyncio.open_connection(host, port))

    async def get(self, address: str) -> tuple[int, dict[str, str]]:
        """The status and the headers of an answer, when all of it has arrived. Raises Lost."""
        has_begun = False
        try:
            self._writer.write(f"GET {address} HTTP/1.1\r\nHost: load\r\nAccept: */*\r\n\r\n".encode())
            await self._writer.drain()
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            has_begun = True
            first, *lines = head.strip().split("\r\n")
            pairs = (line.partition(":") for line in lines)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            await self._read_body(headers)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            has_begun |= isinstance(error, asyncio.IncompleteReadError) and bool(error.partial)
            self._writer.close()
            raise Lost(has_begun) from error
        return int(first.split()[1]), headers

    async def _read_body(self, headers: dict[str, str]) -> None:
        if "chunked" not in headers.get("transfer-encoding", ""):
            await self._reader.readexactly(int(headers.get("content-length", 0)))
            return
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            await self._reader.readexactly(size + 2)
        await self._reader.readuntil(b"\r\n")


@asynccontextmanager
async def _open_slow(
    host: str, port: int
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection with a small buffer, of which no more is read than is asked for."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, (host, port))
    reader, writer = await asyncio.open_connection(sock=raw, limit=1024)
    try:
        yield reader, writer
    finally:
        writer.close()


def list_children(process: int) -> list[int]:
    """The numbers of the child processes of a process."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return list(map(int, text.split()))


def read_memory(process: int) -> float:
    """The MB of a process, its share of what others have too; 0 if it has ended."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("Pss:"))


def make_requests(queries: list[str]) -> list[str]:
    """Addresses: of ten, six searches of the API, two pages, one completion and one health check."""
    made = []
    for number, query in enumerate(queries):
        words = quote_plus(query)
        kinds = (f"/?q={words}", f"/api/v1/complete?q={words[:4]}", "/healthz", f"/?q={words}&view=documents")
        made.append(kinds[number % 10] if number % 10 < len(kinds) else f"/api/v1/search?q={words}&k=10")
    return made


async def run(load: Load, where: Path, words: list[str], arguments: argparse.Namespace) -> Counts:
    """Run everything, and print a row each minute."""
    slow = {**SLOW, BYTE_BY_BYTE: b"GET /search.json?q=storm HTTP/1.1\r\nHost: x\r\n" + b"X-Slow: x\r\n" * 20}
    work = [
        *(load.run_client() for _ in range(arguments.clients)),
        *(load.run_slow_client(kind, data) for kind, data in slow.items() for _ in range(arguments.slow)),
        *(load.deliver(where, words), load.reload(), load.kill()),
    ]
    tasks = [asyncio.create_task(each) for each in work]
    total = Counts()
    print(HEAD)
    print("| --- |" + " ---: |" * (HEAD.count("|") - 2))
    for minute in range(1, arguments.minutes + 1):
        await asyncio.sleep(MINUTE)
        load.counts, seen = Counts(), load.counts
        total.add(seen)
        print(seen.as_row(f"minute {minute}", load.measure_memory()), flush=True)
        for task in tasks:
            if task.done():
                task.result()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return total


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("index", type=Path)
    options.add_argument("queries", type=Path)
    options.add_argument("--clients", type=int, default=500)
    options.add_argument("--slow", type=int, default=20, help="slow clients of each kind")
    options.add_argument("--minutes", type=int, default=10)
    options.add_argument("--pause", type=float, default=4.0, help="seconds between the requests of a client")
    arguments = options.parse_args()
    queries = [" ".join(words) for words in read_queries(arguments.queries, QUERIES)]
    words = sorted({word for query in queries for word in query.split()})
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "index"
        shutil.copytree(arguments.index, where)
        with start_server(str(where), ESR_WORKERS="2", ESR_ACCESS_LOG="0") as server:
            load = Load(server, make_requests(queries), arguments.pause)
            total = asyncio.run(run(load, where, words, arguments))
            print(total.as_row("all", load.measure_memory()))
    p50, p99, _ = total.percentiles()
    print(f"p99 is {p99 / p50:.1f} times p50; load of the machine: {os.getloadavg()[0]:.1f}")
    print("errors:", dict(total.errors) or "none")
    for kind, answers in load.told.items():
        print(f"{kind}: {dict(answers)}")


if __name__ == "__main__":
    main()
