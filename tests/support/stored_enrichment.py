"""All that an index returns of the enrichment of its sentences, for comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from esr.documents import Document
from esr.engines.enrichment_run import EnrichmentReport, run_enrichment
from esr.engines.index import Index
from esr.plans.plan import FEATURE_PREFIX
from tests.support.fake_enricher import FakeEnricher


def enrich(index: Index, enricher: FakeEnricher | None = None, **options: Any) -> EnrichmentReport:
    return run_enrichment(index, enricher or FakeEnricher(), **options)


def read_enrichment(index: Index, documents: Iterable[Document]) -> dict[str, Mapping[str, Any]]:
    """By sentence: features, entities and parse. Checks that all ways to read them agree."""
    ids = [sentence.id for document in documents for sentence in document.sentences]
    names = [FEATURE_PREFIX + name for name in index.features()]
    evidence = index.evidence([], ids, ["position", *names])
    enrichment = {}
    for n, (record, parse) in enumerate(zip(index.sentences(ids), index.parses(ids), strict=True)):
        columns = {name.removeprefix(FEATURE_PREFIX): float(evidence.columns[name][n]) for name in names}
        features = {name: value for name, value in columns.items() if not math.isnan(value)}
        assert dict(record.features) == features
        assert evidence.columns["position"][n] == record.position
        enrichment[ids[n]] = {"features": features, "entities": record.entities, "parse": parse}
    return enrichment


def expected(enricher: FakeEnricher, document: Document, analyzer: Any) -> dict[str, Mapping[str, Any]]:
    """The same, straight from the enricher."""
    from esr.dependency.codec import encode
    from esr.engines.entities import group_entities

    return {
        sentence.id: {
            "features": dict(enrichment.features),
            "entities": None if enrichment.entities is None else group_entities(enrichment.entities),
            "parse": None if enrichment.parse is None else encode(enrichment.parse, analyzer),
        }
        for sentence, enrichment in zip(document.sentences, enricher.enrich(document), strict=True)
    }
