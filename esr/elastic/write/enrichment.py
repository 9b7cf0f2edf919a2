"""Stored enrichment: bulk updates of the entries of sentences and documents, while searches continue.

An entry's `enriched` holds fingerprints of the recipes that enriched it. Sentences get the recipe's
fingerprints first, and then their document. So work that a killed enricher left unfinished is repeated, and
machines that share the work by slices need no communication. Fields of names that an older version of esr did
not store are computed from the stored entities.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.connection import LOAD_TIMEOUT
from esr.elastic.copies import COPIES, other_slot, serve_slot
from esr.elastic.dialect import SEPARATOR
from esr.elastic.documents import WITHOUT_CONTEXT, decode_document, encode_quotes
from esr.elastic.requests import count, hits_of, read_entries, refresh, search, search_pages
from esr.elastic.statistics import read_languages
from esr.elastic.tables import store_table
from esr.elastic.vectors import encode_vector, index_vectors, map_vectors
from esr.elastic.vocabulary import (
    FIELD,
    FINGERPRINT,
    KEYS_FIELD,
    SHORT_FORMS,
    count_types,
    count_values,
    encode_document_names,
    encode_names,
)
from esr.elastic.write.actions import encode_parse
from esr.elastic.write.bulk import Action, send_bulk
from esr.elastic.write.copies import StoredCopies
from esr.elastic.write.templates import install_templates, map_field
from esr.elastic.write.write_blocks import lift_left_blocks
from esr.enrichment.copy_finder import SentenceTerms
from esr.enrichment.copy_wording import Integers
from esr.enrichment.recipe import Recipe
from esr.errors import EsrError, NotFound
from esr.index.names import (
    ENTITY_TYPES,
    IDS_KEY,
    Aliases,
    Resolved,
    ShortForm,
    add_ids,
    group_entities,
    join_short_forms,
    read_ids,
    resolve_names,
)
from esr.index.runs.declined_names import declining_languages, find_declined
from esr.index.runs.name_variants import add_variants, find_variants
from esr.stdlib import batched
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.analyzer_definitions import primary_language
from esr.text.document import Document
from esr.text.sentence_enrichment import QUOTES, VECTORS, SentenceEnrichment

Query = dict[str, Any]
ENTITIES = "entities"


def build_done_clause(
    recipe: Recipe, recorded: Iterable[Recipe], languages: Callable[[], Sequence[str]]
) -> Query:
    """Matches documents with all parts of a recipe, made by it or by a recorded recipe with equal results.

    Another recipe has the same result for a document if, for example, only the model of another language was
    added since. `languages` returns the languages that documents name. It is called only if recorded recipes
    may agree for some.
    """
    others = [other for other in recorded if other != recipe and _may_agree(recipe, other)]
    if not others:
        return {"bool": {"filter": [_with_mark([mark]) for mark in recipe.fingerprints.values()]}}
    by_marks: dict[tuple[tuple[str, ...], ...], list[str | None]] = {}
    for language in [None, *languages()]:
        marks = tuple(_marks(recipe, others, part, language) for part in recipe.parts)
        by_marks.setdefault(marks, []).append(language)
    clauses = [
        {"bool": {"filter": [_in_language(named), *map(_with_mark, marks)]}}
        for marks, named in by_marks.items()
    ]
    return {"bool": {"should": clauses}}


def _may_agree(recipe: Recipe, other: Recipe) -> bool:
    return any(recipe.may_agree(other, part) for part in recipe.parts)


def _marks(recipe: Recipe, others: Sequence[Recipe], part: str, language: str | None) -> tuple[str, ...]:
    """The fingerprints that mark a part of a document in this language as equal to the recipe's result."""
    same = [other.fingerprints[part] for other in others if recipe.agrees(other, part, language)]
    return (recipe.fingerprints[part], *sorted(set(same)))


