"""Passages for frameworks that compose prompts: sentences with their neighbours and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import esr
from esr.following.exports import cite
from esr.ranking.searcher import UnsearchableQuery
from esr.text.addresses import web_url


class Passage(NamedTuple):
    """A sentence's id and score, its text with the sentences around it, and its metadata.

    The metadata have the sentence itself as `sentence`, and `id`, `document_id`, `title`, `date`, `source`,
    `url` (of the web) and `citation`; unknown ones are left out.
    """

    id: str
    score: float
    text: str
    metadata: dict[str, Any]


def find_passages(
    index: esr.Index, query: str, k: int, window: int, options: Mapping[str, Any]
) -> list[Passage]:
    """The best k sentences for a question, with `window` sentences on each side; repeats are left out.

    `options` are those of `Index.search`; the question is read as words unless `literal` is False. A question
    without words to search for has no passages. Raises EsrError if the answer is incomplete.
    """
    try:
        hits = index.search(query, k, fold=True, **{"literal": True, **options})
    except UnsearchableQuery:
        return []
    if hits.incomplete:
        raise esr.EsrError(f"the answer is incomplete: {hits.incomplete}")
    return [Passage(hit.id, hit.score, " ".join(hit.window(window)), _describe(hit)) for hit in hits]


def _describe(hit: esr.Hit) -> dict[str, Any]:
    known = {name: getattr(hit, name) for name in ("id", "document_id", "title", "date", "source", "url")}
    known |= {"url": web_url(hit.url), "sentence": hit.text, "citation": cite(hit.document_id, hit)}
    return {name: value for name, value in known.items() if value is not None}
