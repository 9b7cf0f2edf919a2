from __future__ import annotations

import pytest

from esr.enrichment.enricher import Enricher


@pytest.fixture(scope="session")
def enricher() -> Enricher:
    """All parts. The model is loaded once."""
    enricher = Enricher()
    enricher.load()
    return enricher
