"""How much memory `esr load` takes, by the size of what it loads.

    python -m benchmarks.memory WHERE FILE [FILE …]

Each file is loaded into WHERE in place of the one before. Prints the sentences, the greatest memory of the
loader's own, and the greatest with the pages of files that it has mapped, which the system takes back when
it wants them. Both are those of all of its processes together. Looks ten times a second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import psutil

from benchmarks.speed.prepared import ESR

EVERY = 0.1
MB = 1_000_000


def load(where: str, source: str) -> dict[str, Any]:
    """The report of a load, and its greatest memory in MB: `own`, and `resident` with what is mapped."""
    command = [*ESR, "load", source, "--index", where, "--if-exists", "replace", "--keep", "0", "--json"]
    own = resident = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as loader:
        seen = psutil.Process(loader.pid)
        while loader.poll() is None:
            try:
                found = [each.memory_info() for each in (seen, *seen.children(recursive=True))]
            except psutil.NoSuchProcess:
                continue  # one of them has ended meanwhile
            own = max(own, sum(each.rss - each.shared for each in found))
            resident = max(resident, sum(each.rss for each in found))
            time.sleep(EVERY)
        said = loader.stdout.read() if loader.stdout else ""
    if loader.returncode:
        raise SystemExit(f"the load of {source} failed: {loader.stderr.read() if loader.stderr else None}")
    return {**json.loads(said), "own": own / MB, "resident": resident / MB}


if __name__ == "__main__":
    for path in sys.argv[2:]:
        found = load(sys.argv[1], path)
        print(
            f"{found['sentences']:,} sentences: {found['own']:.0f} MB, "
            f"{found['resident']:.0f} MB with mapped files",
            flush=True,
        )
