"""The time to check a quotation, in a folder and on a server: `esr check`, `Index.check`.

    python -m benchmarks.checks INDEX [--elasticsearch URL/ALIAS] [--cases N]

Both indices have the same documents. Quotations are drawn from INDEX as in the study of checks
(`benchmarks.studies.quotation_check`): as they stand, with edits, and recombined of two, which nobody said.
For a server, the table also has the requests of a check, the milliseconds that the nodes report for them
(`took`), and the processor time of the nodes. Each answer is compared with that of the folder. The load of
the machine, which the times depend on, is printed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from elastic_transport import Urllib3HttpNode

import esr
from benchmarks.studies.quotation_check import Case, change, draw_quotations, recombine
from esr.elastic.cluster import Cluster
from esr.wording import table_lines

_TOOK = re.compile(rb'\{"took":(\d+)')
_MARKS = dict.fromkeys(map(ord, '"“”„«»'))
HEAD = ["index", "cases", "number", "median ms", "95 % ms", "requests", "most", "node ms", "processor ms"]


class Sent(NamedTuple):
    """The number of requests of a check, and the milliseconds that nodes reported for them."""

    requests: int
    took: int


_sent = [0, 0]
"""Requests, and milliseconds that nodes reported, since the last check began."""
_perform = Urllib3HttpNode.perform_request


def perform_and_count(node: Urllib3HttpNode, *args: Any, **options: Any) -> Any:
    """Send a request, and count it in `_sent`."""
    answer = _perform(node, *args, **options)
    took = _TOOK.match(answer.body)
    _sent[0] += 1
    _sent[1] += int(took[1]) if took else 0
    return answer


class Outcome(NamedTuple):
    """A check: its time, what it sent, and what it found."""

    milliseconds: float
    sent: Sent
    found: tuple[str, str | None, int]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time checks of quotations.")
    parser.add_argument("index", help="a folder")
    parser.add_argument("--elasticsearch", help="an index of the same documents on a server")
    parser.add_argument("--cases", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=63)
    parser.add_argument("--warm-up", type=float, default=20.0, help="seconds of other checks before")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with esr.open(options.index) as index:
        said = list(draw_quotations(index, rng, 3 * options.cases))
    others, said = said[options.cases :], said[: options.cases]
    kinds = {
        "as they stand": [Case("said", text, text) for text in said],
        "edited": [change(rng, text, said) for text in said],
        "recombined": [Case("recombined", text, "") for text in recombine(rng, said, options.cases)],
    }
    rows: list[list[str]] = []
    expected: dict[tuple[str, int], Any] = {}
    for where in filter(None, (options.index, options.elasticsearch)):
        outcomes = measure(where, kinds, others, options.warm_up, rows)
        differing = [key for key, found in outcomes.items() if expected.setdefault(key, found) != found]
        print(f"{where}: {len(differing)} of {len(outcomes)} answers differ from those of the folder")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print("\n".join(table_lines(HEAD, rows, left=2)))


def measure(
    where: str, kinds: dict[str, list[Case]], others: Sequence[str], warm_up: float, rows: list[list[str]]
) -> dict[tuple[str, int], Any]:
    """What was found for each case, by kind and number. Adds a row for each kind."""
    found: dict[tuple[str, int], Any] = {}
    with esr.open(where) as index:
        cluster = Cluster(where) if "://" in where else None
        end = time.monotonic() + warm_up
        while time.monotonic() < end:
            for text in others:
                check(index, text)
                if time.monotonic() > end:
                    break
        for kind, cases in kinds.items():
            before = read_processor(cluster)
            outcomes = [check(index, case.text) for case in cases]
            processor = (read_processor(cluster) - before) / len(cases)
            found |= {(kind, number): outcome.found for number, outcome in enumerate(outcomes)}
            rows.append(describe(where, kind, outcomes, processor, cluster is not None))
        if cluster is not None:
            cluster.close()
    return found


def check(index: esr.Index, text: str) -> Outcome:
    _sent[:] = 0, 0
    started = time.perf_counter()
    (quotation,) = index.check(f"“{text.translate(_MARKS)}”").quotations
    milliseconds = 1000 * (time.perf_counter() - started)
    first = quotation.first.sentence_id if quotation.first else None
    return Outcome(milliseconds, Sent(*_sent), (quotation.verdict, first, len(quotation.later)))


def read_processor(cluster: Cluster | None) -> float:
    """The milliseconds of processor time of all nodes since they started."""
    if cluster is None:
        return 0.0
    nodes = cluster.client.nodes.stats(metric="process")["nodes"].values()
    return float(sum(node["process"]["cpu"]["total_in_millis"] for node in nodes))


def describe(
    where: str, kind: str, outcomes: Sequence[Outcome], processor: float, is_server: bool
) -> list[str]:
    times = np.array([outcome.milliseconds for outcome in outcomes])
    requests = np.array([outcome.sent.requests for outcome in outcomes])
    took = np.array([outcome.sent.took for outcome in outcomes])
    row = [where, kind, str(len(outcomes)), *(f"{np.percentile(times, q):.1f}" for q in (50, 95))]
    if not is_server:
        return [*row, "", "", "", ""]
    return [
        *row,
        f"{np.median(requests):.0f}",
        str(requests.max()),
        f"{np.median(took):.0f}",
        f"{processor:.0f}",
    ]


if __name__ == "__main__":
    with patch.object(Urllib3HttpNode, "perform_request", perform_and_count):
        main()
