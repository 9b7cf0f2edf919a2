"""What enrichment finds for one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from esr.documents import ParseWord
from esr.enrichment.annotation import Entity


@dataclass(frozen=True, slots=True)
class Enriched:
    """A feature that is not known is left out. None: entities not looked for, sentence not parsed."""

    features: Mapping[str, float]
    entities: tuple[Entity, ...] | None
    parse: tuple[ParseWord, ...] | None
