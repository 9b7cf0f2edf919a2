"""Sets environment variables for a block, also for the processes that start in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def set_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The variables have these values inside the block and their former values after it."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
