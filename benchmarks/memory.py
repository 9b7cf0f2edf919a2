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
from typing import Any

from benchmarks.process_usage import PeakUsage
from benchmarks.speed.workspace import ESR

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
