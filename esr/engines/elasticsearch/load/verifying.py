"""What a load must have in the end, and whether it has."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from esr.engines.elasticsearch.cluster.asking import count, pages, refresh
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store.meta import documents_index
from esr.errors import EsrError

PAUSES = (0.5, 2.0, 8.0)
"""Seconds until a difference is looked at again."""
_PAGE = 10_000
_BITS = 128


@dataclass(slots=True)
class Contents:
    """Counts, and the sum of what stands for each document: its id and its checksum.

    The sum is the same in whatever order documents are counted, and takes no room.
    """

    documents: int = 0
    sentences: int = 0
    sum: int = 0

    def add(self, document_id: str, checksum: str, sentences: int = 0) -> None:
        self.documents += 1
        self.sentences += sentences
        self.sum = (self.sum + _code(document_id, checksum)) % (1 << _BITS)

    def take_away(self, document_id: str, checksum: str, sentences: int) -> None:
        self.documents -= 1
        self.sentences -= sentences
        self.sum = (self.sum - _code(document_id, checksum)) % (1 << _BITS)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "sum": f"{self.sum:032x}"}


def settle(cluster: Cluster, index: str) -> None:
    """Let an index of sentences, and that of documents beside it, refresh by themselves from now on."""
    with cluster.errors():
        cluster.client.indices.put_settings(
            index=[index, documents_index(index)], settings={"refresh_interval": None}
        )


def verify(cluster: Cluster, index: str, expected: Contents) -> None:
    """Compare an index of sentences, and that of documents beside it, with what they must hold.

    A node that hung and comes back answers from what it had, until it notices that it was put out of the
    cluster: so a difference is looked at again, by another node. Raises EsrError where anything stays
    missing, doubled or another.
    """
    for pause in (*PAUSES, None):
        problem = _difference(contents(cluster, index), index, expected)
        if problem is None:
            return
        if pause is None:
            raise EsrError(problem)
        time.sleep(pause)
        cluster.turn()


def _difference(found: Contents, index: str, expected: Contents) -> str | None:
    for kind, name in (("sentences", index), ("documents", documents_index(index))):
        arrived, wanted = getattr(found, kind), getattr(expected, kind)
        if arrived != wanted:
            return f"{name} has {arrived} entries of {wanted}, nothing was switched: load again"
    if found.sum != expected.sum:
        return (
            f"documents in {documents_index(index)} have other checksums than those that were sent, "
            "nothing was switched: see that nobody else writes there, and load again"
        )
    return None


def contents(cluster: Cluster, index: str) -> Contents:
    """What an index of sentences holds, and that of documents beside it."""
    refresh(cluster, [index, documents_index(index)])
    found = Contents(sentences=count(cluster, index))
    for document_id, checksum in checksums(cluster, documents_index(index)):
        found.add(document_id, checksum)
    return found


def _code(document_id: str, checksum: str) -> int:
    code = blake2b(f"{document_id}\0{checksum}".encode(), digest_size=_BITS // 8).digest()
    return int.from_bytes(code, "big")


def checksums(cluster: Cluster, index: str) -> Iterator[tuple[str, str]]:
    """The id and the checksum of every document, in order, read from columns alone."""
    body: dict[str, Any] = {
        "query": {"match_all": {}},
        "sort": [{"order": "asc"}],
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}, {"field": "checksum"}],
    }
    for answer in pages(cluster, _PAGE, index=index, **body):
        for fields in (hit["fields"] for hit in answer["hits"]["hits"]):
            yield fields["document_id"][0], fields.get("checksum", [""])[0]
