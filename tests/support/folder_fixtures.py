"""Fixtures of the tests that write index folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.folder.write import segment_writer


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk, which would be most of the time of these tests."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A location for an index, where nothing exists yet."""
    return tmp_path / "index"


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every document makes a segment of its own."""
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 0)
