"""Merges the remaining documents of segments into a new one, by columns, without decoding documents.

Its files equal those that `SegmentWriter` writes for these documents, byte for byte. If few documents of a
segment are removed, its postings are not unpacked: the numbers of later documents and sentences are reduced
in the stored columns, chunk by chunk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from esr.errors import EsrError
from esr.folder.format.files import (
    Column,
    Mask,
    Numbers,
    check_file,
    narrow,
    order_of_first,
    save_array,
    save_bytes,
    sync_written,
)
from esr.folder.format.segment import (
    COUNT_BITS,
    LANGUAGE,
    LANGUAGES,
    PARAGRAPH,
    POSTINGS,
    Segment,
    pack,
    unpack,
)
from esr.folder.format.strings import BlobTable, Content, StringTable, save_attributes
from esr.folder.format.words import (
    EncodedLists,
    WordTable,
    decode,
    rank_words,
    save_sorted_words,
    split_lists,
    text_starts,
)
from esr.folder.write.segment_writer import new_segment
from esr.processes import map_together, run_together


class _Rows(NamedTuple):
    """The mask of the remaining documents or sentences of a segment, and their new numbers."""

    remain: Mask
    new: Numbers
    total: int

    @classmethod
    def number(cls, masks: Sequence[Mask]) -> list[_Rows]:
        """Number the remaining rows of the segments, one segment after another."""
        counts = [int(np.count_nonzero(mask)) for mask in masks]
        ends = np.cumsum(counts)
        return [
            cls(mask, np.cumsum(mask) + (end - count - 1), count)
            for mask, count, end in zip(masks, counts, ends.tolist(), strict=True)
        ]


class _Part(NamedTuple):
    """The remaining part of a segment."""

    segment: Segment
    documents: _Rows
    sentences: _Rows


def merge_segments(folder: Path, sources: Sequence[tuple[Segment, Mask]]) -> Segment | None:
    """Merge segments, each given with the mask of its remaining documents, into one.

    Returns None if no document remains. Raises EsrError if the segment is read back differently.
    """
    segments, masks = [segment for segment, _ in sources], [mask for _, mask in sources]
    of_sentences = [
        np.repeat(mask, np.diff(segment.column("first")))
        for segment, mask in zip(segments, masks, strict=True)
    ]
    parts = list(map(_Part, segments, _Rows.number(masks), _Rows.number(of_sentences)))
    documents = sum(part.documents.total for part in parts)
    sentences = sum(part.sentences.total for part in parts)
    if not documents:
        return None
    with new_segment(folder) as (path, checks):

        def save_others() -> None:
            for name, column in {**_row_columns(parts), **_save_terms(path, parts)}.items():
                save_array(path / f"{name}.npy", column)
            _save_attributes(path, parts)
            _save_documents(path, parts)
            sync_written()  # in parallel with the encoding of words

        run_together(save_others, lambda: _save_words(path, parts))
    found = map_together(lambda name: check_file(path / name), checks)
    damaged = [name for name, check in zip(checks, found, strict=True) if check[:2] != checks[name][:2]]
    segment = Segment(path)
    if damaged or (segment.document_count, segment.sentence_count) != (documents, sentences):
        raise EsrError(
            f"{path} has another {', '.join(damaged) or 'number of documents or sentences'} when read back, "
            "nothing was committed: check the disk and try again"
        )
    return segment


# Documents and sentences


def _row_columns(parts: Sequence[_Part]) -> dict[str, Column]:
    """The columns with one value per document or per sentence."""

    def of_documents(name: str) -> Column:
        return np.concatenate([part.segment.column(name)[part.documents.remain] for part in parts])

    def of_sentences(name: str) -> Column:
        return np.concatenate([part.segment.column(name)[part.sentences.remain] for part in parts])

    sizes = np.concatenate([np.diff(part.segment.column("first"))[part.documents.remain] for part in parts])
    return {
        "first": np.concatenate([[0], np.cumsum(sizes)]),
        "document": narrow(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)),
        "date": of_documents("date"),
        "document_length": narrow(of_documents("document_length")),
        **{name: narrow(of_sentences(name)) for name in ("length", "surrounding_length", PARAGRAPH)},
        **{name: of_sentences(name) for name in ("document_likelihood", "surrounding_likelihood")},
    }


def _save_documents(path: Path, parts: Sequence[_Part]) -> None:
    """Write the texts, the ids, and the sources and languages with their numbers."""
    texts = [part.segment.documents.select(part.documents.remain) for part in parts]
    BlobTable.save_content(path, "texts", _concatenate(texts))
    _save_ids(path, "documents", [(part.segment.document_ids, part.documents.remain) for part in parts])
    explicit = [part.segment.explicit_id_numbers for part in parts]
    remain = [part.sentences.remain[numbers] for part, numbers in zip(parts, explicit, strict=True)]
    _save_ids(path, "given", [(part.segment.explicit_ids, m) for part, m in zip(parts, remain, strict=True)])
    new = [part.sentences.new[of[mask]] for part, of, mask in zip(parts, explicit, remain, strict=True)]
    save_array(path / "given_at.npy", np.concatenate(new))
    labels, numbers = _renumber_labels(parts, [part.segment.sources for part in parts], "source")
    save_array(path / "source.npy", numbers)
    save_bytes(path / "sources.json", [json.dumps(labels).encode()])
    labels, numbers = _renumber_labels(parts, [part.segment.languages for part in parts], LANGUAGE)
    save_array(path / f"{LANGUAGE}.npy", narrow(numbers))
    save_bytes(path / LANGUAGES, [json.dumps(labels).encode()])


def _save_ids(path: Path, name: str, tables: Sequence[tuple[StringTable, Mask]]) -> None:
    """Write these strings of the tables, in their order."""
    strings = _concatenate([table.select(mask) for table, mask in tables])
    hashes = np.concatenate([table.hashes_by_number[mask] for table, mask in tables])
    StringTable.save_content(path, name, strings, hashes)


def _concatenate(contents: Sequence[Content]) -> Content:
    pieces, lengths = zip(*contents, strict=True)
    return Content([*chain.from_iterable(pieces)], np.concatenate(lengths))


def _renumber_labels(
    parts: Sequence[_Part], labels: Sequence[Sequence[str | None]], column: str
) -> tuple[list[str | None], Column]:
    """Number labels by first occurrence. Returns those that occur, and the new column of their numbers."""
    new: dict[str | None, int] = {}
    renumbered = []
    for part, of_part in zip(parts, labels, strict=True):
        numbers = part.segment.column(column)[part.documents.remain]
        new_numbers = np.zeros(len(of_part), np.int32)
        for number in order_of_first(numbers, len(of_part)).tolist():
            new_numbers[number] = new.setdefault(of_part[number], len(new))
        renumbered.append(new_numbers[numbers])
    return list(new), np.concatenate(renumbered)


# Lists: of postings by term, of positions by word, of documents by attribute


_REMOVED = np.iinfo(np.int32).min
"""The number of a removed row. As the shift of a removed text's positions, it makes them negative."""


