"""Which encoders made the vectors of an index, by the recipes that its enrichment recorded."""

from __future__ import annotations

import time
from collections import Counter

from esr.documents.enrichment import VECTORS
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import count
from esr.engines.elasticsearch.store import meta
from esr.engines.elasticsearch.store.cache_age import MAX_AGE
from esr.engines.similarities import find_main_encoder
from esr.enrichment.recipe import Recipe


class EncoderReader:
    """Reads the fingerprints of vectors by the encoder that made them, and caches them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read_at = -MAX_AGE
        self._fingerprints: dict[str, list[str]] = {}

    def fingerprints(self, encoder: str) -> list[str]:
        """What `enriched` of a sentence has whose vector this encoder made: one of these."""
        return self._read().get(encoder, [])

    def main_encoder(self) -> str | None:
        """The id of the encoder that made the vectors of most documents, None without vectors."""
        by_encoder = self._read()
        if len(by_encoder) <= 1:
            return next(iter(by_encoder), None)
        documents = Counter(
            {
                encoder: count(self._cluster, self._cluster.documents_alias, {"terms": {"enriched": marks}})
                for encoder, marks in by_encoder.items()
            }
        )
        return find_main_encoder(documents)

    def _read(self) -> dict[str, list[str]]:
        now = time.monotonic()
        if now - self._read_at >= MAX_AGE:
            by_encoder: dict[str, list[str]] = {}
            for load in meta.searchable_loads(self._cluster):
                for recipe in map(Recipe.from_dict, load.recipes.values()):
                    if VECTORS in recipe.parts:
                        marks = by_encoder.setdefault(recipe.versions["encoder"], [])
                        marks.append(recipe.fingerprints[VECTORS])
            self._fingerprints, self._read_at = by_encoder, now
        return self._fingerprints
