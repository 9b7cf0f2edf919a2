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
from esr.engines.options import SetAside
from esr.engines.writer import LoadReport, content_conflict, sentence_id_conflict

_BATCH = 1000


def skip_unchanged(
    cluster: Cluster, documents: Iterable[Located], report: LoadReport, set_aside: SetAside | None
) -> Iterator[Located]:
    """The documents that are not behind the alias. Counts the others in the report.

    A document with the id of a sentence that is there is set aside, if it can be. Otherwise it raises
    InputError, as does one whose id belongs to a document of other content.
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
        new = (located.document for located in batch if located.document.id not in sources)
        used_ids = dict(find_sentence_owners(cluster, (s.id for document in new for s in document.sentences)))
        for located in batch:
            where, document = located
            if document.id in sources:
                if decode_document(sources[document.id]) != document:
                    raise content_conflict(where, document.id)
                report.unchanged += 1
                continue
            used = next((sentence.id for sentence in document.sentences if sentence.id in used_ids), None)
            if used is None:
                yield located
            elif set_aside is None:
                raise sentence_id_conflict(where, used)
            else:
                report.set_aside += 1
                set_aside(document, str(sentence_id_conflict(where, used)))


def find_sentence_owners(cluster: Cluster, sentence_ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those of the ids that sentences behind the alias have, each with the id of the sentence's document."""
    for batch in batched(sentence_ids, _BATCH):
        answer = search(
            cluster,
            index=cluster.alias,
            query={"terms": {"sentence_id": batch}},
            size=len(batch),
            stored_fields="_none_",
            docvalue_fields=[{"field": "sentence_id"}, {"field": "document_id"}],
        )
        for fields in (hit["fields"] for hit in answer["hits"]["hits"]):
            yield fields["sentence_id"][0], fields["document_id"][0]


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
