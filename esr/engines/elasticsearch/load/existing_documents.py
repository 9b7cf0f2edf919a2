"""Skips documents that the indices contain already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from esr.batches import batched
from esr.documents import Located
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import refresh, search
from esr.engines.elasticsearch.load.bulk_actions import DocumentActions
from esr.engines.elasticsearch.load.input_digest import entry_version
from esr.engines.elasticsearch.load.verification import IndexContents
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.elasticsearch.store.source_decoder import WITHOUT_CONTEXT, decode_document
from esr.engines.writer import LoadReport, content_conflict

_BATCH = 1000


def skip_unchanged(cluster: Cluster, documents: Iterable[Located], report: LoadReport) -> Iterator[Located]:
    """The documents that are not behind the alias. Counts the others in the report.

    Raises InputError for a document whose id belongs to a document of other content.
    """
    for batch in batched(documents, _BATCH):
        ids = [located.document.id for located in batch]
        answer = search(
            cluster,
            index=cluster.documents_alias,
            query={"ids": {"values": ids}},
            size=len(ids),
            source=WITHOUT_CONTEXT,
        )
        sources = {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]}
        for located in batch:
            if located.document.id not in sources:
                yield located
            elif decode_document(sources[located.document.id]) == located.document:
                report.unchanged += 1
            else:
                raise content_conflict(located.where, located.document.id)


def skip_indexed(
    cluster: Cluster, load: Load, documents: Iterable[DocumentActions], expected: IndexContents
) -> Iterator[DocumentActions]:
    """The documents that an interrupted load has not indexed. Adds the others to `expected`.

    The entry of a document is there only when all of its sentences are.
    """
    refresh(cluster, load.documents_index)
    for batch in batched(documents, _BATCH):
        ids = [actions.document.id for actions in batch]
        answer = search(
            cluster,
            index=load.documents_index,
            query={"ids": {"values": ids}},
            size=len(ids),
            source={"includes": ["checksum", "enriched"]},
        )
        versions = {hit["_id"]: entry_version(hit["_source"]) for hit in answer["hits"]["hits"]}
        for actions in batch:
            if versions.get(actions.document.id) == entry_version(actions.entry):
                expected.add(actions.document.id, actions.entry["checksum"], len(actions.sentences))
            else:
                yield actions
