"""All that an index tells of the enrichment of its sentences, to be compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from esr.documents import Document
from esr.engines.enrichment_run import EnrichmentReport, run_enrichment
from esr.engines.index import Index
from esr.plans.plan import FEATURES
from tests.enrichment.fake import FakeEnricher


def enrich(index: Index, enricher: FakeEnricher | None = None, **options: Any) -> EnrichmentReport:
    return run_enrichment(index, enricher or FakeEnricher(), **options)


def seen(index: Index, documents: Iterable[Document]) -> dict[str, Mapping[str, Any]]:
    """By sentence: features, entities, parse and columns, as each way of asking gives them."""
    ids = [sentence.id for document in documents for sentence in document.sentences]
    names = [FEATURES + name for name in index.features()]
    evidence = index.evidence([], ids, ["position", *names])
    found = {}
    for n, (record, parse) in enumerate(zip(index.sentences(ids), index.parses(ids), strict=True)):
        columns = {name.removeprefix(FEATURES): float(evidence.columns[name][n]) for name in names}
        known = {name: value for name, value in columns.items() if not math.isnan(value)}
        assert dict(record.features) == known
        assert evidence.columns["position"][n] == record.position
        found[ids[n]] = {"features": known, "entities": record.entities, "parse": parse}
    return found


def expected(enricher: FakeEnricher, document: Document, analyzer: Any) -> dict[str, Mapping[str, Any]]:
    """The same, straight from the enricher."""
    from esr.dependency.codec import encode
    from esr.engines.entities import group_entities

    return {
        sentence.id: {
            "features": dict(one.features),
            "entities": None if one.entities is None else group_entities(one.entities),
            "parse": None if one.parse is None else encode(one.parse, analyzer),
        }
        for sentence, one in zip(document.sentences, enricher.enrich(document), strict=True)
    }
