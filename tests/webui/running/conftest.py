"""Servers as processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.running_servers import Running, run_servers


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts servers with settings."""
    with run_servers(tmp_path) as make:
        yield make
