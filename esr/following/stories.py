"""Stories: groups of recent articles about the same event, each labelled by its most central one.

Articles are compared by the rarity of the terms of their headlines and first sentences. An article joins a
story if it is similar to the story's central article. Stories that more sources have come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.following.repeats import weigh_by_rarity
from esr.index.contract import Index
from esr.index.hits import SentenceRecord

COMPARED_SENTENCES = 4
"""Number of first sentences of an article that are compared, in addition to its headline."""
TITLE_WEIGHT = 2.0
SIMILAR = 0.2
"""Least cosine similarity of an article with the central one of its story."""
LEDE_WORDS = (9, 60)
"""Least and greatest number of words of the sentence that stands for an article."""


class Story(NamedTuple):
    """A story: the sentence that stands for its central article, and its other articles, most similar first.

    `sources`: the sources that have it, that of the central article first.
    """

    lede: SentenceRecord
    others: Sequence[SentenceRecord]
    sources: Sequence[str]


class _Article(NamedTuple):
    lede: SentenceRecord
    weights: dict[str, float]


def find_stories(index: Index, records: Iterable[SentenceRecord], most: int) -> list[Story]:
    """The stories in these sentences, at most `most`, the most widely reported first.

    `records` are the newest sentences. Only articles with a headline are in stories.
    """
    articles = _read_articles(index, records)
    if not articles:
        return []
    similar = _compare(index, articles)
    stories: list[Story] = []
    free = np.ones(len(articles), bool)
    close = similar >= SIMILAR
    while free.any():
        # The most central article has the most similar ones, and is the most similar to them.
        support = np.where(close & free, similar, 0).sum(axis=1)
        support[~free] = -1
        center = int(np.argmax(support))
        members = np.flatnonzero(close[center] & free)
        members = members[np.argsort(-similar[center, members], kind="stable")]
        free[members] = False
        free[center] = False
        ledes = [articles[n].lede for n in members if n != center]
        lede = articles[center].lede
        sources = dict.fromkeys(record.source for record in (lede, *ledes) if record.source)
        stories.append(Story(lede, ledes, list(sources)))
    stories.sort(key=lambda story: (len(story.sources), min(len(story.others), 5)), reverse=True)
    return stories[:most]


def _read_articles(index: Index, records: Iterable[SentenceRecord]) -> list[_Article]:
    by_document: dict[str, list[SentenceRecord]] = {}
    for record in records:
        if record.title and record.position < COMPARED_SENTENCES:
            by_document.setdefault(record.document_id, []).append(record)
    articles = []
    titles = set()
    for sentences in by_document.values():
        sentences.sort(key=lambda record: record.position)
        lede = next((record for record in sentences if _can_stand(record)), sentences[0])
        title = (sentences[0].title or "").casefold()
        if title in titles:  # the same article again
            continue
        titles.add(title)
        analyze = index.analyzer.for_language(lede.language).terms
        weights = dict.fromkeys((term for record in sentences for term in analyze(record.text)), 1.0)
        weights |= dict.fromkeys(analyze(lede.title or ""), TITLE_WEIGHT)
        articles.append(_Article(lede, weights))
    return articles


def _can_stand(record: SentenceRecord) -> bool:
    """Whether a sentence can stand for its article: a whole sentence that says enough, and not too much."""
    words, (least, most) = len(record.text.split()), LEDE_WORDS
    return least <= words <= most and record.text.rstrip()[-1:] in ".!?”\"’'。！？؟"


def _compare(index: Index, articles: Sequence[_Article]) -> npt.NDArray[np.float64]:
    """The cosine similarities of all pairs of articles."""
    terms = sorted({term for article in articles for term in article.weights})
    rarity = weigh_by_rarity(index, terms)
    columns = {term: n for n, term in enumerate(terms)}
    vectors = np.zeros((len(articles), len(terms)))
    for row, article in enumerate(articles):
        for term, weight in article.weights.items():
            vectors[row, columns[term]] = weight * rarity[term]
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(norms > 0, norms, 1)
    products: npt.NDArray[np.float64] = vectors @ vectors.T
    return products