def _with_mark(marks: Sequence[str]) -> Query:
    """Matches entries with one of these fingerprints."""
    return {"terms": {"enriched": list(marks)}}


def _in_language(languages: Sequence[str | None]) -> Query:
    """Matches documents that name one of these languages; None stands for naming none."""
    clauses: list[Query] = [{"terms": {"language": [name for name in languages if name is not None]}}]
    if None in languages:
        clauses.append({"bool": {"must_not": {"exists": {"field": "language"}}}})
    return {"bool": {"should": clauses}}


ENRICH_SCRIPT = "esr-enrich-v1"


def replace_parts(index: str, id: str, parts: Sequence[str], fields: Mapping[str, Any]) -> Action:
    """The action that replaces these parts of an entry with these fields.

    A part is given as `name:fingerprint`, which is added to the entry's `enriched`, or as a name alone.
    """
    names = [part.partition(":")[0] for part in parts]
    params = {"parts": names, "found": dict(fields), "marks": [part for part in parts if ":" in part]}
    script = {"id": ENRICH_SCRIPT, "params": params}
    return {"_op_type": "update", "_index": index, "_id": id, "script": script, "retry_on_conflict": 3}


def _replace_copies(change: tuple[str, str, Mapping[str, Any]]) -> Action:
    """The action for a change of `StoredCopies`: the index of a sentence, its id, the groups in its slots."""
    index, id, slots = change
    return replace_parts(index, id, [COPIES], {COPIES: slots} if slots else {})


def send_updates(cluster: Cluster, actions: Iterable[Action]) -> None:
    """Send actions in bulk. Raises EsrError for an item that Elasticsearch rejects."""
    for item in send_bulk(cluster, actions):
        raise EsrError(f"{cluster.dialect.name} rejected the enrichment of {item.id}: {item.reason}")


_NAME_PAGE = 100
_UNRESOLVED: Query = {
    "bool": {
        "filter": [{"prefix": {"enriched": f"{ENTITIES}:"}}],
        "must_not": [{"term": {"enriched": FINGERPRINT}}],
    }
}
"""Matches the documents whose names an older version of esr stored."""


def count_unresolved(cluster: Cluster) -> int:
    """The number of documents whose names an older version of esr stored, which `update_names` changes."""
    return count(cluster, cluster.documents_alias, _UNRESOLVED)


def group_stored_names(cluster: Cluster, loads: Mapping[str, meta.Load]) -> int:
    """Resolve the stored names that this version of esr has not resolved. Returns the number of sentences.

    `loads` are by index of documents. A document is marked after its sentences, so that a later run completes
    a killed one.
    """
    body: dict[str, Any] = {"query": _UNRESOLVED, "sort": [{"ordinal": "asc"}], "source": ["document_id"]}
    updated = 0
    refresh(cluster, [cluster.alias, cluster.documents_alias])
    map_field(cluster, loads, "esr-documents", FIELD)
    for page in search_pages(cluster, _NAME_PAGE, index=cluster.documents_alias, **body):
        entries = {hit["_id"]: hit["_index"] for hit in hits_of(page)}
        sentences = _read_entities(cluster, list(entries))
        resolved = {id: resolve_names(s["_source"].get(ENTITIES) for s in sentences[id]) for id in entries}
        with_entities = [
            (hit, hit["_source"][ENTITIES], resolved[id])
            for id in entries
            for hit in sentences[id]
            if hit["_source"].get(ENTITIES)
        ]
        send_updates(
            cluster,
            (
                replace_parts(
                    hit["_index"], hit["_id"], [FINGERPRINT], {FIELD: encode_names(entities, of_document)}
                )
                for hit, entities, of_document in with_entities
            ),
        )
        updated += len(with_entities)
        send_updates(
            cluster,
            (
                replace_parts(
                    index,
                    id,
                    [FINGERPRINT],
                    {
                        FIELD: encode_document_names(
                            (hit["_source"].get(ENTITIES) for hit in sentences[id]), resolved[id]
                        )
                    },
                )
                for id, index in entries.items()
            ),
        )
    return updated


