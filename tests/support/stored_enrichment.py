"""All that an index returns of the enrichment of its sentences, for comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.index.contract import Index
from esr.index.enrichment_run import EnrichmentReport, run_enrichment
from esr.plans.plan import FEATURE_PREFIX
from esr.text.document import Document, QuantizedVector
from tests.support.fake_enricher import DIMENSIONS, ENCODER, FakeEnricher

NOT_ENRICHED: Mapping[str, Any] = {"features": {}, "entities": None, "parse": None, "vector": None}
"""What an index returns of a sentence that is not enriched."""


def enrich(index: Index, enricher: FakeEnricher | None = None, **options: Any) -> EnrichmentReport:
    return run_enrichment(index, enricher or FakeEnricher(), **options)


def read_enrichment(index: Index, documents: Iterable[Document]) -> dict[str, Mapping[str, Any]]:
    """By sentence: features, entities and parse. Checks that all ways to read them agree."""
    ids = [sentence.id for document in documents for sentence in document.sentences]
    names = [FEATURE_PREFIX + name for name in index.features()]
    evidence = index.evidence([], ids, ["position", *names])
    vectors = _read_vectors(index, ids)
    enrichment = {}
    for n, (record, parse) in enumerate(zip(index.sentences(ids), index.parses(ids), strict=True)):
        columns = {name.removeprefix(FEATURE_PREFIX): float(evidence.columns[name][n]) for name in names}
        features = {name: value for name, value in columns.items() if not math.isnan(value)}
        assert dict(record.features) == features
        assert evidence.columns["position"][n] == record.position
        enrichment[ids[n]] = {
            "features": features,
            "entities": record.entities,
            "parse": parse,
            "vector": None if np.isnan(vectors[n]).all() else vectors[n].tolist(),
        }
    return enrichment


def _read_vectors(index: Index, ids: Sequence[str]) -> npt.NDArray[np.float64]:
    """The vectors as floats, of shape (sentences, dimensions): by their products with those of a base."""
    bases = [bytes(int(n == m) for m in range(DIMENSIONS)) for n in range(DIMENSIONS)]
    products = [index.similarities(ENCODER, QuantizedVector(base, 1.0), ids).sentence for base in bases]
    return np.column_stack(products)


def expected(enricher: FakeEnricher, document: Document, analyzer: Any) -> dict[str, Mapping[str, Any]]:
    """The same, straight from the enricher."""
    from esr.dependency.parses import encode
    from esr.index.names import group_entities

    return {
        sentence.id: {
            "features": dict(enrichment.features),
            "entities": None if enrichment.entities is None else group_entities(enrichment.entities),
            "parse": None if enrichment.parse is None else encode(enrichment.parse, analyzer),
            "vector": None
            if enrichment.vector is None
            else (enrichment.vector.array * enrichment.vector.scale).tolist(),
        }
        for sentence, enrichment in zip(document.sentences, enricher.enrich(document), strict=True)
    }
