"""What a process and its children take while it runs, sampled from outside."""

from __future__ import annotations

import threading
import time

import psutil

INTERVAL = 0.1  # seconds between samples


class PeakUsage:
    """The greatest memory of a process and its children so far, in bytes, and their processor time.

    `own` is private memory; `resident` has the pages of mapped files too, which the system can reclaim.
    """

    def __init__(self, pid: int) -> None:
        self.own = self.resident = 0
        self.processor_seconds = 0.0
        self._process = psutil.Process(pid)
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Wait for the last sample, once the process has ended."""
        self._thread.join()

    def _sample(self) -> None:
        while self._process.is_running():
            try:
                processes = [self._process, *self._process.children(recursive=True)]
                memory = [process.memory_info() for process in processes]
                spent = [process.cpu_times() for process in processes]
            except psutil.NoSuchProcess:
                continue  # one of them has ended in the meantime
            if not any(sample.rss for sample in memory):
                return  # it has ended, and nobody has waited for it
            self.own = max(self.own, sum(sample.rss - sample.shared for sample in memory))
            self.resident = max(self.resident, sum(sample.rss for sample in memory))
            self.processor_seconds = max(self.processor_seconds, sum(s.user + s.system for s in spent))
            time.sleep(INTERVAL)