_MANY_KEPT = 256
"""If at most one in this many values is removed, runs of the others are copied."""


class _Lists(NamedTuple):
    """Lists of values: the number of each list, its length, and all values, in columns of the same length.

    No two lists have the same number.
    """

    numbers: Numbers
    lengths: Numbers
    values: tuple[Column, ...]

    @classmethod
    def of_rows(
        cls, starts: Column, rows: _Rows, read: Callable[[int, int], Sequence[Column]]
    ) -> Iterator[_Lists]:
        """Yield the lists of the rows that remain, under their new numbers, consecutive lists together.

        List n begins at `starts[n]`. `read` returns the rows of a range of lists, then their other columns.
        """
        starts = starts.astype(np.int64)
        new = np.where(rows.remain, rows.new, _REMOVED).astype(np.int32)
        for first, last in split_lists(starts):
            numbers, *others = read(first, last)
            numbers = new[numbers]
            lists = cls(np.arange(first, last), np.diff(starts[first : last + 1]), (numbers, *others))
            yield lists.select(numbers >= 0)

    def select(self, mask: Mask) -> _Lists:
        """The lists restricted to the values of the mask."""
        if mask.all():
            return self
        removed = np.flatnonzero(~mask)
        list_of = np.searchsorted(np.cumsum(self.lengths), removed, "right")
        lengths = self.lengths - np.bincount(list_of, minlength=len(self.lengths))
        if _MANY_KEPT * len(removed) > len(mask):
            return _Lists(self.numbers, lengths, tuple(column[mask] for column in self.values))
        pieces = [*kept_runs(removed, len(mask))]  # a mask would take several times as long
        values = tuple(np.concatenate([column[piece] for piece in pieces]) for column in self.values)
        return _Lists(self.numbers, lengths, values)

    def renumber(self, new: Numbers) -> _Lists:
        """The nonempty lists under their new numbers."""
        used = self.lengths > 0
        return self._replace(numbers=new[self.numbers[used]], lengths=self.lengths[used])


