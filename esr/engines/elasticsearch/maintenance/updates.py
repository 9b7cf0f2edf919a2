"""Updates of stored entries in bulk, by the script that replaces what enrichment has stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from elasticsearch import helpers

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.bulk import Action, rejection_reason
from esr.errors import EsrError

ENRICH_SCRIPT = "esr-enrich-v1"
_CHUNK_ITEMS = 1000
_CHUNK_BYTES = 8_000_000
_MAX_RETRIES = 8


def replace_parts(index: str, id: str, parts: Sequence[str], fields: Mapping[str, Any]) -> Action:
    """The action that replaces these parts of an entry by these fields.

    A part is `name:fingerprint` of what made it, and says so in the entry's `enriched`.
    """
    names = [part.partition(":")[0] for part in parts]
    params = {"parts": names, "found": dict(fields), "marks": list(parts)}
    script = {"id": ENRICH_SCRIPT, "params": params}
    return {"_op_type": "update", "_index": index, "_id": id, "script": script, "retry_on_conflict": 3}


def send_updates(cluster: Cluster, actions: Iterable[Action]) -> None:
    """Send actions in bulk. Raises EsrError for the first that Elasticsearch rejects."""
    with cluster.translate_errors():
        results = helpers.streaming_bulk(
            cluster.client,
            actions,
            chunk_size=_CHUNK_ITEMS,
            max_chunk_bytes=_CHUNK_BYTES,
            max_retries=_MAX_RETRIES,
            initial_backoff=0.5,
            max_backoff=30,
            retry_on_status=(429, 503),
            raise_on_error=False,
        )
        for is_done, result in results:
            if not is_done:
                (outcome,) = result.values()
                id, reason = outcome.get("_id"), rejection_reason(outcome)
                raise EsrError(f"Elasticsearch rejected the enrichment of {id}: {reason}")
