"""The words of an alias as they are written: those with a prefix, and those that are like another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from esr import analysis
from esr.analysis.definitions import WORDS
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import msearch, search
from esr.engines.elasticsearch.search.condition_query import WORDS_FIELD
from esr.engines.elasticsearch.search.counts import match_sentences
from esr.engines.filters import NO_FILTERS
from esr.engines.written_forms import SAMPLE, choose_written_form
from esr.plans.condition import HasWords

_SAMPLE = 200
"""Sentences from which the frequent words with a prefix are read: nothing lists the terms of a text field."""
_FIELD = WORDS_FIELD["sentence"]
_SUGGESTER: dict[str, Any] = {
    "field": _FIELD,
    "analyzer": "whitespace",
    "suggest_mode": "always",
    "prefix_length": 0,
    "min_word_length": 1,
    "size": 1000,
    "shard_size": 1000,
    "max_inspections": 10,
    "sort": "frequency",
}
"""Lists all words that are similar, as far as possible; who asks orders them."""


def words_with_prefix(cluster: Cluster, prefix: str, limit: int) -> list[tuple[str, int]]:
    """Frequent words that begin so, and how many sentences of a sample have each."""
    answer = search(
        cluster, index=cluster.alias, query={"prefix": {_FIELD: prefix}}, size=_SAMPLE, source=["text"]
    )
    split = analysis.get(WORDS).terms
    totals: Counter[str] = Counter()
    for hit in answer["hits"]["hits"]:
        totals.update({word for word in split(hit["_source"]["text"]) if word.startswith(prefix)})
    return sorted(totals.items(), key=lambda word: (-word[1], word[0]))[:limit]


def similar_words(cluster: Cluster, word: str, max_edits: int, least: int) -> dict[str, int]:
    """The words within so many edits of another, swapped neighbours being one, with how many sentences.

    Only those that are in at least `least` sentences.
    """
    suggester = {"text": word, "term": {**_SUGGESTER, "max_edits": max_edits}}
    answer = search(cluster, index=cluster.alias, size=0, suggest={"words": suggester})
    options = (option for entry in answer["suggest"]["words"] for option in entry["options"])
    return {option["text"]: option["freq"] for option in options if option["freq"] >= least}


def written_forms(cluster: Cluster, words: Sequence[str]) -> list[str]:
    """Each of the words as the first sentences that have it write it, all in one request."""
    lines: list[dict[str, Any]] = []
    for word in words:
        query = match_sentences(HasWords((word,)), NO_FILTERS)
        body = {"query": query, "size": SAMPLE, "sort": {"ordinal": "asc"}, "_source": ["text"]}
        lines += [{"index": cluster.alias}, {**body, "track_total_hits": False}]
    texts = ([hit["_source"]["text"] for hit in answer["hits"]["hits"]] for answer in msearch(cluster, lines))
    return [choose_written_form(word, of_word) for word, of_word in zip(words, texts, strict=True)]
