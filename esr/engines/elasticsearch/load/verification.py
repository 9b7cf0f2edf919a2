"""Verifies that indices contain what a load must have in the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.index_names import documents_index
from esr.engines.elasticsearch.cluster.requests import count, refresh, search_pages
from esr.errors import EsrError

PAUSES = (0.5, 2.0, 8.0)
"""Seconds before a difference is checked again."""
_PAGE = 10_000
_BITS = 128


@dataclass(slots=True)
class IndexContents:
    """Counts of documents and sentences, and a sum over documents of a hash of id and checksum.

    The sum does not depend on the order of documents, and needs no memory.
    """

    documents: int = 0
    sentences: int = 0
    sum: int = 0

    def add(self, document_id: str, checksum: str, sentences: int = 0) -> None:
        self.documents += 1
        self.sentences += sentences
        self.sum = (self.sum + _hash(document_id, checksum)) % (1 << _BITS)

    def remove(self, document_id: str, checksum: str, sentences: int) -> None:
        self.documents -= 1
        self.sentences -= sentences
        self.sum = (self.sum - _hash(document_id, checksum)) % (1 << _BITS)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "sum": f"{self.sum:032x}"}


def enable_refresh(cluster: Cluster, index: str) -> None:
    """Let an index of sentences, and the index of documents beside it, refresh periodically from now on."""
    with cluster.translate_errors():
        cluster.client.indices.put_settings(
            index=[index, documents_index(index)], settings={"refresh_interval": None}
        )


def verify(cluster: Cluster, index: str, expected: IndexContents) -> None:
    """Compare an index of sentences, and the index of documents beside it, with what they must contain.

    A node that hung and comes back answers from its old state until it learns that the cluster removed it. So
    a difference is checked again, on another node. Raises EsrError for one that remains.
    """
    for pause in (*PAUSES, None):
        difference = _find_difference(read_contents(cluster, index), index, expected)
        if difference is None:
            return
        if pause is None:
            raise EsrError(difference)
        time.sleep(pause)
        cluster.switch_node()


def _find_difference(contents: IndexContents, index: str, expected: IndexContents) -> str | None:
    for kind, name in (("sentences", index), ("documents", documents_index(index))):
        actual_count, expected_count = getattr(contents, kind), getattr(expected, kind)
        if actual_count != expected_count:
            return (
                f"{name} has {actual_count} entries instead of {expected_count}, nothing was switched: "
                "load again"
            )
    if contents.sum != expected.sum:
        return (
            f"checksums of documents in {documents_index(index)} differ from those that were sent, "
            "nothing was switched: make sure that nothing else writes there, and load again"
        )
    return None


def read_contents(cluster: Cluster, index: str) -> IndexContents:
    """What an index of sentences, and the index of documents beside it, contain."""
    refresh(cluster, [index, documents_index(index)])
    contents = IndexContents(sentences=count(cluster, index))
    for document_id, checksum in _checksums(cluster, documents_index(index)):
        contents.add(document_id, checksum)
    return contents


def _checksums(cluster: Cluster, index: str) -> Iterator[tuple[str, str]]:
    """The id and the checksum of every document, in order, read from doc values alone."""
    body: dict[str, Any] = {
        "query": {"match_all": {}},
        "sort": [{"ordinal": "asc"}],
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}, {"field": "checksum"}],
    }
    for answer in search_pages(cluster, _PAGE, index=index, **body):
        for fields in (hit["fields"] for hit in answer["hits"]["hits"]):
            yield fields["document_id"][0], fields.get("checksum", [""])[0]


def _hash(document_id: str, checksum: str) -> int:
    code = blake2b(f"{document_id}\0{checksum}".encode(), digest_size=_BITS // 8).digest()
    return int.from_bytes(code, "big")
