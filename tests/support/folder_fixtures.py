"""Fixtures of the tests that write index folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.engines.segments.writer import segment_builder as build


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for the disk would be most of the time of these tests."""
    monkeypatch.setattr("os.fsync", lambda number: None)


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A place for an index; nothing is there yet."""
    return tmp_path / "index"


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every document makes a segment of its own."""
    monkeypatch.setattr(build, "FULL_TERMS", 0)
