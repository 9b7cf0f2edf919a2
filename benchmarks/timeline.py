"""Memory and disk of a process over time, sampled from outside while it works."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

EVERY = 30.0
"""Seconds between samples."""
KEPT = 12
"""Samples of a timeline in the figures."""


class Timeline:
    """Appends a sample of a process and its children to a file of JSON Lines every 30 seconds.

    A sample has the seconds since the beginning, the documents that were sent, `own` (private memory),
    `resident`     (with pages of mapped files), and the bytes that the disk of `folder` has less free
    than at the beginning.
    """

    def __init__(self, pid: int, folder: Path, target: Path, sent: Callable[[], int]) -> None:
        self._process = psutil.Process(pid)
        self._folder, self._target, self._sent = folder, target, sent
        self._started, self._free = time.perf_counter(), shutil.disk_usage(folder.parent).free
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        target.unlink(missing_ok=True)
        self._thread.start()

    def stop(self) -> None:
        """Take no further sample."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(EVERY):
            try:
                processes = [self._process, *self._process.children(recursive=True)]
                memory = [process.memory_info() for process in processes]
                spent = [process.cpu_times() for process in processes]
            except psutil.NoSuchProcess:
                continue
            sample = {
                "seconds": round(time.perf_counter() - self._started),
                "processor_seconds": round(sum(times.user + times.system for times in spent)),
                "documents": self._sent(),
                "own": sum(sample.rss - sample.shared for sample in memory),
                "resident": sum(sample.rss for sample in memory),
                "bytes": _size(self._folder),
                "disk": self._free - shutil.disk_usage(self._folder.parent).free,
                "load": psutil.getloadavg()[0],
            }
            with self._target.open("a", encoding="utf-8") as file:
                file.write(json.dumps(sample) + "\n")


def _size(folder: Path) -> int:
    """The bytes of the files of a folder whose files come and go."""
    size = 0
    for path in folder.rglob("*"):
        try:
            size += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return size


def read_timeline(file: Path) -> list[dict[str, Any]]:
    """Some of the samples in a file, at equal distances up to the last one."""
    samples = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    places = sorted({len(samples) * number // KEPT for number in range(1, KEPT + 1)} - {0})
    return [samples[place - 1] for place in places]
