"""Sends documents by several workers. A document's entry goes after all its sentences are acknowledged.

So an entry in the index of documents says that the document is there whole: what a load that was cut off has
done can be read from the index itself, and is never ahead of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from esr.documents import Document
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.bulk import Action, Refusal, send

_SENTENCES = 1000
_BYTES = 4_000_000
_AHEAD = 2
"""Chunks that wait for each worker."""


@dataclass(slots=True)
class Outgoing:
    """A document and its entries: its own, and its sentences'."""

    document: Document
    entry: Action
    sentences: list[Action]


@dataclass(slots=True)
class Sent:
    """What became of a chunk: documents that are in the index whole, and those that are not there at all."""

    done: list[Outgoing] = field(default_factory=list)
    refused: list[tuple[Outgoing, str]] = field(default_factory=list)


def sent(cluster: Cluster, outgoing: Iterable[Outgoing], workers: int) -> Iterator[Sent]:
    """Send documents and tell of each chunk, in order. Chunks in memory and in flight are bounded."""
    waiting: deque[Future[Sent]] = deque()
    with ThreadPoolExecutor(workers, "esr-send") as pool:
        try:
            for chunk in _chunks(outgoing):
                waiting.append(pool.submit(_send, cluster, chunk))
                while len(waiting) >= _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _chunks(outgoing: Iterable[Outgoing]) -> Iterator[list[Outgoing]]:
    chunk: list[Outgoing] = []
    sentences = size = 0
    for each in outgoing:
        chunk.append(each)
        sentences += len(each.sentences)
        size += (len(each.sentences) + 1) * len(each.entry["context"])
        if sentences >= _SENTENCES or size >= _BYTES:
            yield chunk
            chunk, sentences, size = [], 0, 0
    if chunk:
        yield chunk


def _send(cluster: Cluster, chunk: list[Outgoing]) -> Sent:
    """A chunk's sentences, then the documents that have all of theirs. None is there in part."""
    owner = {action["_id"]: each.document.id for each in chunk for action in each.sentences}
    bad: dict[str, Refusal] = {}
    for refusal in send(cluster, (action for each in chunk for action in each.sentences)):
        bad.setdefault(owner[refusal.id], refusal)
    whole = [each for each in chunk if each.document.id not in bad]
    for refusal in send(cluster, (each.entry for each in whole)):
        bad.setdefault(refusal.id, refusal)
    found = Sent()
    for each in chunk:
        refused = bad.get(each.document.id)
        if refused is None:
            found.done.append(each)
        else:
            found.refused.append((each, f"Elasticsearch refused {refused.id}: {refused.reason}"))
    send(cluster, (deletion(a["_index"], a["_id"]) for each, _ in found.refused for a in each.sentences))
    return found


def deletion(index: str, id: str) -> Action:
    return {"_op_type": "delete", "_index": index, "_id": id}
