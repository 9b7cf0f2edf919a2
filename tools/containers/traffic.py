"""Searches at a steady rate, and their outcomes."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self
from urllib.parse import quote

from tools.containers.stack import Failed, Stack

QUERIES = ("earthquake relief", "travel ban court", "oil price", "election campaign", "school")
_THREADS = 40


class Traffic:
    """Sends searches at a steady rate until the block ends. `statuses` counts statuses; 0 is no answer."""

    def __init__(self, stack: Stack, rate: float) -> None:
        self._stack, self._pause = stack, 1 / rate
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.statuses: Counter[int] = Counter()
        self.incomplete = 0
        self.slowest = 0.0
        self.refusals: Counter[str] = Counter()
        self.unclear: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        with ThreadPoolExecutor(_THREADS) as pool:
            while not self._ended.wait(self._pause):
                pool.submit(self.ask, QUERIES[number % len(QUERIES)])
                number += 1

    def ask(self, query: str) -> None:
        """Search once, and record the status and the time of the answer."""
        began = time.monotonic()
        status, text = self._stack.ask(f"/api/v1/search?q={quote(query)}")
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.statuses[status] += 1
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {}
        if status == 200:
            self.incomplete += bool(answer.get("incomplete"))
        elif message := answer.get("error", {}).get("message"):
            self.refusals[message] += 1
        elif status:
            self.unclear.append(f"{status}: {text[:200]}")

    def summary(self) -> str:
        counts = ", ".join(f"{n} × {status or 'no answer'}" for status, n in sorted(self.statuses.items()))
        reasons = "".join(f"; {n} × {message!r}" for message, n in self.refusals.most_common())
        return f"{counts}; {self.incomplete} incomplete; the slowest took {self.slowest:.1f} s{reasons}"

    def check(self, statuses: set[int], least: float = 0.0) -> None:
        """Raises Failed for an answer with another status, or a refusal that does not say why.

        `least` is the share of searches that must have been answered with 200.
        """
        share = self.statuses[200] / max(self.statuses.total(), 1)
        if not self.statuses or not set(self.statuses) <= statuses or self.unclear or share < least:
            raise Failed(f"searches were answered {self.summary()} {self.unclear[:3]}")
