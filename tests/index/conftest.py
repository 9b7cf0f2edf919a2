"""An empty place on each engine, for what both must do alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.elasticsearch import fresh


@pytest.fixture(
    params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)],
)
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place that holds nothing, on either engine."""
    if request.param == "embedded":
        yield str(tmp_path / "index")
        return
    with fresh(request.getfixturevalue("elasticsearch_url")) as where:
        yield where
