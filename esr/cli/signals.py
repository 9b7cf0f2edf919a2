"""Handling of SIGTERM by commands that write."""

from __future__ import annotations

import signal
import sys


def exit_on_sigterm() -> None:
    """Turn SIGTERM into SystemExit, so that incomplete work is rolled back and temporary files go."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
