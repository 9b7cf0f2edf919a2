"""The names of query arguments, and what each is for."""

from __future__ import annotations

PARAMETER = "params."
PRIOR = "prior."
VERSUS = "vs."
"""The arguments of the other ranking in a comparison begin with this: vs.model, vs.params.mu."""
NAME = "NAME"
"""Stands for any name at the end of an argument: params.NAME for params.mu and all others."""

RANKING_ARGUMENTS: dict[str, str] = {
    "model": "the ranking model",
    "context": "the text around a sentence that the model uses",
    "candidates": "which sentences are ranked",
    "feature": "a feature that adjusts the score, as in len:log:0.1",
    "boost": "an expansion of the query, as in variants:0.2",
    "rerank": "a signal of the second stage, as in mrf_sdm:0.5",
    "depth": "how many of the best sentences the second stage ranks again",
    PARAMETER + NAME: "a parameter of the model, as in params.mu=50",
    PRIOR + NAME: "the weight of a prior, as in prior.length=1",
}
SEARCH_ARGUMENTS: dict[str, str] = {
    "q": "what to search for: words, or the query language",
    **RANKING_ARGUMENTS,
    "k": "how many sentences to return",
    "from": "the first day, as in 2017-03-01",
    "to": "the last day",
    "source": "a source",
    "author": "an author",
    "section": "a section",
    "keyword": "a keyword",
    "meta": "a key of the metadata and its value, as in desk=Berlin",
    "document": "the id of a document",
    "entity": "a name in the sentence, as in person:Barack Obama",
    "sort": "score: the best first; date: the newest of the sentences with all words first",
    "group": "document: group the sentences of a document",
    "fold": "no: list sentences that repeat another one by one",
    "novel": "yes: the oldest sentences with all words first, and only those that say something new",
    "overlap": "the share of a sentence from which one that has it makes it a repeat, by the rarity of terms",
    "syntax": "none: read all of q as words, without any syntax",
    "require": "all: sentences with every word of q, and no others",
    "facet": "a field of which the page lists more values",
    "index": "the name of an index, where several are served",
}
TIMELINE_ARGUMENTS: dict[str, str] = {
    "also": "another query in the same timeline",
    "interval": "day, week, month or year; by default, the finest that is easy to read",
    "scale": "rate: the chart shows sentences per million of those of the period",
    "peaks": "how many peaks of each query come with their best sentence",
}
"""The arguments that a timeline has beside those of a search."""
SIMILAR_ARGUMENTS: dict[str, str] = {"own": "yes: also sentences of the document of the sentence itself"}
"""The arguments that more sentences like one have beside those of a search."""
TEXT_ARGUMENTS = frozenset({"q", "text", "also"})
"""Arguments that may be as long as a query."""
COMPARISON_ARGUMENTS = (*SEARCH_ARGUMENTS, *(VERSUS + name for name in RANKING_ARGUMENTS))

_RANKING_LISTS = frozenset({"feature", "boost", "rerank"})
REPEATABLE = frozenset(
    {
        "source",
        "author",
        "section",
        "keyword",
        "meta",
        "document",
        "entity",
        "field",
        "also",
        *_RANKING_LISTS,
        *(VERSUS + name for name in _RANKING_LISTS),
    }
)
"""Arguments that may be given more than once."""
MAX_DEPTH = 1_000
"""The greatest depth of a second stage: it reads the parse of each sentence."""

_QUERY, _COUNT = "q", "k"
KNOWN_ELSEWHERE = {
    **dict.fromkeys(("query", "search", "term", "terms", "text", "keywords"), _QUERY),
    **dict.fromkeys(("limit", "size", "count", "rows", "n", "top", "top_k"), _COUNT),
}
"""What other search engines call an argument, and its name here."""


def is_ranking_argument(name: str) -> bool:
    """Whether an argument says how to rank."""
    return name in RANKING_ARGUMENTS or name.startswith((PARAMETER, PRIOR))
