from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fake_enricher import write_tiny_encoder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_encoder(tmp_path / "tiny")
