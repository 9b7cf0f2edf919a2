"""PyTerrier: a retriever, a reranker and an indexer, for its pipelines and experiments.

PyTerrier's documents are sentences, and `docno` is a sentence's id. None of the three needs Java.

The operator `+` counts 0 for a document that one of its transformers did not find. Scores of most models are
logarithms below 0, so that those not found would be the best. Scores of a query are therefore raised by a
constant, so that the lowest is 0; scores of 0 and more stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

import esr
from esr.plugin.provisional import (
    SearchOptions,
    UnsearchableQuery,
    best_of_documents,
    check_names,
    missing_package,
    read_search_options,
    score_given,
)

try:
    import pandas as pd
    import pyterrier as pt
except ImportError as _error:
    raise ImportError(str(missing_package(__name__, "pyterrier")), name="pyterrier") from _error

_OWN = ("index", "k", "unit", "fields")
_WORDS = {"literal": True}
"""By default, queries are read as words without syntax, as `esr run` reads topics."""


class _WithOptions(pt.Transformer):
    """A transformer whose parameters are the options of `Index.search`, for `pt.GridSearch`."""

    options: dict[str, Any]

    def get_parameter(self, name: str) -> Any:
        """The value of an attribute or an option; None for an option that is not given."""
        if name in _OWN and hasattr(self, name):
            return getattr(self, name)
        check_names({name: None}, SearchOptions.__annotations__)
        return self.options.get(name)

    def set_parameter(self, name: str, value: Any) -> None:
        """Set an attribute or an option. Raises UsageError for an unknown one."""
        if name in _OWN and hasattr(self, name):
            setattr(self, name, value)
        else:
            check_names({name: None}, SearchOptions.__annotations__)
            self.options = {**self.options, name: value}


class Retriever(_WithOptions):
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
        self.index: esr.Index = index
        self.k: int = k
        self.unit = unit
        self.fields: tuple[str, ...] = tuple(fields)
        self.options: dict[str, Any] = {**_WORDS, **options}
        read_search_options(self.options)  # raises UsageError for a bad one

    def __repr__(self) -> str:
        return f"esr({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        pt.validate.query_frame(inp, extra_columns=["query"])
        queries = inp[pt.model.query_columns(inp)].drop_duplicates("qid")
        rows = [
            (qid, self._docno(hit), rank, score, *(getattr(hit, name) for name in self.fields))
            for qid, query in zip(queries["qid"], queries["query"], strict=True)
            for rank, (hit, score) in enumerate(self._find_scored(query), pt.model.FIRST_RANK)
        ]
        results = pd.DataFrame(rows, columns=["qid", "docno", "rank", "score", *self.fields])
        return queries.merge(results.astype({"qid": queries["qid"].dtype}), on="qid")

    def _find_scored(self, query: str) -> list[tuple[esr.Hit, float]]:
        hits = list(self._find(query))
        return [*zip(hits, _raise([hit.score for hit in hits]).tolist(), strict=True)]

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


class Reranker(_WithOptions):
    """Scores the sentences that another transformer found, by the ranking in `options`.

    Sentences without a score are last, with 0; for a query without words, these are all sentences. Raises
    NotFound for a `docno` that is not in the index.
    """

    def __init__(self, index: esr.Index, **options: Any) -> None:
        self.index: esr.Index = index
        self.options: dict[str, Any] = {**_WORDS, **options}
        read_search_options(self.options)  # raises UsageError for a bad one

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        pt.validate.result_frame(inp, extra_columns=["query"])
        # A union of transformers gives several rows the same label.
        out = inp.drop(columns=["rank"], errors="ignore").assign(score=0.0).reset_index(drop=True)
        for (_, query), group in out.groupby(["qid", "query"], sort=False):
            out.loc[group.index, "score"] = self._score(query, [*group["docno"]])
        out = out.sort_values("score", ascending=False, kind="stable")
        return out.assign(rank=out.groupby("qid", sort=False).cumcount() + pt.model.FIRST_RANK)

    def _score(self, query: str, ids: list[str]) -> Any:
        settings = read_search_options(self.options)
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
        raised = _raise(scores[known])
        out = np.zeros(len(ids))
        out[known] = raised if known.all() else raised + 1.0
        return out


def _raise(scores: Any) -> Any:
    """Scores raised by a constant, so that none is below 0, which stands for a sentence not found."""
    return np.asarray(scores, float) - np.min(scores, initial=0.0)


class Indexer(pt.Indexer):
    """Makes an index of the documents of a corpus: mappings with `docno` and `text`.

    Other keys are those of rows of `esr.create`, and so are `options`. A text is split into sentences.
    """

    def __init__(self, where: str, **options: Any) -> None:
        self.where: str = where
        self.options: dict[str, Any] = options

    def index(self, iter: Iterable[Mapping[str, Any]], **options: Any) -> esr.Index:
        """Load the documents and return the index, for a `Retriever`."""
        rows = ({"id": row["docno"], **{k: v for k, v in row.items() if k != "docno"}} for row in iter)
        return esr.create(self.where, rows, **{**self.options, **options})

    def index_inputs(self) -> list[list[str]]:
        return [["docno", "text"]]
