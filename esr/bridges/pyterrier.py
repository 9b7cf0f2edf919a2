"""PyTerrier: a retriever, a reranker and an indexer, for its pipelines and experiments.

PyTerrier's documents are sentences, and `docno` is a sentence's id. None of the three needs Java.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

import esr
from esr.extras import missing
from esr.library.options import read_search_options
from esr.ranking.answers import best_of_documents
from esr.ranking.prepared_query import score_given
from esr.ranking.searcher import UnsearchableQuery

try:
    import pandas as pd
    import pyterrier as pt
except ImportError as error:
    raise ImportError(str(missing(__name__, "pyterrier")), name="pyterrier") from error

_WORDS = {"literal": True}
"""By default, queries are read as words without syntax, as `esr run` reads topics."""


class Retriever(pt.Transformer):
    """Finds the best k sentences for each query, with their `docno`, `score`, `rank` and `fields`.

    With `unit="document"`, the results are the best sentences of the best k documents, and `docno` is the id
    of the document. `fields` are attributes of `esr.Hit`, such as `text`, `title` and `date`. `options` are
    those of `Index.search`. A query without words to search for has no results, as in `esr run`.
    """

    def __init__(
        self,
        index: esr.Index,
        k: int = 1000,
        *,
        unit: Literal["sentence", "document"] = "sentence",
        fields: Iterable[str] = ("text",),
        **options: Any,
    ) -> None:
        self.index, self.k, self.unit, self.fields = index, k, unit, tuple(fields)
        self.options = {**_WORDS, **options}
        read_search_options(self.options)  # raises UsageError for a bad one

    def __repr__(self) -> str:
        return f"esr({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        pt.validate.query_frame(inp, extra_columns=["query"])
        queries = inp[pt.model.query_columns(inp)].drop_duplicates("qid")
        rows = [
            (qid, self._docno(hit), rank, hit.score, *(getattr(hit, name) for name in self.fields))
            for qid, query in zip(queries["qid"], queries["query"], strict=True)
            for rank, hit in enumerate(self._find(query), pt.model.FIRST_RANK)
        ]
        found = pd.DataFrame(rows, columns=["qid", "docno", "rank", "score", *self.fields])
        return queries.merge(found.astype({"qid": queries["qid"].dtype}), on="qid")

    def _docno(self, hit: esr.Hit) -> str:
        return hit.document_id if self.unit == "document" else hit.id

    def _find(self, query: str) -> Iterable[esr.Hit]:
        def find(k: int) -> esr.Hits:
            hits = self.index.search(query, k, **self.options)
            if hits.incomplete:
                raise esr.EsrError(f"query {query!r}: the answer is incomplete: {hits.incomplete}; run again")
            return hits

        try:
            if self.unit == "document":
                return best_of_documents(find, self.k, self._docno)
            return find(self.k)
        except UnsearchableQuery:
            return []


class Reranker(pt.Transformer):
    """Scores the sentences that another transformer found, by the ranking in `options`.

    Sentences without a score are last; for a query without words, these are all sentences. Raises UsageError
    for a `docno` that is not in the index.
    """

    def __init__(self, index: esr.Index, **options: Any) -> None:
        self.index, self.options = index, {**_WORDS, **options}
        self._settings = read_search_options(self.options)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        pt.validate.result_frame(inp, extra_columns=["query"])
        out = inp.drop(columns=["rank"], errors="ignore").assign(score=0.0)
        for (_, query), group in inp.groupby(["qid", "query"], sort=False):
            out.loc[group.index, "score"] = self._score(query, [*group["docno"]])
        out = out.sort_values("score", ascending=False, kind="stable")
        return out.assign(rank=out.groupby("qid", sort=False).cumcount() + pt.model.FIRST_RANK)

    def _score(self, query: str, ids: list[str]) -> Any:
        settings = self._settings
        try:
            prepared = self.index.searcher.prepare(
                settings.read(query),
                settings.ranking,
                require_all=settings.require_all,
                literal=settings.literal,
            )
        except UnsearchableQuery:
            return np.zeros(len(ids))
        scores, _ = score_given(prepared, ids)
        known = np.isfinite(scores)
        return np.where(known, scores, scores[known].min(initial=0.0) - 1.0)


class Indexer(pt.Indexer):
    """Makes an index of the documents of a corpus: mappings with `docno` and `text`.

    Other keys are those of rows of `esr.create`, and so are `options`. A text is split into sentences.
    """

    def __init__(self, where: str, **options: Any) -> None:
        self.where, self.options = where, options

    def index(self, iter: Iterable[Mapping[str, Any]], **options: Any) -> esr.Index:
        """Load the documents and return the index, for a `Retriever`."""
        rows = ({"id": row["docno"], **{k: v for k, v in row.items() if k != "docno"}} for row in iter)
        return esr.create(self.where, rows, **{**self.options, **options})

    def index_inputs(self) -> list[list[str]]:
        return [["docno", "text"]]
