from __future__ import annotations

from collections.abc import Iterator

import pytest

from esr.enrichment.enricher import VectorSettings
from tests.support.fake_enricher import write_tiny_encoder


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VectorSettings]:
    """A tiny encoder, which is also that of the processes that a test starts."""
    with pytest.MonkeyPatch.context() as patch:
        folder = str(write_tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny", 24))
        patch.setenv("ESR_ENCODER", folder)
        yield VectorSettings(folder)
