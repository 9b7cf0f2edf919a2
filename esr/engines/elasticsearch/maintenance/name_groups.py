"""Brings what groups the names of sentences up to date: their keys, and the table of aliases.

An older version of esr stored names without their keys. They follow from the names, so no text is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from esr import resources
from esr.engines.aliases import Aliases
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import count, refresh, search_pages
from esr.engines.elasticsearch.maintenance.updates import replace_parts, send_updates
from esr.engines.elasticsearch.store import meta
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.elasticsearch.store.names import FIELD, FINGERPRINT, encode_names
from esr.engines.entities import ENTITY_TYPES

_PAGE = 1000


def group_stored_names(cluster: Cluster, loads: Iterable[Load]) -> int:
    """Store the keys of names where they are missing. Returns how many sentences were updated."""
    refresh(cluster, cluster.alias)
    fields = [{"exists": {"field": f"entities.{type}"}} for type in ENTITY_TYPES]
    has_keys = {"term": {"enriched": FINGERPRINT}}
    query: dict[str, Any] = {"bool": {"should": fields, "minimum_should_match": 1, "must_not": [has_keys]}}
    updated = count(cluster, cluster.alias, query)
    if not updated:
        return 0
    component = resources.load_json("components/esr-sentences.json")
    added = {FIELD: component["template"]["mappings"]["properties"][FIELD]}  # older indices lack it
    with cluster.translate_errors():
        for load in loads:
            cluster.client.indices.put_mapping(index=load.index, properties=added)
    body: dict[str, Any] = {"query": query, "sort": [{"ordinal": "asc"}], "source": ["entities"]}
    for page in search_pages(cluster, _PAGE, index=cluster.alias, **body):
        send_updates(
            cluster,
            (
                replace_parts(hit["_index"], hit["_id"], [FINGERPRINT], {FIELD: encode_names(entities)})
                for hit in page["hits"]["hits"]
                if (entities := hit["_source"].get("entities"))
            ),
        )
    return updated


def with_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The enriched fields of a sentence, of any version of esr, with the keys of its names."""
    if not fields.get("entities"):
        return dict(fields)
    fingerprints = [mark for mark in fields.get("enriched", ()) if not mark.startswith(f"{FIELD}:")]
    return {**fields, FIELD: encode_names(fields["entities"]), "enriched": [*fingerprints, FINGERPRINT]}


def store_aliases(cluster: Cluster, aliases: Aliases) -> None:
    """Store a table of aliases with all loads behind the alias, in place of the one that they have."""
    for load in meta.searchable_loads(cluster):
        meta.write(cluster, replace(load, aliases=aliases.as_dict()))
