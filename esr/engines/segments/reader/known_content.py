"""Finds new documents whose content an index has under another id, as when ids are made in another way.

Only a sample of the new documents is looked up, so the cost is bounded whatever the size of the delivery.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from esr.documents import Document
from esr.engines.segments.store.segment import Segment

SAMPLE = 500
"""How many new documents are looked up at most, evenly spaced."""
_CANDIDATES = 16
"""How many documents are compared for each signature. Only short documents share one by chance."""
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xAEF17502108EF2D9)
_MAX_EXAMPLES = 3


def sample_documents(segments: Sequence[Segment]) -> list[Document]:
    """A sample of the documents of these segments, without those that have no sentence."""
    total = sum(segment.document_count for segment in segments)
    sampled = []
    base = 0
    for segment in segments:
        numbers = np.unique(np.linspace(0, max(total - 1, 0), min(SAMPLE, total)).astype(np.int64)) - base
        numbers = numbers[(numbers >= 0) & (numbers < segment.document_count)]
        sampled += [segment.document(number) for number in numbers.tolist()]
        base += segment.document_count
    return [document for document in sampled if document.sentences]


def has_same_content(one: Document, other: Document) -> bool:
    """Whether two documents have the same title and the same texts."""
    return one.title == other.title and [s.text for s in one.sentences] == [s.text for s in other.sentences]


def describe_known_content(segments: Sequence[Segment], known: Mapping[str, str]) -> list[str]:
    """The line of a report about new documents of these segments, with the ids that have their content."""
    if not known:
        return []
    total = sum(segment.document_count for segment in segments)
    compared = f"{min(total, SAMPLE):,} compared of {total:,}" if total > SAMPLE else f"{total:,}"
    examples = ", ".join(f"{id} (as {other})" for id, other in list(known.items())[:_MAX_EXAMPLES])
    more = ", …" if len(known) > _MAX_EXAMPLES else ""
    return [
        f"warning: the index has the content of {len(known):,} documents ({compared}) under another id: "
        f"{examples}{more}"
    ]


def find_known_content(new: Sequence[Segment], old: Sequence[Segment]) -> dict[str, str]:
    """By the id of a new document, that of another one in the old segments with its content."""
    wanted: dict[int, list[Document]] = {}
    sampled = {document.id: document for document in sample_documents(new)}
    for segment in new:
        numbers = {id: segment.document_ids.find(id) for id in sampled}
        signatures = _sign_documents(segment)
        for id, number in numbers.items():
            if number is not None:
                wanted.setdefault(int(signatures[number]), []).append(sampled[id])
    known: dict[str, str] = {}
    if not wanted:
        return known
    compared: Counter[int] = Counter()
    for segment in old:
        signatures = _sign_documents(segment)
        for number in np.flatnonzero(np.isin(signatures, np.array(list(wanted), np.uint64))).tolist():
            signature = int(signatures[number])
            compared[signature] += 1
            if compared[signature] > _CANDIDATES:
                continue
            stored = segment.document(number)
            for document in wanted[signature]:
                if document.id != stored.id and has_same_content(document, stored):
                    known.setdefault(document.id, stored.id)
    return known


def _sign_documents(segment: Segment) -> npt.NDArray[np.uint64]:
    """A signature of each document, of its length and the lengths of its sentences, of shape (D,)."""
    first = segment.column("first").astype(np.int64)
    positions = np.arange(segment.sentence_count) - np.repeat(first[:-1], np.diff(first))
    by_position, by_document, offset = (np.uint64(number) for number in _MULTIPLIERS)
    mixed = (segment.column("length").astype(np.uint64) + np.uint64(1)) * (
        positions.astype(np.uint64) * by_position + offset
    )
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    signatures: npt.NDArray[np.uint64] = sums[first[1:]] - sums[first[:-1]]
    return signatures + segment.column("document_length").astype(np.uint64) * by_document