def _read_entities(cluster: Cluster, document_ids: Sequence[str]) -> dict[str, list[Any]]:
    """The sentences of each of these documents in order, as hits with their entities."""
    sentences: dict[str, list[Any]] = {id: [] for id in document_ids}
    query = {"terms": {"document_id": list(document_ids)}}
    body: dict[str, Any] = {"query": query, "sort": [{"ordinal": "asc"}], "source": [ENTITIES, "document_id"]}
    for page in search_pages(cluster, PAGE_SIZE, index=cluster.alias, **body):
        for hit in hits_of(page):
            sentences[hit["_source"]["document_id"]].append(hit)
    return sentences


def with_names(
    document: Mapping[str, Any], sentences: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Add resolved names to the enriched fields, from any version of esr, of a document and its sentences."""
    entities = [fields.get(ENTITIES) for fields in sentences]
    if not any(entities):
        return dict(document), [dict(fields) for fields in sentences]
    resolved = resolve_names(entities)
    return _with_field(document, encode_document_names(entities, resolved)), [
        _with_field(fields, encode_names(of_sentence, resolved)) if of_sentence else dict(fields)
        for fields, of_sentence in zip(sentences, entities, strict=True)
    ]


def _with_field(fields: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    fingerprints = [mark for mark in fields.get("enriched", ()) if not mark.startswith(f"{FIELD}:")]
    return {**fields, FIELD: names, "enriched": [*fingerprints, FINGERPRINT]}


def store_short_forms(cluster: Cluster) -> None:
    """Store the names that short forms and ids stand for in the whole collection, if they have changed."""
    refresh(cluster, cluster.documents_alias)
    stored = [
        ShortForm(short, full, documents)
        for pair, documents in count_values(cluster, SHORT_FORMS)
        for short, _, full in [pair.partition(SEPARATOR)]
    ]
    keys = sorted({key for form in stored for key in (form.short, form.full)})
    joined = join_short_forms(stored, count_types(cluster, keys))
    variants = add_variants(joined, find_variants(_count_all(cluster)))
    languages = _read_languages(cluster)
    for code in declining_languages():
        if written := [language for language in languages if primary_language(language) == code]:
            types = _count_all(cluster, {"terms": {"language": written}})
            variants = add_variants(variants, find_declined(code, types))
    short_forms = add_ids(variants, _count_ids(cluster))
    for load in meta.searchable_loads(cluster):
        if load.short_forms != short_forms:
            meta.write(cluster, replace(load, short_forms=short_forms))


def _count_all(cluster: Cluster, query: Query | None = None) -> Mapping[str, Mapping[str, int]]:
    """By key, the number of documents, perhaps only of matching ones, that have it with each type."""
    counts: dict[str, dict[str, int]] = {}
    for type in ENTITY_TYPES:
        for key, documents in count_values(cluster, f"{FIELD}.{type}", query=query):
            counts.setdefault(key, {})[type] = documents
    return counts


def _read_languages(cluster: Cluster) -> list[str]:
    """The languages that documents name."""
    return [language for language in read_languages(cluster) if language is not None]


def _count_ids(cluster: Cluster) -> Counter[tuple[str, str]]:
    """The number of documents that give a name an id, by (key, id)."""
    counts: Counter[tuple[str, str]] = Counter()
    query = {"term": {KEYS_FIELD: IDS_KEY}}
    body: dict[str, Any] = {"query": query, "sort": [{"ordinal": "asc"}], "source": ["given_metadata"]}
    for page in search_pages(cluster, PAGE_SIZE, index=cluster.documents_alias, **body):
        for hit in hits_of(page):
            counts.update({*read_ids(json.loads(hit["_source"]["given_metadata"]))})
    return counts


def store_aliases(cluster: Cluster, aliases: Aliases) -> None:
    """Store a table of aliases in all loads behind the alias, replacing theirs."""
    for load in meta.searchable_loads(cluster):
        meta.write(cluster, replace(load, aliases=aliases.as_dict()))


SLICE_SCRIPT = "esr-slice-v2"
PAGE_SIZE = 500
"""Number of sentences or documents in one answer."""
_MOST_IDS = 10_000
"""Number of ids in a query."""


class _DocumentNames(NamedTuple):
    """The names that the written forms of a document stand for, and its field `names`."""

    resolved: Resolved
    field: Mapping[str, Any]


class DocumentEntries(NamedTuple):
    """A document's index of documents, the ids of its sentences, and its language."""

    documents_index: str
    sentence_ids: list[str]
    language: str | None


@contextmanager
def open_enrichment(where: str) -> Iterator[ElasticsearchEnrichment]:
    """Open the enrichment for writing. Several processes may write at once, each a different slice."""
    with closing(Cluster(where, LOAD_TIMEOUT)) as cluster:
        yield ElasticsearchEnrichment(cluster)


class ElasticsearchEnrichment:
    """The enrichment of the documents behind an alias."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._loads = {load.documents_index: load for load in meta.searchable_loads(cluster)}
        (description,) = {load.description for load in self._loads.values()}
        self._analyzer = get_analyzer(description.analyzer)
        self._recorded_recipes: set[str] = set()
        self._dimensions: set[int] = set()
        self._has_mapped_names = False
        install_templates(cluster)
        lift_left_blocks(cluster)
        self._maps_quotes = False
        self._copies: StoredCopies | None = None
        refresh(cluster, cluster.documents_alias)  # makes the last writes of an earlier enricher visible

    def progress(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        in_slice = _slice_clauses(slice)
        done = {"bool": {"filter": [*in_slice, self._done_clause(recipe)]}}
        alias = self._cluster.documents_alias
        return count(self._cluster, alias, done), count(self._cluster, alias, {"bool": {"filter": in_slice}})

    def pending(
        self, recipe: Recipe, slice: tuple[int, int] = (1, 1), ids: Collection[str] | None = None
    ) -> Iterator[Document]:
        not_done = [self._done_clause(recipe)]
        groups = [[]] if ids is None else [[{"ids": {"values": some}}] for some in batched(ids, _MOST_IDS)]
        for clauses in groups:
            query = {"bool": {"filter": [*_slice_clauses(slice), *clauses], "must_not": not_done}}
            order: list[Any] = [{"date": {"order": "desc"}}] if recipe.begins_with_newest else []
            body: dict[str, Any] = {
                "query": query,
                "sort": [*order, {"ordinal": "asc"}],
                "source": WITHOUT_CONTEXT,
            }
            for page in search_pages(self._cluster, PAGE_SIZE, index=self._cluster.documents_alias, **body):
                yield from (decode_document(hit["_source"]) for hit in hits_of(page))

    def store(self, recipe: Recipe, batch: Iterable[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        self._record(recipe)
        for page in batched(batch, PAGE_SIZE):
            entries = self._find_entries([document_id for document_id, _ in page])
            self._map_vectors(page)
            if QUOTES in recipe.parts and not self._maps_quotes:
                indices = [load.index for load in self._loads.values()]
                map_field(self._cluster, indices, "esr-sentences", QUOTES)
                self._maps_quotes = True
            names = self._resolve_names(page) if ENTITIES in recipe.parts else {}
            send_updates(self._cluster, self._sentence_updates(recipe, page, entries, names))
            parts = [*recipe.fingerprints.values(), *([FINGERPRINT] if names else ())]
            send_updates(
                self._cluster,
                (
                    replace_parts(
                        entries[document_id].documents_index,
                        document_id,
                        parts,
                        {FIELD: names[document_id].field} if names else {},
                    )
                    for document_id, _ in page
                ),
            )

    def _resolve_names(
        self, batch: Sequence[tuple[str, Sequence[SentenceEnrichment]]]
    ) -> dict[str, _DocumentNames]:
        if not self._has_mapped_names:
            map_field(self._cluster, self._loads, "esr-documents", FIELD)
            self._has_mapped_names = True
        names: dict[str, _DocumentNames] = {}
        for document_id, sentences in batch:
            entities = [
                None if sentence.entities is None else group_entities(sentence.entities)
                for sentence in sentences
            ]
            resolved = resolve_names(entities)
            names[document_id] = _DocumentNames(resolved, encode_document_names(entities, resolved))
        return names

    def update_names(self, aliases: Aliases | None) -> int:
        if aliases is not None:
            store_aliases(self._cluster, aliases)
        updated = group_stored_names(self._cluster, self._loads)
        store_short_forms(self._cluster)
        return updated

    def finish(self, recipe: Recipe) -> list[str]:
        """Start merging replaced entries away, without waiting."""
        aliases = [self._cluster.alias, self._cluster.documents_alias]
        refresh(self._cluster, aliases)
        done, documents = self.progress(recipe)
        if done < documents:
            return [f"{documents - done:,} of {documents:,} documents are still to be done"]
        with self._cluster.translate_errors():
            self._cluster.client.indices.forcemerge(
                index=aliases, only_expunge_deletes=True, wait_for_completion=False
            )
        return [
            f"{self._cluster.dialect.name} is merging away the replaced entries; searches continue meanwhile"
        ]

    def store_table(self, table: bytes) -> None:
        store_table(self._cluster, table)

    def read_terms(self, recipe: Recipe) -> SentenceTerms:
        refresh(self._cluster, [self._cluster.alias, self._cluster.documents_alias])
        self._copies = StoredCopies(self._cluster, self._analyzer, recipe)
        return self._copies.read()

    def store_groups(self, recipe: Recipe, groups: Integers) -> None:
        assert self._copies is not None  # `read_terms` comes first
        cluster, copies = self._cluster, self._copies
        sentences = [load.index for load in self._loads.values()]
        map_field(cluster, sentences, "esr-sentences", COPIES)
        for index in copies.list_disagreeing():
            send_updates(cluster, map(_replace_copies, copies.repeat_served(index)))
            serve_slot(cluster, [index], copies.slot)
        send_updates(cluster, map(_replace_copies, copies.list_changes(groups)))
        if {load.index for load in meta.searchable_loads(cluster)} != {*sentences}:
            raise EsrError(f"a load replaced {cluster.where} meanwhile: enrich it again")
        serve_slot(cluster, sentences, other_slot(copies.slot))
        self._record(recipe)
        mark = list(recipe.fingerprints.values())
        send_updates(cluster, (replace_parts(index, id, mark, {}) for index, id in copies.list_unmarked()))
        refresh(cluster, cluster.documents_alias)

    def index_vectors(self) -> list[str]:
        return index_vectors(self._cluster, [load.index for load in self._loads.values()])

    def _record(self, recipe: Recipe) -> None:
        """Write the recipe to each index of sentences."""
        if recipe.digest in self._recorded_recipes:
            return
        client = self._cluster.client
        with self._cluster.translate_errors():
            for load in self._loads.values():
                index_meta = client.indices.get_mapping(index=load.index)[load.index]["mappings"]["_meta"]
                index_meta["esr"].setdefault("recipes", {})[recipe.digest] = recipe.as_dict()
                client.indices.put_mapping(index=load.index, meta=index_meta)
        self._recorded_recipes.add(recipe.digest)

    def _map_vectors(self, batch: Sequence[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        """Map the fields that the batch's vectors need and that are missing."""
        vectors = (sentence.vector for _, sentences in batch for sentence in sentences)
        dimensions = {len(vector.values) for vector in vectors if vector is not None} - self._dimensions
        for number in dimensions:
            map_vectors(self._cluster, [load.index for load in self._loads.values()], number)
        self._dimensions |= dimensions

    def _done_clause(self, recipe: Recipe) -> Query:
        recorded = {digest: r for load in self._loads.values() for digest, r in load.recipes.items()}
        return build_done_clause(
            recipe, map(Recipe.from_dict, recorded.values()), partial(_read_languages, self._cluster)
        )

    def _find_entries(self, document_ids: Sequence[str]) -> dict[str, DocumentEntries]:
        alias, source = self._cluster.documents_alias, ["sentences.id", "language"]
        entries = {
            hit["_id"]: DocumentEntries(
                hit["_index"],
                [sentence["id"] for sentence in hit["_source"].get("sentences", ())],
                hit["_source"].get("language"),
            )
            for hit in read_entries(self._cluster, alias, document_ids, source)
        }
        for document_id in document_ids:
            if document_id not in entries:
                raise NotFound(f"there is no document {document_id!r} in {self._cluster.where}")
            if entries[document_id].documents_index not in self._loads:
                raise EsrError(f"a load replaced {self._cluster.where} meanwhile: enrich it again")
        return entries

    def _sentence_updates(
        self,
        recipe: Recipe,
        batch: Sequence[tuple[str, Sequence[SentenceEnrichment]]],
        entries: Mapping[str, DocumentEntries],
        names: Mapping[str, _DocumentNames],
    ) -> Iterator[Action]:
        for document_id, sentences in batch:
            documents_index, sentence_ids, language = entries[document_id]
            analyzer = self._analyzer.for_language(language)
            index = self._loads[documents_index].index
            for sentence_id, enriched in zip(sentence_ids, sentences, strict=True):
                fields = {part: self._field(part, enriched, analyzer) for part in recipe.parts}
                stored = {part: value for part, value in fields.items() if value is not None}
                parts = list(recipe.fingerprints.values())
                if ENTITIES in recipe.parts:
                    parts.append(FINGERPRINT)
                    if ENTITIES in stored:
                        stored[FIELD] = encode_names(stored[ENTITIES], names[document_id].resolved)
                yield replace_parts(index, sentence_id, parts, stored)

    def _field(self, part: str, enriched: SentenceEnrichment, analyzer: Analyzer) -> Any:
        """The stored value of a part, or None."""
        if part == "features":
            return {name: float(value) for name, value in enriched.features.items()} or None
        if part == "entities":
            return None if enriched.entities is None else group_entities(enriched.entities)
        if part == VECTORS:
            return None if enriched.vector is None else encode_vector(enriched.vector, self._cluster.dialect)
        if part == QUOTES:
            return encode_quotes(enriched.quotes) or None
        return None if enriched.parse is None else encode_parse(enriched.parse, analyzer)


def summarize_enrichment(cluster: Cluster, loads: Sequence[meta.Load]) -> list[dict[str, object]]:
    """The number of enriched documents by part and recipe."""
    by_fingerprint = {"enriched": {"terms": {"field": "enriched", "size": PAGE_SIZE}}}
    answer = search(cluster, index=cluster.documents_alias, size=0, aggs=by_fingerprint)
    buckets = answer["aggregations"]["enriched"]["buckets"]
    counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
    recipes = [Recipe.from_dict(recipe) for load in loads for recipe in load.recipes.values()]
    parts = {
        fingerprint: (part, recipe) for recipe in recipes for part, fingerprint in recipe.fingerprints.items()
    }
    return [
        {"part": part, "documents": counts[fingerprint], "made_with": dict(recipe.versions)}
        for fingerprint, (part, recipe) in sorted(parts.items())
        if fingerprint in counts
    ]


def _slice_clauses(slice: tuple[int, int]) -> list[Query]:
    """Clauses for the documents of a slice."""
    number, slices = slice
    if slices == 1:
        return []
    script = {"id": SLICE_SCRIPT, "params": {"place": number - 1, "of": slices}}
    return [{"script": {"script": script}}]
