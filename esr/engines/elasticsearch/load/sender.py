"""Sends documents with several workers. A document's entry follows once all its sentences are acknowledged.

So an entry in the index of documents means that all of the document is there: how far an interrupted load has
come can be read from the index itself, and is never ahead of it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.bulk import Action, RejectedItem, end_retries_when, send_bulk
from esr.engines.elasticsearch.load.bulk_actions import DocumentActions

CHUNK_SENTENCES = 1000
_CHUNK_BYTES = 4_000_000
_CHUNKS_AHEAD = 2
"""Chunks that wait for each worker."""


@dataclass(slots=True)
class SentChunk:
    """The result of a chunk: documents that are completely in the index, and those that are not at all."""

    indexed: list[DocumentActions] = field(default_factory=list)
    rejected: list[tuple[DocumentActions, str]] = field(default_factory=list)


def send_documents(
    cluster: Cluster, documents: Iterable[DocumentActions], workers: int
) -> Iterator[SentChunk]:
    """Send documents in chunks, and yield the results in order. Chunks in memory or in flight are bounded.

    If the caller stops, what is in flight is waited for, and not sent again.
    """
    pending: deque[Future[SentChunk]] = deque()
    stopped = threading.Event()
    with ThreadPoolExecutor(workers, "esr-send", end_retries_when, (stopped,)) as pool:
        try:
            for chunk in _chunks(documents):
                pending.append(pool.submit(send_chunk, cluster, chunk))
                while len(pending) >= _CHUNKS_AHEAD * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            stopped.set()
            for future in pending:
                future.cancel()


def _chunks(documents: Iterable[DocumentActions]) -> Iterator[list[DocumentActions]]:
    chunk: list[DocumentActions] = []
    sentences = size = 0
    for actions in documents:
        chunk.append(actions)
        sentences += len(actions.sentences)
        size += (len(actions.sentences) + 1) * len(actions.entry["context"])
        if sentences >= CHUNK_SENTENCES or size >= _CHUNK_BYTES:
            yield chunk
            chunk, sentences, size = [], 0, 0
    if chunk:
        yield chunk


def send_chunk(cluster: Cluster, chunk: list[DocumentActions]) -> SentChunk:
    """Send the sentences of a chunk, then the documents all of whose sentences were accepted.

    What was sent of a rejected document is deleted again.
    """
    document_of = {action["_id"]: actions.document.id for actions in chunk for action in actions.sentences}
    rejections: dict[str, RejectedItem] = {}
    for item in send_bulk(cluster, (action for actions in chunk for action in actions.sentences)):
        rejections.setdefault(document_of[item.id], item)
    accepted = [actions.entry for actions in chunk if actions.document.id not in rejections]
    for item in send_bulk(cluster, accepted):
        rejections.setdefault(item.id, item)
    result = SentChunk()
    for actions in chunk:
        rejection = rejections.get(actions.document.id)
        if rejection is None:
            result.indexed.append(actions)
        else:
            reason = f"Elasticsearch rejected {rejection.id}: {rejection.reason}"
            result.rejected.append((actions, reason))
    incomplete = (action for actions, _ in result.rejected for action in actions.sentences)
    send_bulk(cluster, (deletion(action["_index"], action["_id"]) for action in incomplete))
    return result


def deletion(index: str, id: str) -> Action:
    return {"_op_type": "delete", "_index": index, "_id": id}
