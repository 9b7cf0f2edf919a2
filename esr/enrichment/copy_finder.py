"""Finds copies: sentences that several documents share, also slightly edited.

Two sentences are candidates if they share two of their rarest terms or more, and many of all terms, by number
and weighted by rarity; this is computed by numpy over all pairs at once. A candidate is a copy if most of
its words are the same in the same order (`copy_wording`). A sentence joins the group of the most similar
earlier sentence, if it is a copy of the first sentence of that group too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.enrichment.copy_wording import Integers, Mask, Wording, measure_copy, read_wordings
from esr.text.dates import DAY

COPIES_VERSION = 3
"""Version of these rules. Raise it when they change."""
LEAST_TERMS = 3
"""Number of different terms that a sentence must have. Shorter ones are too often alike by chance."""
LEAST_SHARED, LEAST_RARE = 0.5, 0.3
"""The least share of terms that candidates have in common (twice the common ones over those of both), by
number and weighted by rarity."""
LEAST_WEIGHT = 14.0
"""The least weight of the common terms, each the logarithm of its rarity: stock phrases have less."""
STOCK_DOCUMENTS, STOCK_SHARE = 8, 4
"""A group in so many documents, and on average so many of each source, is stock text and no copy."""
_LEAST_SIZE = 50_000
"""Terms are as rare as in a collection of so many sentences, since all terms of a small one are rare."""
_RAREST = 8
"""Most of the rarest terms of a sentence by which candidates are found."""
_LONG_RUN, _NEXT = 32, 4
"""In a run of more than so many sentences with the same two rare terms, only the next few are compared."""
_BATCH = 1 << 22
"""Approximate number of pairs of terms, and of terms of compared sentences, that are held at once."""
NO_GROUP, UNKNOWN = 0, -1
"""The group of a sentence that is in none, and of one that was not examined."""
Floats = npt.NDArray[np.float64]


class SentenceTerms(Struct, frozen=True):
    """The different terms of n sentences in collection order, as numbers.

    Those of sentence i are `terms[starts[i]:starts[i + 1]]`, ascending. `document` and `group`, of shape
    (n,), have the number of its document and its group, UNKNOWN for a new sentence. `date` (in
    milliseconds, the greatest number for none) and `source` are by document. `read_texts` reads the texts of
    sentences.
    """

    starts: Integers
    terms: Integers
    term_count: int
    document: Integers
    group: Integers
    date: Integers
    source: Integers
    read_texts: Callable[[Integers], Sequence[str]]


def find_copies(sentences: SentenceTerms) -> Integers:
    """The group of each sentence, of shape (n,); NO_GROUP for a sentence that is in no other document.

    Sentences with the same number from 1 are copies of each other. Known groups remain.
    """
    return _CopyFinder(sentences).find()


def count_groups(groups: Integers) -> tuple[int, int]:
    """The number of sentences in groups, and of groups."""
    members = groups[groups > NO_GROUP]
    return len(members), len(np.unique(members))


class _CopyFinder:
    def __init__(self, sentences: SentenceTerms) -> None:
        self._given = sentences
        sizes = np.diff(sentences.starts)
        self._order = np.lexsort((np.arange(len(sizes)), sentences.date[sentences.document]))
        """The sentences by date, then in collection order. Rows are numbered in this order."""
        self._order = self._order[sizes[self._order] >= LEAST_TERMS]
        self._sizes = sizes[self._order]
        self._group = sentences.group[self._order]
        self._row_starts = np.concatenate([[0], np.cumsum(self._sizes)])
        self._terms = sentences.terms[_spread(sentences.starts[self._order], self._sizes)]
        self._row = np.repeat(np.arange(len(self._order)), self._sizes)

    def find(self) -> Integers:
        groups = np.full(len(self._given.document), NO_GROUP, np.int32)
        if not len(self._order):
            return groups
        same_as = self._find_same()
        is_first = same_as == np.arange(len(same_as))
        frequencies = np.bincount(self._terms[is_first[self._row]], minlength=self._given.term_count)
        size = max(int(is_first.sum()), _LEAST_SIZE)
        self._weights = np.log((1 + size) / (1 + frequencies)) + 0.1
        self._row_weights = np.add.reduceat(self._weights[self._terms], self._row_starts[:-1])
        ranks = np.empty(len(frequencies), np.int64)
        ranks[np.lexsort((np.arange(len(frequencies)), frequencies))] = np.arange(len(frequencies))
        low, high = self._find_candidates(is_first, ranks)
        low, high = self._keep_similar(low, high)
        is_met = np.isin(same_as, same_as[self._group == UNKNOWN])  # their families have new members
        repeated = np.flatnonzero(~is_first & is_met)
        low, high = np.concatenate([low, same_as[repeated]]), np.concatenate([high, repeated])
        low, high, similarity = self._align(low, high)
        assigned = self._assign(low, high, similarity)
        groups[self._order] = assigned
        return self._drop_stock(groups)

    def _find_same(self) -> Integers:
        """By row, the first row with the same terms."""
        mixed = mix_numbers(self._terms.astype(np.uint64))
        signatures = np.add.reduceat(mixed, self._row_starts[:-1]) + self._sizes.astype(np.uint64)
        _, first, inverse = np.unique(signatures, return_index=True, return_inverse=True)
        return np.asarray(first[inverse])

    def _find_candidates(self, is_first: Mask, ranks: Integers) -> tuple[Integers, Integers]:
        """Pairs of rows that share two of their rarest terms, the earlier one first, each pair once."""
        codes = (self._row.astype(np.int64) << 32) | ranks[self._terms]
        codes = codes[is_first[self._row]]
        codes.sort()
        rows, ranked = codes >> 32, codes & 0xFFFFFFFF
        rare = np.arange(len(rows)) - np.searchsorted(rows, rows) < np.minimum(
            _RAREST, self._sizes[rows] // 2 + 2
        )
        rows, ranked = rows[rare], ranked[rare]
        is_new = self._group[rows] == UNKNOWN
        if not is_new.all():  # then only the rare terms of new sentences matter
            is_wanted = np.zeros(len(ranks), bool)
            is_wanted[ranked[is_new]] = True
            rows, ranked = rows[is_wanted[ranked]], ranked[is_wanted[ranked]]
        place = np.arange(len(rows)) - np.searchsorted(rows, rows)
        most = np.bincount(rows, minlength=len(self._order))[rows]
        parts = max(1, len(rows) * _RAREST // 2 // _BATCH)
        part_of, bits = ranked % parts, np.uint64(len(self._order).bit_length())
        candidates: list[Integers] = [np.zeros(0, np.int64)]
        for part in range(parts):
            codes_of_part = []
            of_part = np.flatnonzero(part_of == part)
            for distance in range(1, _RAREST):
                of_part = of_part[place[of_part] + distance < most[of_part]]
                keys = mix_numbers((ranked[of_part] << 32 | ranked[of_part + distance]).astype(np.uint64))
                codes_of_part.append(keys << bits | rows[of_part].astype(np.uint64))
            candidates.append(_pair_up(np.concatenate(codes_of_part), bits))
        pairs = np.unique(np.concatenate(candidates))
        return pairs >> int(bits), pairs & ((1 << int(bits)) - 1)

    def _keep_similar(self, low: Integers, high: Integers) -> tuple[Integers, Integers]:
        """The pairs that share enough terms, of which one at least is new."""
        fits = 2 * np.minimum(self._sizes[low], self._sizes[high]) >= LEAST_SHARED * (
            self._sizes[low] + self._sizes[high]
        )
        fits &= (self._group[low] == UNKNOWN) | (self._group[high] == UNKNOWN)
        low, high = low[fits], high[fits]
        by_number, by_rarity, weight = self._compare(low, high)
        is_similar = (by_number >= LEAST_SHARED) & (by_rarity >= LEAST_RARE) & (weight >= LEAST_WEIGHT)
        return low[is_similar], high[is_similar]

    def _compare(self, low: Integers, high: Integers) -> tuple[Floats, Floats, Floats]:
        """Of the common terms of pairs of rows: their share by number and weighted by rarity, and their
        weight.
        """
        by_number, by_rarity, weight = np.zeros((3, len(low)))
        ends = np.cumsum(self._sizes[low] + self._sizes[high])
        borders = np.searchsorted(ends, np.arange(0, int(ends[-1]) if len(ends) else 0, _BATCH))
        for start, stop in pairwise([*borders, len(low)]):
            count = int(stop - start)
            both = np.concatenate([low[start:stop], high[start:stop]])
            sizes = self._sizes[both]
            pair = np.repeat(np.tile(np.arange(count), 2), sizes)
            codes = (pair << 32) | self._terms[_spread(self._row_starts[both], sizes)]
            codes.sort()
            common = codes[1:][codes[1:] == codes[:-1]]
            shared = np.bincount(common >> 32, minlength=count)
            weights = self._weights[common & 0xFFFFFFFF]
            weight[start:stop] = rare = np.bincount(common >> 32, weights, minlength=count)
            of_both = self._row_weights[both]
            by_number[start:stop] = 2 * shared / (sizes[:count] + sizes[count:])
            by_rarity[start:stop] = 2 * rare / (of_both[:count] + of_both[count:])
        return by_number, by_rarity, weight

    def _align(self, low: Integers, high: Integers) -> tuple[Integers, Integers, Floats]:
        """The pairs that are copies by their words, with the share of these in the same order."""
        rows = np.unique(np.concatenate([low, high]))
        wordings = self._read_wordings(rows)
        similarity = np.array(
            [
                measure_copy(wordings[first], wordings[second], same)
                for first, second, same in zip(
                    low.tolist(), high.tolist(), self._are_of_one_source(low, high), strict=True
                )
            ],
            float,
        )
        copies = similarity > 0
        return low[copies], high[copies], similarity[copies]

    def _read_wordings(self, rows: Integers) -> dict[int, Wording]:
        numbers = self._order[rows]
        document = self._given.document[numbers]
        day = self._given.date[document] // DAY
        texts = self._given.read_texts(numbers)
        return dict(zip(rows.tolist(), read_wordings(texts, document, day), strict=True))

    def _is_copy(self, original: int, candidate: int) -> bool:
        rows = np.array([original, candidate])
        first, row = self._read_wordings(rows).values()
        return bool(measure_copy(first, row, *self._are_of_one_source(rows[:1], rows[1:])))

    def _are_of_one_source(self, low: Integers, high: Integers) -> list[bool] | list[None]:
        """Whether both rows are of one source; None in a collection of a single one."""
        source = self._given.source
        if (source == source[0]).all():
            return [None] * len(low)
        of_row = source[self._given.document[self._order]]
        same: list[bool] = (of_row[low] == of_row[high]).tolist()
        return same

    def _assign(self, low: Integers, high: Integers, similarity: Floats) -> Integers:
        """The group of each row. A row joins its most similar earlier row."""
        first_of: dict[int, int] = {}
        group = np.where(self._group > 0, self._group, NO_GROUP)
        known = np.flatnonzero(group)
        for row in known[::-1].tolist():
            first_of[int(group[row])] = row
        last = int(group.max(initial=0))
        best = np.lexsort((low, -similarity, high))
        low, high = low[best], high[best]
        # All comparisons with first sentences are made in the loop, of which there are few.
        parents: dict[int, list[int]] = {}
        for earlier, later in zip(low.tolist(), high.tolist(), strict=True):
            parents.setdefault(later, []).append(earlier)
        for row in sorted(parents):
            for parent in parents[row]:
                if group[row] and group[parent]:
                    break
                if group[row]:  # a new sentence that is dated before a known one
                    group[parent] = group[row]
                    break
                if not group[parent]:
                    last += 1
                    group[parent], first_of[last] = last, parent
                first = first_of[int(group[parent])]
                if first != parent and not self._is_copy(first, row):
                    continue
                group[row] = group[parent]
                break
        return group

    def _drop_stock(self, groups: Integers) -> Integers:
        """The groups without those within one document, and without stock text."""
        members = np.flatnonzero(groups)
        count = int(groups.max(initial=0)) + 1
        pairs = np.unique(groups[members].astype(np.int64) << 32 | self._given.document[members])
        documents = np.bincount(pairs >> 32, minlength=count)
        by_source = np.unique(pairs >> 32 << 32 | self._given.source[pairs & 0xFFFFFFFF])
        sources = np.bincount(by_source >> 32, minlength=count)
        is_stock = (documents >= STOCK_DOCUMENTS) & (documents >= STOCK_SHARE * sources)
        dropped = (documents < 2) | is_stock
        remaining: Integers = np.where(dropped[groups], NO_GROUP, groups)
        return remaining


def _pair_up(codes: npt.NDArray[np.uint64], bits: np.uint64) -> Integers:
    """The pairs of rows with the same key, as `earlier << bits | later`, each once.

    Codes have a key above `bits`, and a row below.
    """
    codes = np.sort(codes)
    keys, holders = codes >> bits, (codes & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    is_start = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_start[1:])
    lengths = np.diff(np.append(np.flatnonzero(is_start), len(keys)))
    length = np.repeat(lengths, lengths)
    pairs = [np.zeros(0, np.int64)]
    same = np.flatnonzero(~is_start)  # rows with an earlier one of the same key
    for distance in range(1, _LONG_RUN):
        same = same[same >= distance]
        same = same[keys[same] == keys[same - distance]]
        if distance > _NEXT:
            same = same[length[same] <= _LONG_RUN]
        if not len(same):
            break
        pairs.append(holders[same - distance] << int(bits) | holders[same])
    return np.unique(np.concatenate(pairs))


def _spread(starts: Integers, sizes: Integers) -> Integers:
    """The numbers from each start on, as many as its size, one range after another."""
    ends = np.cumsum(sizes)
    numbers: Integers = np.repeat(starts - (ends - sizes), sizes)
    numbers += np.arange(len(numbers))
    return numbers


def mix_numbers(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Pseudo-random numbers that follow from these, by SplitMix64."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
