"""A process of many clients. Each asks again as soon as it is answered, over a connection that stays.

    python -m benchmarks.speed.client SECONDS CLIENTS < job.json

The job is `{"url": …, "requests": [[path, body], …]}`; a body of null makes it a GET. Prints how many answers
came, how many were no 200, and the processor time that the clients themselves took.
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
    started, used = time.perf_counter(), time.process_time()
    gevent.joinall(
        [gevent.spawn(_client, job, place, clients, end, counts) for place in range(clients)],
        raise_error=True,
    )
    took, cost = time.perf_counter() - started, time.process_time() - used
    print(json.dumps({**counts, "seconds": round(took, 3), "processor": round(cost, 3)}))


def _client(job: dict[str, Any], place: int, clients: int, end: float, counts: dict[str, int]) -> None:
    """Goes through every n-th request, over and over."""
    http = HTTPClient.from_url(job["url"], concurrency=1, network_timeout=60)
    own = list(islice(cycle(job["requests"]), place, place + clients * len(job["requests"]), clients))
    for path, body in cycle(own):
        if time.perf_counter() >= end:
            break
        answer = http.get(path) if body is None else http.post(path, body, headers=HEADERS)
        answer.read()
        counts["answered" if answer.status_code == 200 else "failed"] += 1
    http.close()


if __name__ == "__main__":
    main()
