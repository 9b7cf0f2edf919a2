"""The words of many sentences as numbers, so that they are counted by array operations.

Texts are cut at blanks into chunks, most of which recur. A lexicon numbers the chunks, and stores the words
of each (analyzer `words`), as written and as compared, with the terms of the index's analyzer that begin in
each word.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.plugin.provisional import (
    WORDS_ANALYZER,
    Analyzer,
    SentenceTexts,
    WordNumbers,
    get_analyzer,
    take_turns,
    word_span,
)

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_MOST_SLOTS = 150_000
"""Maximum slots of a lexicon, which takes some 600 bytes for each. A larger one is replaced by a new one."""


class Pattern(NamedTuple):
    """Adjacent words. The last of them may be a prefix."""

    words: tuple[str, ...]
    is_prefix: bool = False


Node = Sequence[Pattern]
"""Alternative patterns. The longest one that matches is taken."""


class _Numbering(dict[str, int]):
    """Numbers for strings, in the order in which they were first seen."""

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self)
        return number


class _Chunks(dict[str, int]):
    """Numbers for chunks. `add` is called for a missing chunk."""

    def __init__(self, add: Callable[[str], int]) -> None:
        self._add = add

    def __missing__(self, chunk: str) -> int:
        return self._add(chunk)


class _Units:
    """The units of each slot: any number of pairs of a name and a written form."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[str, str], int] = {}
        self.names = _Numbering()
        self.of_pairs = array("q")
        self.numbers = array("q")
        self.ends = array("q", [0])

    def add(self, units: Sequence[tuple[str, str]]) -> None:
        """Add the units of the next slot."""
        for pair in units:
            number = self.pairs.setdefault(pair, len(self.pairs))
            if number == len(self.of_pairs):
                self.of_pairs.append(self.names[pair[0]])
            self.numbers.append(number)
        self.ends.append(len(self.numbers))


class UnitCounts(NamedTuple):
    """The names of units, their counts, and the most frequent written form of each."""

    names: list[str]
    counts: Numbers
    written: list[str]