def _merge(lists: Sequence[_Lists], count: int) -> tuple[Numbers, list[Column]]:
    """Concatenate lists with the same number, in order. Returns the start of each list, and all values."""
    numbers = np.concatenate([each.numbers for each in lists])
    lengths = np.concatenate([each.lengths for each in lists])
    starts = np.zeros(count + 1, np.int64)
    np.add.at(starts, numbers + 1, lengths)
    # Consecutive lists that stay adjacent form one piece.
    order = np.argsort(numbers, kind="stable")
    is_first = np.diff(order, prepend=-2) != 1
    ends = np.concatenate([[0], np.cumsum(lengths)])
    pieces = _locate(
        ends[order[is_first]], ends[order[np.roll(is_first, -1)] + 1], [len(each.values[0]) for each in lists]
    )
    merged = [
        np.concatenate([columns[n][piece] for n, piece in pieces])
        for columns in zip(*(each.values for each in lists), strict=True)
    ]
    return np.cumsum(starts), merged


def _locate(begins: Numbers, stops: Numbers, sizes: Sequence[int]) -> list[tuple[int, slice]]:
    """Locate the pieces from `begins` to `stops` of an array that is split into parts of these sizes."""
    borders = np.concatenate([[0], np.cumsum(sizes)])
    firsts = np.searchsorted(borders, begins, "right") - 1
    lasts = np.searchsorted(borders, stops, "left")
    starts = borders.tolist()
    pieces = [
        (part, slice(max(begin - starts[part], 0), stop - starts[part]))
        for begin, stop, first, last in zip(
            *(column.tolist() for column in (begins, stops, firsts, lasts)), strict=True
        )
        for part in range(first, last)
    ]
    return pieces or [(0, slice(0))]


class _United(NamedTuple):
    """The distinct strings of several tables, in order, and by table the new number of each string.

    They are ordered by key: the hash of a term, the name of an attribute.
    """

    keys: list[Any]
    strings: Content
    new: list[Numbers]

    @classmethod
    def unite(cls, tables: Sequence[tuple[list[Any], Content, Mask]]) -> _United:
        """`tables` have the keys of the strings still in use, these strings, and their mask."""
        if len(tables) == 1:
            keys, strings, used = tables[0]
            return cls(keys, strings, [np.cumsum(used) - 1])
        items = [[*zip(keys, strings.split(), strict=True)] for keys, strings, _ in tables]
        united = sorted(set(chain.from_iterable(items)))
        number_of = {item: number for number, item in enumerate(united)}
        new = [np.zeros(len(used), np.int64) for _, _, used in tables]
        for numbers, of_table, (_, _, used) in zip(new, items, tables, strict=True):
            numbers[used] = [number_of[item] for item in of_table]
        return cls([key for key, _ in united], Content.join([string for _, string in united]), new)


