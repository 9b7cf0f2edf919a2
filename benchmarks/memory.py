"""The memory of `esr load`, by the size of the source.

    python -m benchmarks.memory WHERE FILE [FILE …]

Each file replaces the previous one in WHERE. Prints the number of sentences, the peak of the loader's private
memory, and the peak including the pages of mapped files, which the system can reclaim. Both are totals over
all of its processes, sampled ten times a second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import Any

import psutil

from benchmarks.speed.workspace import ESR

# The memory and processor time of a process and its children, sampled from outside.


INTERVAL = 0.1  # seconds between samples


class PeakUsage:
    """The peak memory of a process and its children in bytes, and their processor time in seconds.

    `own` is private memory; `resident` includes the pages of mapped files, which the system can reclaim.
    """

    def __init__(self, pid: int) -> None:
        self.own = self.resident = 0
        self.processor_seconds = 0.0
        self._process = psutil.Process(pid)
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Wait for the last sample after the end of the process."""
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


MB = 1_000_000


def load(where: str, source: str) -> dict[str, Any]:
    """The report of a load with its peak memory in MB: `own`, and `resident` with mapped files."""
    command = [*ESR, "load", source, "--index", where, "--if-exists", "replace", "--keep", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as loader:
        peak = PeakUsage(loader.pid)
        report, errors = loader.communicate()
    peak.stop()
    if loader.returncode:
        raise SystemExit(f"the load of {source} failed: {errors}")
    return {**json.loads(report), "own": peak.own / MB, "resident": peak.resident / MB}


if __name__ == "__main__":
    for path in sys.argv[2:]:
        peak = load(sys.argv[1], path)
        print(
            f"{peak['sentences']:,} sentences: {peak['own']:.0f} MB, "
            f"{peak['resident']:.0f} MB with mapped files",
            flush=True,
        )
