"""Topics made from the collection itself, to find parameters without judgements.

Somebody who looks for a sentence remembers some of its words, some of what stands around it, and says the
rest in words of their own. So a pseudo-topic is made from one sentence, the only relevant one: half of its
words are drawn from other documents (what the sentence says in other words); of the other half a share is
the sentence's own, and the rest comes from its neighbours and its document. Without the foreign half the
sentence itself gives everything away, and little smoothing looks best (docs/evaluation.md).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from esr.analysis import Analyzer
from esr.documents import Document
from esr.engines.index import Index
from esr.errors import UsageError
from esr.evaluation.tuning.figures import Task

FOREIGN = 0.5
"""Share of the words that come from other documents."""
OWN = (0.6, 0.8, 1.0)
"""Shares of the sentence's own words among the others: each for a third of the topics."""
LENGTHS = range(3, 11)
"""Words drawn for a topic; a word drawn twice counts once."""
ENOUGH = 300
"""Topics that tell settings apart well enough: on other draws the choice costs as little."""
_TERMS = 5
"""Different terms that a sentence must have: shorter ones are seldom what anybody looks for."""
_DOCUMENTS = 4
"""Documents looked at for each topic: one to make it from, others for foreign words."""
_TRIES = 20

Words = list[str]


class _Source(NamedTuple):
    """A document with the words of each of its sentences that analysis keeps."""

    document: Document
    words: list[Words]


def tasks(index: Index, number: int, seed: int = 0) -> list[Task]:
    """Pseudo-topics from documents drawn at random. The same for the same index and seed, on any engine.

    Raises UsageError if the collection has no sentence that is long enough.
    """
    chance = random.Random(seed)
    total = index.statistics([]).collection.documents
    places = chance.sample(range(total), min(total, _DOCUMENTS * number))
    sources = [
        _Source(document, [_words(index.analyzer, sentence.text) for sentence in document.sentences])
        for document in index.documents_at(sorted(places))
    ]
    sources = [source for source in sources if any(source.words)]
    made: list[Task] = []
    for _ in range(_TRIES * number) if sources else ():
        source = chance.choice(sources)
        at = chance.randrange(len(source.words))
        if len(index.analyzer.terms(" ".join(set(source.words[at])))) < _TERMS:
            continue
        own = OWN[len(made) % len(OWN)]
        query = dict.fromkeys(_draw(chance, sources, source.words, at, own))
        name = f"pseudo-{len(made) + 1}"
        made.append(Task(name, " ".join(query), (source.document.sentences[at].id,)))
        if len(made) == number:
            return made
    if not made:
        raise UsageError(
            f"{index.where} has no sentence of {_TERMS} terms: parameters cannot be estimated from it"
        )
    return made


def _draw(
    chance: random.Random, sources: Sequence[_Source], words: Sequence[Words], at: int, own: float
) -> Iterator[str]:
    """Words for a query that looks for the sentence at a place."""
    near = [word for place in (at - 1, at + 1) if 0 <= place < len(words) for word in words[place]]
    rest = [word for place, some in enumerate(words) if place != at for word in some]
    for _ in range(chance.choice(LENGTHS)):
        if chance.random() < FOREIGN:
            pool = [word for some in chance.choice(sources).words for word in some]
        elif chance.random() < own or not rest:
            pool = sorted(set(words[at]))
        else:
            pool = near if near and chance.random() < 0.5 else rest
        yield chance.choice(pool)


def _words(analyzer: Analyzer, text: str) -> Words:
    """The words of a text that analysis keeps, as they were written."""
    return [word for word in re.findall(r"\w+", text) if analyzer.terms(word)]
