"""The folder in which several workers share their counts: of metrics, and of clients' requests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import mkdtemp

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names it. The metrics library, which is imported later, looks for it."""


@contextmanager
def shared_folder(workers: int) -> Iterator[None]:
    """The folder, if there are several workers. It is deleted in the end."""
    if workers == 1:
        yield
        return
    folder = os.environ[FOLDER] = mkdtemp(prefix="esr-metrics-")
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner:  # workers also pass here when they end
            shutil.rmtree(folder, ignore_errors=True)
            del os.environ[FOLDER]
