"""Verification of the indices of a load, and comparison of incoming documents with stored ones.

Contents are compared by counts and by a sum of hashes, which keeps no document in memory. Incoming documents
that the indices already contain are skipped. Content of a sample of new documents is looked up under other
ids.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

from esr.elastic.cluster import Cluster
from esr.elastic.documents import WITHOUT_CONTEXT, decode_document
from esr.elastic.location import documents_index
from esr.elastic.requests import count, hits_of, msearch, read_entries, refresh, search, search_pages
from esr.elastic.write.actions import DocumentActions
from esr.errors import EsrError
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import describe_known_content, has_same_content, sample_documents
from esr.index.writer import Description, LoadReport, SetAside, content_conflict, sentence_id_conflict
from esr.stdlib import batched
from esr.text.analyzer import get_analyzer
from esr.text.document import Document, Located
from esr.text.validate import checksum

PAUSES = (0.5, 2.0, 8.0)
"""Seconds before each repeated check of a difference."""
_PAGE = 10_000
_BITS = 128


@dataclass(slots=True)
class IndexContents:
    """Counts of documents and sentences, and a sum over documents of a hash of id and checksum.

    The sum does not depend on the order of documents, and takes no memory.
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


LOAD_SETTINGS: Mapping[str, str] = {"refresh_interval": "-1", "merge.scheduler.auto_throttle": "false"}
"""The settings of indices while a load fills them: no refreshes, and merges at full disk speed.

By default, merges start at 20 MB per second, and speed up only when they lag behind.
"""


def end_load_settings(cluster: Cluster, *indices: str, names: Iterable[str] = LOAD_SETTINGS) -> None:
    """Reset these settings of indices of sentences and their indices of documents to their defaults."""
    with cluster.translate_errors():
        for index in indices:
            cluster.client.indices.put_settings(
                index=[index, documents_index(index)], settings=dict.fromkeys(names)
            )


def verify(cluster: Cluster, indices: Sequence[str], expected: IndexContents) -> None:
    """Compare the contents of indices of sentences and their indices of documents with what is expected.

    A node that recovers from a hang answers from its old state until it learns that the cluster removed it.
    So a difference is checked again, on another node. Raises EsrError if it persists.
    """
    for pause in (*PAUSES, None):
        difference = _find_difference(read_contents(cluster, *indices), indices, expected)
        if difference is None:
            return
        if pause is None:
            raise EsrError(difference)
        time.sleep(pause)
        cluster.switch_node()


def _find_difference(contents: IndexContents, indices: Sequence[str], expected: IndexContents) -> str | None:
    documents = _name_all([documents_index(index) for index in indices])
    for kind, name in (("sentences", _name_all(indices)), ("documents", documents)):
        actual_count, expected_count = getattr(contents, kind), getattr(expected, kind)
        if actual_count != expected_count:
            return (
                f"{name} has {actual_count} entries instead of {expected_count}, nothing was switched: "
                "load again"
            )
    if contents.sum != expected.sum:
        return (
            f"checksums of documents in {documents} differ from those that were sent, "
            "nothing was switched: make sure that nothing else writes there, and load again"
        )
    return None


def _name_all(indices: Sequence[str]) -> str:
    """The indices of a load in a message."""
    return indices[0] if len(indices) == 1 else f"{indices[0]} to {indices[-1]}"


def read_contents(cluster: Cluster, *indices: str) -> IndexContents:
    """The contents of indices of sentences and their indices of documents."""
    contents = IndexContents()
    for index in indices:
        refresh(cluster, [index, documents_index(index)])
        contents.sentences += count(cluster, index)
        for document_id, digest in _checksums(cluster, documents_index(index)):
            contents.add(document_id, digest)
    return contents


