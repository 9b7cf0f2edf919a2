from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_enricher import write_tiny_encoder
from tests.support.web_servers import ModelServer, serve_models, use_hub, write_hub_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_encoder(tmp_path / "tiny")


@pytest.fixture
def hub(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A hub that has an encoder, `example/tiny`, and an empty cache."""
    with serve_models() as server:
        server.folder = write_hub_folder(tmp_path / "hub", folder)
        use_hub(server, tmp_path / "hub-cache", monkeypatch)
        yield server
