"""LangChain: a retriever of sentences."""

from __future__ import annotations

from typing import Any, ClassVar

import esr
from esr.bridges.passages import find_passages
from esr.plugin.provisional import missing_package

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field
except ImportError as _error:
    raise ImportError(str(missing_package(__name__, "langchain_core")), name="langchain_core") from _error


class SentenceRetriever(BaseRetriever):
    """Finds the best `k` sentences of an index for a question, each with `window` sentences on each side.

    Sentences of a document whose windows overlap are one passage, so that no sentence is found twice.

    A document's content is the sentence with its window. Its metadata have the `sentence` itself, `id`,
    `document_id`, `title`, `date`, `source`, `url`, `score`, and a `citation`. `options` are those of
    `Index.search`; the question is read as words unless `literal` is False.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid"
    )  # a filter that belongs in `options` must not be ignored

    index: esr.Index
    k: int = 10
    window: int = 1
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [
            Document(id=id, page_content=text, metadata={**metadata, "score": score})
            for id, score, text, metadata in find_passages(
                self.index, query, self.k, self.window, self.options
            )
        ]
