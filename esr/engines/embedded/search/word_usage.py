"""How sentences use single words: how many have a word, and how it is written there.

Both are facts of a snapshot, and the words that are suggested for misspelt ones repeat from query to query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from esr.engines.embedded.search.document_cache import DocumentCache
from esr.engines.embedded.search.records import Numbers, read_records
from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.embedded.search.word_search import PlaceCache
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.written_forms import SAMPLE, choose_written_form

V = TypeVar("V")
_ENTRY_BYTES = 200
"""Memory of a word and what is known of it."""


class _WordFacts(dict[str, V]):
    """What is known of some words."""

    @property
    def nbytes(self) -> int:
        return _ENTRY_BYTES * len(self)


class WordUsage:
    """How the sentences of a snapshot use the words that were asked for. Threads share it."""

    def __init__(
        self, snapshot: Snapshot, places: PlaceCache, documents: DocumentCache, memory: SearchMemory
    ) -> None:
        self._snapshot = snapshot
        self._documents = documents
        self._places = places
        self._memory = memory
        self._token = object()
        """Tells the words of this snapshot from those of others, and keeps none of them alive."""

    def count_sentences(self, word: str) -> int:
        """How many sentences have a word, given as the analyzer `words` does."""
        return self._recall("count", word, self._count_sentences)

    def written_form(self, word: str) -> str:
        """The word as most of the first sentences that have it write it."""
        return self._recall("form", word, self._read_written_form)

    def _recall(self, what: str, word: str, make: Callable[[str], V]) -> V:
        # Words with one beginning are stored together: each is much smaller than the least that is stored.
        key = self._token, what, word[:2]
        facts: _WordFacts[V] = self._memory.get(key, _WordFacts)
        value = facts.get(word)
        if value is None:
            value = make(word)
            if value:  # who types what no sentence has must not fill the memory
                facts[word] = value
                self._memory.resize(key, facts.nbytes)
        return value

    def _count_sentences(self, word: str) -> int:
        return sum(len(numbers) for _, numbers in self._find_sentences(word))

    def _read_written_form(self, word: str) -> str:
        bases = self._snapshot.statistics.sentence_bases
        ordinals: list[int] = []
        for owner, numbers in self._find_sentences(word):
            ordinals += (numbers[: SAMPLE - len(ordinals)] + bases[owner]).tolist()
            if len(ordinals) == SAMPLE:
                break
        records = read_records(self._snapshot, self._documents, ordinals)
        return choose_written_form(word, [record.text for record in records])

    def _find_sentences(self, word: str) -> Iterator[tuple[int, Numbers]]:
        """The sentences that have a word, ascending, by the number of their segment."""
        for owner, segment in enumerate(self._snapshot.segments):
            number = segment.words.find(word)
            if number is not None:
                places = self._places.of(segment.words)
                sentences = places.sentences(places.places(number))
                # They ascend as the places do, and repeat where a sentence has the word twice.
                yield owner, sentences[np.flatnonzero(np.diff(sentences, prepend=-1))]