def _renumber(lists: Sequence[Sequence[_Lists]], new: Sequence[Numbers]) -> list[_Lists]:
    """The lists of all segments under their new numbers, `new` by segment."""
    return [
        each.renumber(numbers) for of_segment, numbers in zip(lists, new, strict=True) for each in of_segment
    ]


def _find_used(lists: Sequence[_Lists], count: int) -> Mask:
    """Mask of the nonempty ones among `count` lists of a segment."""
    used = np.zeros(count, bool)
    for each in lists:
        used[each.numbers] = each.lengths > 0
    return used


def _save_terms(path: Path, parts: Sequence[_Part]) -> dict[str, Column]:
    """Write the table of the terms still in use. Returns the columns of their postings."""
    if len(parts) == 1 and (reduced := reduce_postings(parts[0].segment, parts[0].documents.remain)):
        table, used = parts[0].segment.terms, reduced.used
        StringTable.save_content(path, "terms", table.select(used), table.hashes[used])
        return reduced.columns
    in_sentences, in_documents, tables = [], [], []
    for segment, documents, sentences in parts:
        table, count = segment.terms, len(segment.terms)
        begins = segment.column("sentence_starts"), segment.column("document_starts")
        in_sentences.append([*_Lists.of_rows(begins[0], sentences, segment.sentence_postings)])
        in_documents.append([*_Lists.of_rows(begins[1], documents, segment.document_postings)])
        used = _find_used(in_documents[-1], count)
        tables.append((table.hashes[used].tolist(), table.select(used), used))  # terms are in this order
    hashes, terms, new = _United.unite(tables)
    StringTable.save_content(path, "terms", terms, np.array(hashes, np.uint64))
    starts, (numbers, counts) = _merge(_renumber(in_sentences, new), len(hashes))
    columns = {
        "sentence_starts": narrow(starts),
        "occurrences": narrow(_sum_lists(counts, starts)),
        **pack(numbers, counts),
    }
    starts, (numbers, counts) = _merge(_renumber(in_documents, new), len(hashes))
    of_documents = {"starts": starts, "numbers": numbers, "counts": counts}
    return columns | {f"document_{name}": narrow(column) for name, column in of_documents.items()}


def _sum_lists(values: Column, starts: Numbers) -> Numbers:
    """The sum of each list, 0 for an empty one."""
    sums, used = np.zeros(len(starts) - 1, np.int64), np.diff(starts) > 0
    if used.any():
        sums[used] = np.add.reduceat(values, starts[:-1][used], dtype=np.int64)
    return sums


def _save_words(path: Path, parts: Sequence[_Part]) -> None:
    """Write the word table from the positions of the words still in use."""
    sentence_count = sum(part.sentences.total for part in parts)
    remain = [np.concatenate([part.sentences.remain, part.documents.remain]) for part in parts]
    lengths = [
        np.split(part.segment.words.text_lengths[mask].astype(np.int64), [part.sentences.total])
        for part, mask in zip(parts, remain, strict=True)
    ]
    text_lengths = np.concatenate([*(of[0] for of in lengths), *(of[1] for of in lengths)])
    starts = text_starts(text_lengths)
    found, tables = [], []
    for part, mask in zip(parts, remain, strict=True):
        words = part.segment.words
        texts = np.concatenate([part.sentences.new, sentence_count + part.documents.new])
        lists = _read_positions(words, mask, starts[texts])
        used = _find_used(lists, len(words))
        found.append(lists)
        tables.append(([0] * np.count_nonzero(used), words.select(used), used))
    _, strings, new = _United.unite(tables)
    renumbered = _renumber(found, new)
    counts = np.zeros(len(strings.lengths), np.int64)
    for each in renumbered:
        counts[each.numbers] += each.lengths
    rank = rank_words(counts, int(starts[-1]))
    ranked = [each.renumber(rank) for each in renumbered]
    if len(parts) > 1:  # titles follow the sentences of all parts
        in_title = [each.values[0] >= starts[sentence_count] for each in ranked]
        ranked = [
            *(each.select(~mask) for each, mask in zip(ranked, in_title, strict=True)),
            *(each.select(mask) for each, mask in zip(ranked, in_title, strict=True)),
        ]
    _, (positions,) = _merge(ranked, len(counts))
    save_sorted_words(path, strings, counts, positions, text_lengths)


