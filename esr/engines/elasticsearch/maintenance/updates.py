"""Updates of stored entries in bulk, by the script that replaces what enrichment has stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.bulk import Action, send_bulk
from esr.errors import EsrError

ENRICH_SCRIPT = "esr-enrich-v1"


def replace_parts(index: str, id: str, parts: Sequence[str], fields: Mapping[str, Any]) -> Action:
    """The action that replaces these parts of an entry by these fields.

    A part is `name:fingerprint` of what made it, and says so in the entry's `enriched`.
    """
    names = [part.partition(":")[0] for part in parts]
    params = {"parts": names, "found": dict(fields), "marks": list(parts)}
    script = {"id": ENRICH_SCRIPT, "params": params}
    return {"_op_type": "update", "_index": index, "_id": id, "script": script, "retry_on_conflict": 3}


def send_updates(cluster: Cluster, actions: Iterable[Action]) -> None:
    """Send actions in bulk. Raises EsrError for what Elasticsearch rejects."""
    for item in send_bulk(cluster, actions):
        raise EsrError(f"Elasticsearch rejected the enrichment of {item.id}: {item.reason}")
