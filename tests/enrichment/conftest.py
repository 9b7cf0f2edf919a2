from __future__ import annotations

import pytest

from esr.enrichment import enricher as module
from esr.enrichment.enricher import Enricher


@pytest.fixture(scope="session")
def enricher() -> Enricher:
    """All parts, without the classifier of tones, which not every machine has. The model is loaded once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "open_tones", lambda: None)
        enricher = Enricher()
    enricher.load()
    return enricher