def _read_positions(words: WordTable, remain: Mask, starts: Column) -> list[_Lists]:
    """The positions of all words in the remaining texts, if the texts begin at `starts`."""
    old_starts = text_starts(words.text_lengths)[:-1]
    shifts = np.where(remain, starts - old_starts, _REMOVED)
    is_border = np.ones(len(shifts), bool)  # most neighbours have the same shift
    np.not_equal(shifts[1:], shifts[:-1], out=is_border[1:])
    borders, shifts = old_starts[is_border], shifts[is_border].astype(np.int32)
    of_words = words.read_positions()

    def read(encoded: EncodedLists) -> _Lists:
        positions = decode(encoded)
        positions += _look_up(positions, borders, shifts)
        lists = _Lists(of_words.words_of(encoded), encoded.lengths, (positions,))
        return lists.select(positions >= 0)

    groups = of_words.encoded_positions(range(len(words)))
    of_no_words = _Lists(np.zeros(0, np.int64), np.zeros(0, np.int64), (np.zeros(0, np.int32),))
    return [of_no_words, *map_together(read, chain.from_iterable(group.split() for group in groups))]


_MANY_BORDERS = 16
"""Number of borders from which a binary search is faster than a comparison with each."""


def _look_up(numbers: Column, borders: Column, values: Column) -> Column:
    """For each number, the value of the last border not above it. The first border is 0."""
    if len(borders) >= _MANY_BORDERS:
        return values[np.searchsorted(borders, numbers, "right") - 1]
    found = np.full(len(numbers), values[0])
    for border, step in zip(borders[1:].tolist(), np.diff(values), strict=True):
        found += (numbers >= border) * step  # overflowing sums wrap around to the right result
    return found


def _save_attributes(path: Path, parts: Sequence[_Part]) -> None:
    """Write the table of attributes, without values that no remaining document has."""
    found, tables = [], []
    for part in parts:
        attributes = part.segment.attributes
        names, starts = attributes.names, attributes.starts
        found.append([*_Lists.of_rows(starts, part.documents, attributes.read_documents)])
        used = _find_used(found[-1], len(names))
        tables.append(([*compress(names, used.tolist())], attributes.select(used), used))
    names, values, new = _United.unite(tables)
    starts, (documents,) = _merge(_renumber(found, new), len(names))
    save_attributes(path, names, values, starts, documents)


# Postings of a segment of which nearly all remains

_MAX_RUNS = 8
"""Maximum number of runs of removed documents. Each is compared with all postings."""
_CHUNK = 1 << 17
"""Number of postings that fit into the processor's cache."""

Run = tuple[int, int]
"""Consecutive removed numbers: the first one, and the first one after them."""


class Reduced(NamedTuple):
    """The columns of the remaining postings, and the mask of the terms with any."""

    columns: dict[str, Column]
    used: Mask


