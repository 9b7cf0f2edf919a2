"""A process with many clients. Each sends the next request after an answer, over a persistent connection.
After a refusal, it waits as long as the refusal says.

    python -m benchmarks.speed.client SECONDS CLIENTS < job.json

The job is `{"url": …, "requests": [[path, body], …]}`; a body of null makes it a GET. Prints the number
of answers, of answers other than 200, and the processor time of the clients; also the number of answers by
status (0: no answer), of answers 503 without a time to retry, and percentiles of the seconds until an answer
200, and until any other.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any, NamedTuple

import gevent
from geventhttpclient import HTTPClient

HEADERS = {"Content-Type": "application/json"}
_PERCENTILES = {"p50": 0.5, "p99": 0.99, "most": 1.0}


class Outcome(NamedTuple):
    """The outcome of a request. The status is 0 without an answer."""

    status: int
    seconds: float
    has_retry_after: bool


def main() -> None:
    seconds, clients = float(sys.argv[1]), int(sys.argv[2])
    job = json.load(sys.stdin)
    outcomes: list[Outcome] = []
    end = time.perf_counter() + seconds
    started, processor = time.perf_counter(), time.process_time()
    gevent.joinall(
        [gevent.spawn(_run_client, job, number, clients, end, outcomes) for number in range(clients)],
        raise_error=True,
    )
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    print(json.dumps({**_count(outcomes), "seconds": round(seconds, 3), "processor": round(processor, 3)}))


def _count(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    answered = [outcome.seconds for outcome in outcomes if outcome.status == 200]
    failed = [outcome.seconds for outcome in outcomes if outcome.status != 200]
    return {
        "answered": len(answered),
        "failed": len(failed),
        "statuses": Counter(outcome.status for outcome in outcomes),
        "without_retry_after": sum(
            not outcome.has_retry_after for outcome in outcomes if outcome.status == 503
        ),
        "answered_seconds": _percentiles(answered),
        "failed_seconds": _percentiles(failed),
    }


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {}
    ordered = sorted(seconds)
    return {name: round(ordered[int(share * (len(ordered) - 1))], 4) for name, share in _PERCENTILES.items()}


def _run_client(job: dict[str, Any], number: int, clients: int, end: float, outcomes: list[Outcome]) -> None:
    """Send every n-th request, for n clients, repeatedly."""
    http = HTTPClient.from_url(job["url"], concurrency=1, network_timeout=60)
    requests = list(islice(cycle(job["requests"]), number, number + clients * len(job["requests"]), clients))
    for path, body in cycle(requests):
        if time.perf_counter() >= end:
            break
        started = time.perf_counter()
        try:
            answer = http.get(path) if body is None else http.post(path, body, headers=HEADERS)
            answer.read()
            status, pause = answer.status_code, answer.get("Retry-After")
        except OSError:
            status, pause = 0, None
        outcomes.append(Outcome(status, time.perf_counter() - started, pause is not None))
        if pause is not None:
            gevent.sleep(min(float(str(pause)), max(end - time.perf_counter(), 0.0)))
    http.close()


if __name__ == "__main__":
    main()