def _checksums(cluster: Cluster, index: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the checksum of each document, in order, read from doc values alone."""
    body: dict[str, Any] = {
        "query": {"match_all": {}},
        "sort": [{"ordinal": "asc"}],
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}, {"field": "checksum"}],
    }
    for answer in search_pages(cluster, _PAGE, index=index, **body):
        for fields in (hit["fields"] for hit in hits_of(answer)):
            yield fields["document_id"][0], fields.get("checksum", [""])[0]


def _hash(document_id: str, checksum: str) -> int:
    code = blake2b(f"{document_id}\0{checksum}".encode(), digest_size=_BITS // 8).digest()
    return int.from_bytes(code, "big")


@dataclass(slots=True)
class InputDigest:
    """Contents and digest of the incoming documents.

    A load can be resumed only with an equal digest: with the same documents in the same order.
    """

    contents: IndexContents = field(default_factory=IndexContents)
    digest: Any = field(default_factory=lambda: blake2b(digest_size=16))

    def count(self, documents: Iterable[Located]) -> Iterator[Located]:
        """Yield the documents, and count them."""
        for located in documents:
            code = checksum(located.document)
            self.digest.update(code.encode())
            self.contents.add(located.document.id, code, len(located.document.sentences))
            yield located

    def discount(self, set_aside: SetAside | None) -> SetAside | None:
        """A `set_aside` that also removes the document from the contents."""
        if set_aside is None:
            return None

        def set_aside_and_discount(document: Document, problem: str) -> None:
            self.contents.remove(document.id, checksum(document), len(document.sentences))
            set_aside(document, problem)

        return set_aside_and_discount

    def as_dict(self) -> dict[str, Any]:
        return {**self.contents.as_dict(), "digest": self.digest.hexdigest()}


def entry_version(entry: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The checksum and fingerprints of a document's entry, which change with its content or enrichment."""
    return entry["checksum"], sorted(entry.get("enriched", ()))


_BATCH = 1000


def skip_unchanged(
    cluster: Cluster, documents: Iterable[Located], report: LoadReport, set_aside: SetAside | None
) -> Iterator[Located]:
    """Yield the documents that the alias does not have. Counts the others in the report.

    A document with the id of a stored sentence is set aside if `set_aside` is given, and raises InputError
    otherwise. A document whose id the alias has with other content raises InputError.
    """
    for batch in batched(documents, _BATCH):
        ids = [located.document.id for located in batch]
        stored = read_entries(cluster, cluster.documents_alias, ids, WITHOUT_CONTEXT)
        sources = {hit["_id"]: hit["_source"] for hit in stored}
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
    """Yield the ids among these that sentences behind the alias have, with the ids of their documents."""
    for batch in batched(sentence_ids, _BATCH):
        answer = search(
            cluster,
            index=cluster.alias,
            query={"terms": {"sentence_id": batch}},
            size=len(batch),
            stored_fields="_none_",
            docvalue_fields=[{"field": "sentence_id"}, {"field": "document_id"}],
        )
        for fields in (hit["fields"] for hit in hits_of(answer)):
            yield fields["sentence_id"][0], fields["document_id"][0]


def skip_indexed(
    cluster: Cluster, indices: Iterable[str], documents: Iterable[DocumentActions], expected: IndexContents
) -> Iterator[DocumentActions]:
    """Yield the documents that an interrupted load has not indexed. Adds the others to `expected`.

    `indices` are the load's indices of sentences. A document's entry exists only when all of its sentences
    do.
    """
    for index in indices:
        refresh(cluster, documents_index(index))
    for batch in batched(documents, _BATCH):
        ids: dict[str, list[str]] = {}
        for actions in batch:
            ids.setdefault(actions.entry["_index"], []).append(actions.document.id)
        versions = {
            hit["_id"]: entry_version(hit["_source"])
            for index, of_index in ids.items()
            for hit in read_entries(cluster, index, of_index, ["checksum", "enriched"])
        }
        for actions in batch:
            if versions.get(actions.document.id) == entry_version(actions.entry):
                expected.add(actions.document.id, actions.entry["checksum"], len(actions.sentences))
            else:
                yield actions


_SAMPLE_BATCH = 25
_CANDIDATES = 4
"""Maximum number of documents that are compared with each looked-up document, the first ones."""
_TERMS = 8
"""Number of terms that identify documents with the same content: the longest ones, which tend to be rare."""


def known_content_notes(cluster: Cluster, description: Description, new: Sequence[Segment]) -> list[str]:
    """The note about documents in these segments whose content is served under another id."""
    known: list[tuple[int, str, str]] = []
    for batch in batched(sample_documents(new), _SAMPLE_BATCH):
        # A search for each, as the copies of one document could be all hits of a common search.
        lines: list[dict[str, Any]] = []
        for document in batch:
            body = {"query": _similar(document, description), "size": _CANDIDATES, "_source": WITHOUT_CONTEXT}
            lines += [{"index": cluster.documents_alias}, {**body, "sort": [{"ordinal": "asc"}]}]
        for document, answer in zip(batch, msearch(cluster, lines), strict=True):
            for hit in hits_of(answer):
                if has_same_content(document, decode_document(hit["_source"])):
                    known.append((hit["sort"][0], document.id, hit["_id"]))
                    break
    return describe_known_content(new, {id: stored for _, id, stored in sorted(known)})


def _similar(document: Document, description: Description) -> dict[str, Any]:
    """A query for documents with other ids, but the same number of sentences and these terms."""
    analyze = get_analyzer(description.analyzer).for_language(document.language).terms
    terms = {term for sentence in document.sentences for term in analyze(sentence.text)}
    longest = sorted(terms, key=lambda term: (-len(term), term))[:_TERMS]
    # The size is not indexed: it is compared only in documents with all the terms.
    filters: list[dict[str, Any]] = [{"term": {"context": term}} for term in longest]
    filters.append({"term": {"size": len(document.sentences)}})
    return {"bool": {"filter": filters, "must_not": {"ids": {"values": [document.id]}}}}
