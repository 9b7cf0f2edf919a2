"""Stores enrichment in the sentences' own entries, by bulk updates, while searches go on.

Sentences get their marks first, their document gets them when all of its sentences have theirs. So what a
killed enricher left half done is done again, and machines that share the work need not know each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from elasticsearch import helpers

from esr import analysis, resources
from esr.analysis import Analyzer
from esr.batches import batched
from esr.documents import Document
from esr.documents.enrichment import SentenceEnrichment
from esr.engines.elasticsearch.cluster.asking import count, pages, refresh, search
from esr.engines.elasticsearch.cluster.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.load.actions import Action, binary_parse
from esr.engines.elasticsearch.store import meta, templates
from esr.engines.elasticsearch.store.stored import document_of
from esr.engines.entities import grouped
from esr.enrichment.recipe import Recipe
from esr.errors import EsrError, IndexMissing, UsageError

ENRICH, SLICE = "esr-enrich-v1", "esr-slice-v1"
_PAGE = 500
_CHUNK = 1000
_CHUNK_BYTES = 8_000_000
_RETRIES = 8
_NEW_FIELDS = {"entities", "parse", "enriched"}
"""What indices of sentences lack that were loaded before there was enrichment."""
Query = dict[str, Any]


@contextmanager
def enrichment(where: str) -> Iterator[ElasticsearchEnrichment]:
    """Several may write at once, if they share the work by slices."""
    cluster = Cluster(where, LOAD_TIMEOUT)
    try:
        yield ElasticsearchEnrichment(cluster)
    finally:
        cluster.close()


class ElasticsearchEnrichment:
    """The enrichment of what is behind an alias."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._loads = {load.documents_index: load for load in meta.served(cluster)}
        if not self._loads:
            raise IndexMissing(f"there is no index at {cluster.where}: make one with esr load")
        (description,) = {load.description for load in self._loads.values()}
        self._analyzer: Analyzer = analysis.get(description.analyzer)
        self._recorded: set[str] = set()
        templates.install(cluster)
        refresh(cluster, cluster.documents_alias)  # what an enricher before this one wrote last

    def counts(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        done = {"filter": [*_sliced(slice), *_made(recipe)]}
        alias = self._cluster.documents_alias
        of = {"filter": _sliced(slice)}
        return count(self._cluster, alias, {"bool": done}), count(self._cluster, alias, {"bool": of})

    def todo(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> Iterator[Document]:
        lacking = {"bool": {"filter": _sliced(slice), "must_not": [{"bool": {"filter": _made(recipe)}}]}}
        body: dict[str, Any] = {"query": lacking, "sort": [{"order": "asc"}]}
        body |= {"source": {"excludes": ["context"]}}
        for answer in pages(self._cluster, _PAGE, index=self._cluster.documents_alias, **body):
            yield from (document_of(hit["_source"]) for hit in answer["hits"]["hits"])

    def store(self, recipe: Recipe, some: Iterable[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        self._record(recipe)
        for found in batched(some, _PAGE):
            places = self._places([document_id for document_id, _ in found])
            self._bulk(self._sentence_actions(recipe, found, places))
            self._bulk(_action(places[name][0], name, recipe, {}) for name, _ in found)

    def finish(self, recipe: Recipe) -> list[str]:
        """Have what the updates replaced merged away. Nobody needs to wait for that."""
        names = [self._cluster.alias, self._cluster.documents_alias]
        refresh(self._cluster, names)
        done, documents = self.counts(recipe)
        if done < documents:
            return [f"{documents - done:,} of {documents:,} documents are still to be done"]
        with self._cluster.errors():
            self._cluster.client.indices.forcemerge(
                index=names, only_expunge_deletes=True, wait_for_completion=False
            )
        return ["Elasticsearch now merges away what was replaced; searches go on meanwhile"]

    def _record(self, recipe: Recipe) -> None:
        """Say in each index what it is enriched with, and make room in the mapping of older ones."""
        if recipe.digest in self._recorded:
            return
        client = self._cluster.client
        properties = resources.load("components/esr-sentences.json")["template"]["mappings"]["properties"]
        fresh = {name: properties[name] for name in _NEW_FIELDS}
        with self._cluster.errors():
            for load in self._loads.values():
                own = client.indices.get_mapping(index=load.index)[load.index]["mappings"]["_meta"]
                own["esr"].setdefault("recipes", {})[recipe.digest] = recipe.as_dict()
                client.indices.put_mapping(index=load.index, meta=own, properties=fresh)
                keyword = {"enriched": fresh["enriched"]}
                client.indices.put_mapping(index=load.documents_index, properties=keyword)
        self._recorded.add(recipe.digest)

    def _places(self, names: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
        """By document: the index that it is in, and the ids of its sentences."""
        answer = search(
            self._cluster,
            index=self._cluster.documents_alias,
            query={"ids": {"values": list(names)}},
            size=len(names),
            source={"includes": ["sentences.id"]},
        )
        places = {
            hit["_id"]: (hit["_index"], [s["id"] for s in hit["_source"].get("sentences", ())])
            for hit in answer["hits"]["hits"]
        }
        for name in names:
            if name not in places:
                raise UsageError(f"there is no document {name!r} in {self._cluster.where}")
            if places[name][0] not in self._loads:
                raise EsrError(f"{self._cluster.where} was loaded anew meanwhile: enrich it again")
        return places

    def _sentence_actions(
        self,
        recipe: Recipe,
        found: Sequence[tuple[str, Sequence[SentenceEnrichment]]],
        places: Mapping[str, tuple[str, list[str]]],
    ) -> Iterator[Action]:
        for name, sentences in found:
            documents_index, ids = places[name]
            for sentence_id, enriched in zip(ids, sentences, strict=True):
                fields = {part: self._field(part, enriched) for part in recipe.parts}
                known = {part: value for part, value in fields.items() if value is not None}
                yield _action(self._loads[documents_index].index, sentence_id, recipe, known)

    def _field(self, part: str, found: SentenceEnrichment) -> Any:
        if part == "features":
            return {name: float(value) for name, value in found.features.items()} or None
        if part == "entities":
            return None if found.entities is None else grouped(found.entities)
        return None if found.parse is None else binary_parse(found.parse, self._analyzer)

    def _bulk(self, actions: Iterable[Action]) -> None:
        with self._cluster.errors():
            results = helpers.streaming_bulk(
                self._cluster.client,
                actions,
                chunk_size=_CHUNK,
                max_chunk_bytes=_CHUNK_BYTES,
                max_retries=_RETRIES,
                initial_backoff=0.5,
                max_backoff=30,
                retry_on_status=(429, 503),
                raise_on_error=False,
            )
            for done, result in results:
                if not done:
                    (outcome,) = result.values()
                    reason = (outcome.get("error") or {}).get("reason", outcome)
                    raise EsrError(f"Elasticsearch refused to enrich {outcome.get('_id')}: {reason}")


def summary(cluster: Cluster, loads: Sequence[meta.Load]) -> list[dict[str, object]]:
    """What is enriched and with what: per part and recipe the documents it was made for."""
    by = {"enriched": {"terms": {"field": "enriched", "size": _PAGE}}}
    answer = search(cluster, index=cluster.documents_alias, size=0, aggs=by)
    counts = {each["key"]: each["doc_count"] for each in answer["aggregations"]["enriched"]["buckets"]}
    recipes = [Recipe.from_dict(recipe) for load in loads for recipe in load.recipes.values()]
    made = {mark: (part, recipe) for recipe in recipes for part, mark in recipe.fingerprints.items()}
    return [
        {"part": part, "documents": counts[mark], "made_with": dict(recipe.versions)}
        for mark, (part, recipe) in sorted(made.items())
        if mark in counts
    ]


def _action(index: str, name: str, recipe: Recipe, found: Mapping[str, Any]) -> Action:
    params = {"parts": list(recipe.parts), "found": dict(found), "marks": list(recipe.fingerprints.values())}
    script = {"id": ENRICH, "params": params}
    return {"_op_type": "update", "_index": index, "_id": name, "script": script, "retry_on_conflict": 3}


def _made(recipe: Recipe) -> list[Query]:
    return [{"term": {"enriched": mark}} for mark in recipe.fingerprints.values()]


def _sliced(slice: tuple[int, int]) -> list[Query]:
    place, of = slice
    if of == 1:
        return []
    return [{"script": {"script": {"id": SLICE, "params": {"place": place - 1, "of": of}}}}]
