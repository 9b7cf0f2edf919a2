"""The table of vectors of an alias (`esr.encoders.table`), stored in a hidden index of its own.

Its stored form is too large for one entry, so it is cut into pieces. The entry CURRENT names the table in
use. It is written after the table's pieces, and before those of the former table are deleted. So a killed
writer leaves the former table or the new one.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from elasticsearch import AuthorizationException, NotFoundError

from esr.elastic.cluster import Cluster
from esr.elastic.location import tables_index
from esr.elastic.login import is_from_elasticsearch
from esr.errors import IndexUnusable
from esr.index.generations import Damaged

CURRENT = "current"
_PIECE = 3 << 20
"""Size in bytes of a piece."""
_BODY: Mapping[str, Any] = {
    "settings": {"index.hidden": True, "number_of_shards": 1, "auto_expand_replicas": "0-1"},
    "mappings": {"dynamic": False, "properties": {"digest": {"type": "keyword"}}},
}


def store_table(cluster: Cluster, table: bytes) -> None:
    """Store a table in place of the former one."""
    index, client = tables_index(cluster.aliases[0]), cluster.client
    digest = hashlib.sha256(table).hexdigest()
    pieces = [table[start : start + _PIECE] for start in range(0, len(table), _PIECE)]
    with cluster.translate_errors():
        if not client.indices.exists(index=index):
            client.options(ignore_status=400).indices.create(index=index, **_BODY)  # another may be faster
        for number, piece in enumerate(pieces):
            entry = {"digest": digest, "data": b64encode(piece).decode()}
            client.index(index=index, id=f"{digest}-{number}", document=entry)
        client.index(
            index=index, id=CURRENT, document={"current": digest, "pieces": len(pieces)}, refresh=True
        )
        others = {
            "bool": {"filter": [{"exists": {"field": "digest"}}], "must_not": [{"term": {"digest": digest}}]}
        }
        client.delete_by_query(index=index, query=others, conflicts="proceed")


def has_table(where: str) -> bool:
    """Whether the alias at this location has a table that this login may see.

    Keys that an older esr made may not.
    """
    with closing(Cluster(where)) as cluster, cluster.translate_errors():
        try:
            return bool(cluster.client.indices.exists(index=tables_index(cluster.aliases[0])))
        except AuthorizationException:
            return False


def find_damage(where: str) -> Damaged | None:
    """The damaged table of the alias at this location; None if it is intact, or this login sees none."""
    if not has_table(where):
        return None
    with closing(Cluster(where)) as cluster:
        try:
            read_table(cluster)
        except IndexUnusable as error:
            return Damaged(tables_index(cluster.aliases[0]), str(error))
    return None


def read_table(cluster: Cluster) -> bytes | None:
    """The stored form of the table, None without one. Raises IndexUnusable if it is damaged."""
    for _ in range(2):  # it may be replaced meanwhile
        with cluster.translate_errors():
            try:
                return _read(cluster)
            except NotFoundError as error:
                if not is_from_elasticsearch(error):
                    raise
                return None
            except ValueError:
                pass
    raise IndexUnusable(
        f"the table of vectors in {tables_index(cluster.aliases[0])} is damaged: "
        "fit it anew with esr enrich --only table"
    )


def _read(cluster: Cluster) -> bytes:
    index, client = tables_index(cluster.aliases[0]), cluster.client
    current = client.get(index=index, id=CURRENT)["_source"]
    ids = [f"{current['current']}-{number}" for number in range(current["pieces"])]
    pieces = [client.options(ignore_status=404).get(index=index, id=id) for id in ids]
    table = b"".join(b64decode(piece["_source"]["data"]) for piece in pieces if piece.get("found"))
    if hashlib.sha256(table).hexdigest() != current["current"]:
        raise ValueError("pieces are missing or damaged")
    return table


def delete_table(cluster: Cluster) -> None:
    """Delete the index with the table, if it exists."""
    with cluster.translate_errors():
        cluster.client.indices.delete(index=tables_index(cluster.aliases[0]), ignore_unavailable=True)
