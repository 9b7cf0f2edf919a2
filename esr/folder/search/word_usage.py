"""How single words are used in a snapshot: in how many sentences, and in which spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from esr.folder.format.files import Numbers
from esr.folder.format.snapshot import Snapshot
from esr.folder.search.records import DocumentCache, read_records
from esr.folder.search.word_positions import PositionCache
from esr.index.limits import SearchMemory
from esr.index.names import (
    SAMPLE,
    choose_written_form,
)

V = TypeVar("V")
ENTRY_BYTES = 200
"""Memory in bytes of a word and a fact about it."""


class _WordFacts(dict[str, V]):
    """Facts about some words."""

    @property
    def nbytes(self) -> int:
        return ENTRY_BYTES * len(self)


class WordUsage:
    """How the sentences of a snapshot use single words. Threads share it."""

    def __init__(
        self, snapshot: Snapshot, positions: PositionCache, documents: DocumentCache, memory: SearchMemory
    ) -> None:
        self._snapshot = snapshot
        self._documents = documents
        self._positions = positions
        self._memory = memory
        self._token = object()
        """Separates the words of this snapshot in the shared memory without keeping the snapshot alive."""

    def count_sentences(self, word: str) -> int:
        """Count the sentences that contain a word of the analyzer `words`."""
        return self._recall("count", word, self._count_sentences)

    def written_form(self, word: str) -> str:
        """The written form of a word in most of the first sentences that contain it."""
        return self._recall("form", word, self._read_written_form)

    def _recall(self, kind: str, word: str, make: Callable[[str], V]) -> V:
        # Words with the same beginning share an entry: each is much smaller than the least size of an entry.
        key = self._token, kind, word[:2]
        facts: _WordFacts[V] = self._memory.get(key, _WordFacts)
        value = facts.get(word)
        if value is None:
            value = make(word)
            if value:  # unknown words must not fill the memory
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
        """Yield the index of each segment with the word, and the sentences that contain it, ascending."""
        for owner, segment in enumerate(self._snapshot.segments):
            number = segment.words.find(word)
            if number is not None:
                positions = self._positions.of(segment.words)
                sentences = positions.sentences(positions.positions(number))
                # They ascend with the positions, and repeat if a sentence contains the word twice.
                yield owner, sentences[np.flatnonzero(np.diff(sentences, prepend=-1))]
