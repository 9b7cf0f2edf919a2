"""Fixtures of the tests against a real node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.elasticsearch import fresh


@pytest.fixture
def where(elasticsearch_url: str) -> Iterator[str]:
    """An empty place on the node, removed after the test."""
    with fresh(elasticsearch_url) as location:
        yield location