class Lexicon:
    """The chunks read so far, with their words. Threads may share it.

    A slot is a word of a chunk. Slots are numbered consecutively over all chunks.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._chunks = _Chunks(self._add)
        self._chunk_ends = array("q", [0])
        self._words = _Numbering()
        self._slot_words = array("q")
        self._forms, self._terms = _Units(), _Units()

    def __len__(self) -> int:
        """The number of slots."""
        return len(self._slot_words)

    def read(self, texts: Sequence[str]) -> Words:
        """The words of these texts."""
        chunks = " ".join(texts).split(" ") if texts else []
        numbers = np.fromiter(map(self._chunks.__getitem__, chunks), np.int64, len(chunks))
        ends, slot_words = map(np.asarray, self._copy(self._chunk_ends, self._slot_words))
        slots, after = _read_ranges(ends, numbers)
        last_chunks = np.cumsum(np.fromiter((text.count(" ") + 1 for text in texts), np.int64, len(texts)))
        starts = np.concatenate([[0], after[last_chunks - 1]])
        return Words(self, slot_words[slots], starts, slots)

    @take_turns
    def _copy(self, *columns: Collection[Any]) -> list[Any]:
        """Copies of arrays, and lists of other collections, all of the same moment."""
        return [column[:] if isinstance(column, array) else list(column) for column in columns]

    def match(self, numbers: Numbers, word: str, is_prefix: bool) -> Mask:
        if not is_prefix:
            return np.equal(numbers, self._words.get(word, -1))
        (words,) = self._copy(self._words)
        return np.fromiter((form.startswith(word) for form in words), bool, len(words))[numbers]

    def names(self, numbers: Numbers) -> list[str]:
        (words,) = self._copy(self._words)
        return [words[number] for number in numbers.tolist()]

    def has_term(self, slots: Numbers) -> Mask:
        """A mask of the slots in which a term begins."""
        (ends,) = map(np.asarray, self._copy(self._terms.ends))
        return np.asarray(ends[slots] < ends[slots + 1])

    def count_terms(self, slots: Numbers) -> UnitCounts:
        """Count the terms that begin in these slots."""
        return self._count(self._terms, slots)

    def count_forms(self, slots: Numbers) -> UnitCounts:
        """Count the words of these slots."""
        return self._count(self._forms, slots)

    def _count(self, units: _Units, slots: Numbers) -> UnitCounts:
        *arrays, names, pairs = self._copy(
            units.ends, units.numbers, units.of_pairs, units.names, units.pairs
        )
        ends, numbers, of_pairs = map(np.asarray, arrays)
        of_forms = np.bincount(numbers[_read_ranges(ends, slots)[0]], minlength=len(pairs))
        occurring = np.flatnonzero(of_forms)
        # The most frequent form of each name is last; ties are sorted by form.
        rows = sorted(
            zip(of_pairs[occurring].tolist(), of_forms[occurring].tolist(), occurring.tolist(), strict=True)
        )
        counts: dict[int, int] = {}
        best: dict[int, tuple[int, str]] = {}
        for name, count, pair in rows:
            counts[name] = counts.get(name, 0) + count
            form = pairs[pair][1]
            if name not in best or (-count, form) < best[name]:
                best[name] = -count, form
        written = [form for _, form in best.values()]
        return UnitCounts([names[n] for n in counts], np.array([*counts.values()], np.int64), written)

    @take_turns
    def _add(self, chunk: str) -> int:
        if chunk in self._chunks:  # another thread was faster
            return self._chunks[chunk]
        words = list(get_analyzer(WORDS_ANALYZER).tokens(chunk))
        terms: list[list[tuple[str, str]]] = [[] for _ in words]
        starts = [word.start for word in words]
        for token in self._analyzer.tokens(chunk) if words else ():
            start, end = word_span(chunk, token)
            at = max(bisect_right(starts, token.start) - 1, 0)
            terms[at].append((token.term, chunk[start:end]))
        for word, of_word in zip(words, terms, strict=True):
            start, end = word_span(chunk, word)
            self._slot_words.append(self._words[word.term])
            self._forms.add([(word.term, chunk[start:end])])
            self._terms.add(of_word)
        self._chunk_ends.append(len(self._slot_words))
        number = self._chunks[chunk] = len(self._chunks)
        return number


def _read_ranges(ends: Numbers, items: Numbers) -> tuple[Numbers, Numbers]:
    """The positions in the ranges of these items, concatenated, and the cumulative number of positions.

    The range of item i is from ends[i - 1], or 0, to before ends[i].
    """
    lengths = ends[items + 1] - ends[items]
    after = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(ends[items] - after + lengths, lengths), after


class Occurrences(NamedTuple):
    """The occurrences of a node: positions of their words from `first` to before `last`, and their texts."""

    first: Numbers
    last: Numbers
    texts: Numbers

    def after(self, offset: int) -> Occurrences:
        """Those after the first `offset`."""
        return Occurrences(*(column[offset:] for column in self))


class Words:
    """The words of n texts, concatenated. A place is the position of a word among all of them."""

    def __init__(
        self, vocabulary: WordNumbers, words: Numbers, starts: Numbers, slots: Numbers | None = None
    ) -> None:
        """`words` and `slots` are of shape (places,). `starts` (n + 1): the texts' first places, and the end.

        Without slots, `near` is not available.
        """
        self._vocabulary = vocabulary
        self.words = words
        self.starts = starts
        self.slots: Numbers = np.zeros(0, np.int64) if slots is None else slots

    def find(self, node: Node) -> Occurrences:
        """The occurrences of a node, from left to right. They do not overlap."""
        lengths = np.zeros(len(self.words), np.int64)
        for pattern in node:
            n = len(pattern.words)
            at = np.arange(max(len(self.words) - n + 1, 0))
            for offset, word in enumerate(pattern.words):
                words = self.words[at + offset] if offset else self.words[: len(at)]
                at = at[self._vocabulary.match(words, word, offset == n - 1 and pattern.is_prefix)]
            at = at[at + n <= self.starts[self._texts(at) + 1]]
            lengths[at] = np.maximum(lengths[at], n)
        first = np.flatnonzero(lengths)
        last = first + lengths[first]
        if (first[1:] < last[:-1]).any():
            disjoint, end = [], 0
            for place, (start, stop) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
                if start >= end:
                    disjoint.append(place)
                    end = stop
            first, last = first[disjoint], last[disjoint]
        return Occurrences(first, last, self._texts(first))

    def _texts(self, places: Numbers) -> Numbers:
        """The texts that these places are in."""
        return np.searchsorted(self.starts, places, "right") - 1

    def near(self, occurrences: Occurrences, window: int | None) -> Numbers:
        """The slots of the words within `window` words of an occurrence, or for None in its text.

        Words of the node are left out. A word near two occurrences is included once.
        """
        starts, ends = self.starts[occurrences.texts], self.starts[occurrences.texts + 1]
        if window is not None:
            starts, ends = (
                np.maximum(occurrences.first - window, starts),
                np.minimum(occurrences.last + window, ends),
            )
        around = self._cover(starts, ends) & ~self._cover(occurrences.first, occurrences.last)
        return self.slots[around]

    def _cover(self, starts: Numbers, ends: Numbers) -> Mask:
        """A mask of the places in any of these ranges."""
        count = len(self.words) + 1
        steps = np.bincount(starts, minlength=count) - np.bincount(ends, minlength=count)
        return np.asarray(np.cumsum(steps[:-1]) > 0)

    def ranks(self, places: Numbers, starts: Numbers, ends: Numbers) -> Numbers:
        """The ranks of the words at these places in the order of strings, -1 for a place outside its range.

        All arrays are of shape (n,): the range of each place is from `starts` to before `ends`.
        """
        inside = np.flatnonzero((places >= starts) & (places < ends))
        known, position = np.unique(self.words[places[inside]], return_inverse=True)
        names = self._vocabulary.names(known)
        rank_of = {name: rank for rank, name in enumerate(sorted(set(names)))}
        ranks = np.full(len(places), -1)
        ranks[inside] = np.fromiter(map(rank_of.__getitem__, names), np.int64, len(names))[position]
        return ranks

    def names_at(self, places: Numbers, starts: Numbers, ends: Numbers) -> list[str]:
        """The words at these places, empty for a place outside its range. Arrays as for `ranks`."""
        inside = np.flatnonzero((places >= starts) & (places < ends))
        names = [""] * len(places)
        for place, name in zip(
            inside.tolist(), self._vocabulary.names(self.words[places[inside]]), strict=True
        ):
            names[place] = name
        return names


_LEXICONS: dict[str, Lexicon] = {}


def get_lexicon(analyzer: Analyzer) -> Lexicon:
    """The lexicon of an analyzer, shared by all calls."""
    lexicon = _LEXICONS.get(analyzer.name)
    if lexicon is None or len(lexicon) > _MOST_SLOTS:
        lexicon = _LEXICONS[analyzer.name] = Lexicon(analyzer)
    return lexicon


def read_words(analyzer: Analyzer, sentences: SentenceTexts) -> Words:
    """The words of these sentences, from the index if it stores them, or else from their texts."""
    known = sentences.read_words()
    return get_lexicon(analyzer).read(sentences.texts) if known is None else Words(*known)
