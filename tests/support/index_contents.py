"""All that an index returns of the enrichment of its sentences, for comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace

import esr
from esr.folder.format import manifest
from esr.folder.format.files import map_bundle, save_bundle
from esr.folder.format.layer_info import LAYERS, new_layer_name
from esr.index.contract import Index
from esr.index.factory import is_elasticsearch, open_generations
from esr.index.filters import Filters
from esr.index.questions import (
    ByDay,
    ByField,
    EvidenceOf,
    Features,
    Hits,
    Parses,
    Quotes,
    Records,
    SimilaritiesTo,
    Texts,
    Windows,
)
from esr.index.runs.enrichment_run import EnrichmentReport, run_enrichment
from esr.plans.plan import FEATURE_PREFIX, DateRange
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document
from esr.text.sentence_enrichment import QuantizedVector
from tests.support.elasticsearch import fresh, http, load
from tests.support.fake_enricher import DIMENSIONS, ENCODER, FakeEnricher

COUNTS_AND_LISTS: Sequence[Callable[[Index, Filters], object]] = (
    lambda index, filters: index.count([None], filters),
    lambda index, filters: index.count([None], filters, ByDay()),
    lambda index, filters: index.count([None], filters, ByField(("source",), 5)),
    lambda index, filters: index.select(DateRange(), 9, filters, Hits()),
    lambda index, filters: index.select(DateRange(), 9, filters, Texts()),
)
"""Questions that would be answered wrongly without a part of the index."""

NOT_ENRICHED: Mapping[str, Any] = {
    "features": {},
    "entities": None,
    "parse": None,
    "vector": None,
    "quotes": (),
}
"""What an index returns of a sentence that is not enriched."""


def enrich(index: Index, enricher: FakeEnricher | None = None, **options: Any) -> EnrichmentReport:
    return run_enrichment(index, enricher or FakeEnricher(), **options)


def read_enrichment(index: Index, documents: Iterable[Document]) -> dict[str, Mapping[str, Any]]:
    """By sentence: features, entities and parse. Checks that all ways to read them agree."""
    ids = [sentence.id for document in documents for sentence in document.sentences]
    names = [FEATURE_PREFIX + name for name in index.status(Features())]
    evidence = index.read(ids, EvidenceOf([], ["position", *names]))
    vectors, quotes = _read_vectors(index, ids), index.read(ids, Quotes())
    enrichment = {}
    for n, (record, parse) in enumerate(
        zip(index.read(ids, Records()), index.read(ids, Parses()), strict=True)
    ):
        columns = {name.removeprefix(FEATURE_PREFIX): float(evidence.columns[name][n]) for name in names}
        features = {name: value for name, value in columns.items() if not math.isnan(value)}
        assert dict(record.features) == features
        assert evidence.columns["position"][n] == record.position
        enrichment[ids[n]] = {
            "features": features,
            "entities": record.entities,
            "parse": parse,
            "vector": None if np.isnan(vectors[n]).all() else vectors[n].tolist(),
            "quotes": quotes[n],
        }
    return enrichment


def _read_vectors(index: Index, ids: Sequence[str]) -> npt.NDArray[np.float64]:
    """The vectors as floats, of shape (sentences, dimensions): by their products with those of a base."""
    bases = [bytes(int(n == m) for m in range(DIMENSIONS)) for n in range(DIMENSIONS)]
    products = [
        index.read(ids, SimilaritiesTo(ENCODER, QuantizedVector(base, 1.0))).sentence for base in bases
    ]
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
            "quotes": enrichment.quotes,
        }
        for sentence, enrichment in zip(document.sentences, enricher.enrich(document), strict=True)
    }


# The complete contents of an index, for comparison field by field.


TERMS = ["flood", "bank", "rare", "titleword", "relief", "river", "the", "unseenword"]
STORED_PRIORS = ("importance", "importance_surrounding")


def index_contents(where: str, *, priors: bool = True) -> dict[str, Any]:
    """Documents, sentences, statistics, columns and parses, with or without the stored priors.

    They are of one generation: the last request of a loader that was killed may still move the alias.
    """
    with open_searcher(where) as searcher:
        return _contents(searcher.index.snapshot(), priors)


def _contents(index: Index, priors: bool) -> dict[str, Any]:
    documents = list(index.documents())
    ids = [sentence.id for document in documents for sentence in document.sentences]
    statistics, records = index.statistics(TERMS), index.read(ids[:50], Records())
    places = [(record.document_id, record.position) for record in records]
    evidence = index.read(ids, EvidenceOf(TERMS, [f"features.{name}" for name in index.status(Features())]))
    columns = {
        name: [round(float(value), 9) for value in column]
        for name, column in evidence.columns.items()
        if priors or name not in STORED_PRIORS
    }
    return {
        "documents": documents,
        "documents by number": index.documents(positions=range(len(documents))),
        "sentences": index.read(ids, Records()),
        "terms": statistics.terms,
        "collection": str(statistics.collection),
        "counts": {name: counts.tolist() for name, counts in evidence.counts.items()},
        "lengths": {name: lengths.tolist() for name, lengths in evidence.lengths.items()},
        "columns": str(columns),
        "parses": index.read(ids, Parses()),
        "quotes": index.read(ids, Quotes()),
        "windows": index.read([record.sentence_id for record in records], Windows(places, [2] * len(places))),
        "answers": [(hit.sentence_id, round(hit.score, 4)) for hit in _hits(index)],
    }


def _hits(index: Index) -> list[Any]:
    from esr.ranking.searcher import Searcher

    return Searcher(index).search("flood bank relief", 1000, records=False).hits


def documents(where: str) -> list[Document]:
    with open_searcher(where) as searcher:
        return list(searcher.index.documents())


# Takes from an index what the versions of esr did not store that did not group names.


def forget_keys(where: str) -> None:
    """The names stay, without their keys."""
    if is_elasticsearch(where):
        script = (
            "ctx._source.remove('names'); ctx._source.enriched?.removeIf(mark -> mark.startsWith('names:'))"
        )
        for alias in (where, f"{where}-documents"):
            http("POST", f"{alias}/_update_by_query?refresh=true", {"script": {"source": script}})
        return
    folder = Path(where)
    commit = manifest.read_manifest(folder)
    layers = []
    for layer in commit.layers:
        arrays = map_bundle(folder / LAYERS / layer.name)
        layers.append(replace(layer, name=new_layer_name()))
        save_bundle(
            folder / LAYERS / layers[-1].name, {k: v for k, v in arrays.items() if not k.startswith("name.")}
        )
    manifest.commit(folder, commit.with_layers(tuple(layers), commit.recipes))


# The states of the generations at a place.


def states(where: str) -> list[str]:
    """Newest first."""
    with closing(open_generations(where)) as generations:
        return [generation.state for generation in generations.all()]


# An index of the same documents on either engine, for a fixture with `params=ENGINES`.


ENGINES = ["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]


@contextmanager
def open_loaded(
    request: pytest.FixtureRequest, folder: Path, documents: Sequence[Document], **options: Any
) -> Iterator[Searcher]:
    """A searcher on the engine of the fixture's parameter. `options` are those of `load`."""
    with ExitStack() as stack:
        where = str(folder / "index")
        if request.param == "elasticsearch":
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
        load(where, documents, **options)
        yield stack.enter_context(open_searcher(where))


@contextmanager
def open_corpus(request: pytest.FixtureRequest, fill: Callable[[str], object]) -> Iterator[esr.Index]:
    """A corpus on the engine that a fixture with the parameters ENGINES asks for.

    The fixture `folder` has it as an index folder; `fill` loads it into Elasticsearch.
    """
    with ExitStack() as stack:
        if request.param == "embedded":
            where = request.getfixturevalue("folder")
        else:
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
            fill(where)
        yield stack.enter_context(esr.open(where))
