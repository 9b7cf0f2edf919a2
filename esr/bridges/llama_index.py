"""LlamaIndex: a retriever of sentences."""

from __future__ import annotations

import asyncio
from typing import Any

import esr
from esr.bridges.passages import find_passages
from esr.plugin.provisional import missing_package

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as _error:
    raise ImportError(str(missing_package(__name__, "llama_index")), name="llama_index") from _error


class SentenceRetriever(BaseRetriever):
    """Finds the best `k` sentences of an index for a question, each with `window` sentences on each side.

    Sentences of a document whose windows overlap are one passage, so that no sentence is found twice.

    A node's text is the sentence with its window. Its metadata have the `sentence` itself, `id`,
    `document_id`, `title`, `date`, `source`, `url` and a `citation`. `options` are those of `Index.search`;
    the question is read as words unless `literal` is False.
    """

    def __init__(self, index: esr.Index, k: int = 10, window: int = 1, **options: Any) -> None:
        super().__init__()
        self._index, self._k, self._window, self._options = index, k, window, options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str
        return [
            NodeWithScore(node=TextNode(id_=id, text=text, metadata=metadata), score=score)
            for id, score, text, metadata in find_passages(
                self._index, query, self._k, self._window, self._options
            )
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
