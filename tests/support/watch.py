"""Clean up after a test run that was killed.

This file runs as a process of its own beside the nodes. A run that gets SIGKILL, or SIGTERM without
a handler, cannot stop its nodes: this process sees that its parent is gone and does it instead.
It looks at its parent's process id, because that works whatever user the nodes run as and also when
they are paused. PR_SET_PDEATHSIG would be lost when the node's user is set, and would reach the
launcher only and not the server it starts.

It uses the standard library only, so that it starts fast with `python -I -S`.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

INTERVAL = 0.3
PATIENCE = 10.0


def clean(folder: Path) -> None:
    """End what the notes in the folder name, then remove the folder.

    `*.group` holds the id of a process group to kill, `*.command` a command to run.
    """
    groups = [int(note.read_text()) for note in folder.glob("*.group")]
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for note in sorted(folder.glob("*.command")):
        with contextlib.suppress(OSError):
            subprocess.run(shlex.split(note.read_text()), capture_output=True, check=False)
    end = time.monotonic() + PATIENCE
    while any(map(alive, groups)) and time.monotonic() < end:
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < end:
        time.sleep(0.05)
        shutil.rmtree(folder, ignore_errors=True)


def alive(group: int) -> bool:
    """Whether a process group still has a process that runs.

    One that has ended but that nobody has waited for does not count: in a container, nobody may ever.
    """
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if not Path("/proc/self/stat").exists():
        return True
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # ended while we looked
            state, _, its_group, *_ = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(its_group) == group and state not in "ZX":
                return True
    return False


def main() -> None:
    """Wait until the parent is gone or the folder is, and clean up in the first case."""
    parent, folder = int(sys.argv[1]), Path(sys.argv[2])
    while os.getppid() == parent:
        if not folder.exists():
            return
        time.sleep(INTERVAL)
    clean(folder)


if __name__ == "__main__":
    main()
