"""A process with many clients. Each sends the next request after an answer, over a persistent connection.

    python -m benchmarks.speed.client SECONDS CLIENTS < job.json

The job is `{"url": …, "requests": [[path, body], …]}`; a body of null makes it a GET. Prints the number
of answers, of answers other than 200, and the processor time of the clients.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import cycle, islice
from typing import Any

import gevent
from geventhttpclient import HTTPClient

HEADERS = {"Content-Type": "application/json"}


def main() -> None:
    seconds, clients = float(sys.argv[1]), int(sys.argv[2])
    job = json.load(sys.stdin)
    counts = {"answered": 0, "failed": 0}
    end = time.perf_counter() + seconds
    started, processor = time.perf_counter(), time.process_time()
    gevent.joinall(
        [gevent.spawn(_run_client, job, number, clients, end, counts) for number in range(clients)],
        raise_error=True,
    )
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    print(json.dumps({**counts, "seconds": round(seconds, 3), "processor": round(processor, 3)}))


def _run_client(job: dict[str, Any], number: int, clients: int, end: float, counts: dict[str, int]) -> None:
    """Send every n-th request, over and over."""
    http = HTTPClient.from_url(job["url"], concurrency=1, network_timeout=60)
    requests = list(islice(cycle(job["requests"]), number, number + clients * len(job["requests"]), clients))
    for path, body in cycle(requests):
        if time.perf_counter() >= end:
            break
        answer = http.get(path) if body is None else http.post(path, body, headers=HEADERS)
        answer.read()
        counts["answered" if answer.status_code == 200 else "failed"] += 1
    http.close()


if __name__ == "__main__":
    main()
