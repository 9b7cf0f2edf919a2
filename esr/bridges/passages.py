"""Passages for frameworks that compose prompts: sentences with their neighbours and their sources."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import esr
from esr.plugin.provisional import UnsearchableQuery, cite, web_url


class Passage(NamedTuple):
    """A sentence's id and score, its text with the sentences around it, and its metadata.

    The metadata have the sentence itself as `sentence`, and `id`, `document_id`, `title`, `date`, `source`,
    `url` (of the web) and `citation`; unknown ones are left out. If the passage joins several of the best
    sentences, these are those of the best one, and `other_ids` has the ids of the others.
    """

    id: str
    score: float
    text: str
    metadata: dict[str, Any]


def find_passages(
    index: esr.Index, query: str, k: int, window: int, options: Mapping[str, Any]
) -> list[Passage]:
    """The best k sentences for a question, with `window` sentences on each side; repeats are left out.

    Passages of a document that share a sentence are one, so that there may be fewer than k and no sentence is
    in two. `options` are those of `Index.search`; the question is read as words unless `literal` is False. A
    question without words to search for has no passages. Raises EsrError if the answer is incomplete.
    """
    try:
        hits = index.search(query, k, fold=True, **{"literal": True, **options})
    except UnsearchableQuery:
        return []
    if hits.incomplete:
        raise esr.EsrError(f"the answer is incomplete: {hits.incomplete}")
    return [_join(group, window) for group in _group(hits, window)]


def _group(hits: Sequence[esr.Hit], window: int) -> list[list[esr.Hit]]:
    """The hits whose windows overlap, best first. The groups are in the order of their best hits."""
    of_documents: defaultdict[str, list[esr.Hit]] = defaultdict(list)
    for hit in hits:
        of_documents[hit.document_id].append(hit)
    groups: list[list[esr.Hit]] = []
    for same_document in of_documents.values():
        end = -math.inf
        for hit in sorted(same_document, key=lambda hit: hit.position):
            if hit.position - window > end:
                groups.append([])
            groups[-1].append(hit)
            end = hit.position + window
    for group in groups:
        group.sort(key=lambda hit: hit.rank)
    return sorted(groups, key=lambda group: group[0].rank)


def _join(group: Sequence[esr.Hit], window: int) -> Passage:
    """The passage of a group of hits."""
    texts = {
        position: text
        for hit in group
        for position, text in enumerate(hit.window(window), max(hit.position - window, 0))
    }
    best, *others = group
    text = " ".join(texts[position] for position in sorted(texts))
    other_ids = {"other_ids": [hit.id for hit in others]} if others else {}
    return Passage(best.id, best.score, text, _describe(best) | other_ids)


def _describe(hit: esr.Hit) -> dict[str, Any]:
    known = {name: getattr(hit, name) for name in ("id", "document_id", "title", "date", "source", "url")}
    known |= {"url": web_url(hit.url), "sentence": hit.text, "citation": cite(hit.document_id, hit)}
    return {name: value for name, value in known.items() if value is not None}
