"""What run.py drives."""

from __future__ import annotations

from typing import Protocol

from esr.documents import Document
from esr.enrichment.enriched import Enriched
from esr.enrichment.recipe import Recipe


class Enricher(Protocol):
    """Cheap to make; heavy things are loaded on first use."""

    recipe: Recipe

    def enrich(self, document: Document) -> list[Enriched]:
        """One per sentence, in order."""