def reduce_postings(segment: Segment, remain: Mask) -> Reduced | None:
    """The postings of the documents of this mask, as a merge writes them; None if a merge is needed.

    A merge is needed if there are too many runs of removed documents, or if the packing of postings may
    change.
    """
    runs = _find_runs(remain)
    packed, bits = segment.column(POSTINGS), segment.count_bits
    if len(runs) > _MAX_RUNS or packed.dtype != np.int32:
        return None
    first = segment.column("first").tolist()
    sentences = [(first[start] << bits, first[stop] << bits) for start, stop in runs]
    starts = segment.column("sentence_starts").astype(np.int64)
    removed = _find_places(packed, sentences)
    _, counts = unpack(packed[removed], bits)
    if int(counts.max(initial=0)).bit_length() == bits:  # the posting with the greatest count may be removed
        return None
    terms = np.searchsorted(starts, removed, "right") - 1
    occurrences = segment.column("occurrences").astype(np.int64)
    occurrences -= np.bincount(terms, counts, len(occurrences)).astype(np.int64)
    lengths = np.diff(starts) - np.bincount(terms, minlength=len(occurrences))
    numbers, document_starts = segment.column("document_numbers"), segment.column("document_starts")
    removed_documents = _find_places(numbers, runs)
    terms = np.searchsorted(document_starts, removed_documents, "right") - 1
    document_lengths: Column = np.diff(document_starts.astype(np.int64))
    document_lengths = document_lengths - np.bincount(terms, minlength=len(occurrences))
    used: Mask = document_lengths > 0
    columns = {
        "sentence_starts": _to_starts(lengths[used]),
        "occurrences": narrow(occurrences[used]),
        POSTINGS: _move_up(packed, removed, sentences),
        COUNT_BITS: segment.column(COUNT_BITS),
        "document_starts": _to_starts(document_lengths[used]),
        "document_numbers": narrow(_move_up(numbers, removed_documents, runs)),
        "document_counts": narrow(_move_up(segment.column("document_counts"), removed_documents, ())),
    }
    return Reduced(columns, used)


def kept_runs(removed: Numbers, length: int) -> Iterator[slice]:
    """Yield the runs, possibly empty, between the removed positions of a column of this length."""
    for before, end in pairwise([-1, *removed.tolist(), length]):
        yield slice(before + 1, end)


def _find_runs(remain: Mask) -> list[Run]:
    borders = np.flatnonzero(np.diff(~remain, prepend=False, append=False)).tolist()
    return [*zip(borders[::2], borders[1::2], strict=True)]


def _chunks(column: Column) -> Iterator[tuple[int, Column]]:
    """Yield parts of a column, each with its start."""
    unsigned = _as_unsigned(column)
    for start in range(0, len(column), _CHUNK):
        yield start, unsigned[start : start + _CHUNK]


def _as_unsigned(column: Column) -> Column:
    """View a column without negative values as unsigned."""
    return column.view(f"u{column.itemsize}")


def _find_places(column: Column, runs: Sequence[Run]) -> Numbers:
    """The positions of the removed values of a column."""
    greatest = np.iinfo(_as_unsigned(column).dtype).max
    runs = [run for run in runs if run[0] <= greatest]
    found = [np.zeros(0, np.int64)]
    for begin, values in _chunks(column):
        is_removed = np.zeros(len(values), bool)
        for start, stop in runs:
            is_removed |= values - values.dtype.type(start) < stop - start  # smaller values wrap around
        found.append(np.flatnonzero(is_removed) + begin)
    return np.concatenate(found)


def _move_up(column: Column, removed: Numbers, runs: Sequence[Run]) -> Column:
    """The column without the values at the removed positions; others are reduced by the removals before."""
    kept: Column = np.empty(len(column) - len(removed), column.dtype)
    unsigned, end = _as_unsigned(kept), 0
    greatest = np.iinfo(unsigned.dtype).max
    runs = [run for run in runs if run[1] <= greatest]
    for begin, values in _chunks(column):
        moved = values
        for start, stop in runs:
            moved = moved - (values >= stop) * values.dtype.type(stop - start)
        first, last = np.searchsorted(removed, (begin, begin + len(values))).tolist()
        for kept_run in kept_runs(removed[first:last] - begin, len(values)):
            piece = moved[kept_run]
            unsigned[end : end + len(piece)] = piece
            end += len(piece)
    return kept


def _to_starts(lengths: Column) -> Column:
    return narrow(np.concatenate([[0], np.cumsum(lengths)]))
