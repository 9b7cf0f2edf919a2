"""Pseudo-topics generated from the collection, to estimate parameters without judgements.

A user who looks for a sentence remembers some of its words and some words around it, and phrases the rest in
other words. A pseudo-topic is therefore generated from one sentence, its only relevant one: half of its words
are drawn from other documents (the user's own phrasing); a share of the other half is drawn from the
sentence, and the rest from its neighbours and its document. Without the foreign half, the sentence's own
words identify it, and little smoothing seems best (docs/evaluation.md).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from esr.analysis import Analyzer
from esr.documents import Document
from esr.engines.index import Index
from esr.errors import UsageError
from esr.evaluation.tuning.tuner import Task

FOREIGN = 0.5
"""The share of words that come from other documents."""
OWN = (0.6, 0.8, 1.0)
"""Shares of the sentence's own words among the other words, each for a third of the topics."""
LENGTHS = range(3, 11)
"""Numbers of words drawn for a topic; a word that is drawn twice counts once."""
DEFAULT_NUMBER = 300
"""Enough topics to distinguish settings: the choices on other samples cost as little."""
_MIN_TERMS = 5
"""Distinct terms that a sentence must have; shorter ones are seldom what users look for."""
_DOCUMENTS_PER_TOPIC = 4
"""Documents sampled for each topic: one as its source, the others for foreign words."""
_TRIES = 20

Words = list[str]


class _Source(NamedTuple):
    """A document, with those words of each sentence that survive analysis."""

    document: Document
    words: list[Words]


def generate_tasks(index: Index, number: int, seed: int = 0) -> list[Task]:
    """Pseudo-topics from a random sample of documents, the same for the same index and seed on any engine.

    Raises UsageError if no sentence of the collection is long enough.
    """
    generator = random.Random(seed)
    total = index.statistics([]).collection.documents
    positions = generator.sample(range(total), min(total, _DOCUMENTS_PER_TOPIC * number))
    sources = [
        _Source(document, [_select_words(index.analyzer, s.text) for s in document.sentences])
        for document in index.documents_at(sorted(positions))
    ]
    sources = [source for source in sources if any(source.words)]
    tasks: list[Task] = []
    for _ in range(_TRIES * number) if sources else ():
        source = generator.choice(sources)
        position = generator.randrange(len(source.words))
        if len(index.analyzer.terms(" ".join(set(source.words[position])))) < _MIN_TERMS:
            continue
        own = OWN[len(tasks) % len(OWN)]
        query = dict.fromkeys(_draw_words(generator, sources, source.words, position, own))
        name = f"pseudo-{len(tasks) + 1}"
        tasks.append(Task(name, " ".join(query), (source.document.sentences[position].id,)))
        if len(tasks) == number:
            return tasks
    if not tasks:
        raise UsageError(
            f"{index.where} has no sentence with {_MIN_TERMS} terms: parameters cannot be estimated from it"
        )
    return tasks


def _draw_words(
    generator: random.Random, sources: Sequence[_Source], words: Sequence[Words], position: int, own: float
) -> Iterator[str]:
    """Words of a query for the sentence at a position."""
    neighbours = (position - 1, position + 1)
    near = [word for n in neighbours if 0 <= n < len(words) for word in words[n]]
    rest = [word for n, sentence in enumerate(words) if n != position for word in sentence]
    for _ in range(generator.choice(LENGTHS)):
        if generator.random() < FOREIGN:
            candidates = [word for sentence in generator.choice(sources).words for word in sentence]
        elif generator.random() < own or not rest:
            candidates = sorted(set(words[position]))
        else:
            candidates = near if near and generator.random() < 0.5 else rest
        yield generator.choice(candidates)


def _select_words(analyzer: Analyzer, text: str) -> Words:
    """The words of a text that survive analysis, in their original form; bigrams are words here."""
    return [text[token.start : token.end] for token in analyzer.tokens(text)]
