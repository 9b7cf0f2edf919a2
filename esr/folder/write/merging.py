"""Makes a segment of the remaining documents of others, from their columns: no document is decoded.

Its files are those that `SegmentWriter` writes for these documents, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from esr.errors import EsrError
from esr.folder.format.files import Column, Mask, Numbers, check_file, narrow, save_array, save_bytes
from esr.folder.format.segment import LANGUAGE, LANGUAGES, PARAGRAPH, Segment, pack
from esr.folder.format.strings import BlobTable, StringTable, save_attributes
from esr.folder.format.words import decode, rank_words, save_sorted_words, text_starts
from esr.folder.write.segment_writer import new_segment

Item = TypeVar("Item")


class _Rows(NamedTuple):
    """Which documents or sentences of a segment remain, and the number of each in the new segment."""

    remain: Mask
    new: Numbers
    count: int

    @classmethod
    def number(cls, masks: Sequence[Mask]) -> list[_Rows]:
        """Number what remains of each segment, one after another."""
        counts = [int(np.count_nonzero(mask)) for mask in masks]
        ends = np.cumsum(counts)
        return [
            cls(mask, np.cumsum(mask) + (end - count - 1), count)
            for mask, count, end in zip(masks, counts, ends.tolist(), strict=True)
        ]


class _Part(NamedTuple):
    """What remains of a segment."""

    segment: Segment
    documents: _Rows
    sentences: _Rows


def merge_segments(folder: Path, sources: Sequence[tuple[Segment, Mask]]) -> Segment | None:
    """Write a segment of others, each given with the mask of its documents that remain.

    Returns None if no document remains. Raises EsrError if the segment is read back differently.
    """
    segments, masks = [segment for segment, _ in sources], [mask for _, mask in sources]
    of_sentences = [
        np.repeat(mask, np.diff(segment.column("first")))
        for segment, mask in zip(segments, masks, strict=True)
    ]
    parts = list(map(_Part, segments, _Rows.number(masks), _Rows.number(of_sentences)))
    documents, sentences = (sum(part[n].count for part in parts) for n in (1, 2))
    if not documents:
        return None
    with new_segment(folder) as (path, checks):
        for name, column in {**_row_columns(parts), **_save_terms(path, parts)}.items():
            save_array(path / f"{name}.npy", column)
        _save_words(path, parts)
        _save_attributes(path, parts)
        _save_documents(path, parts)
    damaged = [name for name, check in checks.items() if check_file(path / name)[:2] != check[:2]]
    segment = Segment(path)
    if damaged or (segment.document_count, segment.sentence_count) != (documents, sentences):
        raise EsrError(
            f"{path} is read back with another {', '.join(damaged) or 'number of documents or sentences'}, "
            "nothing was committed: check the disk and try again"
        )
    return segment


# Documents and sentences


def _row_columns(parts: Sequence[_Part]) -> dict[str, Column]:
    """The columns of values that belong to a document or to a sentence."""

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
    texts = (part.segment.files.documents.get_many(np.flatnonzero(part.documents.remain)) for part in parts)
    BlobTable.save(path, "texts", [*chain.from_iterable(texts)])
    _save_ids(path, "documents", [(part.segment.document_ids, part.documents.remain) for part in parts])
    explicit = [part.segment.files.explicit_id_numbers for part in parts]
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
    strings = (table.get_encoded(np.flatnonzero(mask)) for table, mask in tables)
    hashes = np.concatenate([table.hashes_by_number[mask] for table, mask in tables])
    StringTable.save_encoded(path, name, [*chain.from_iterable(strings)], hashes)


def _renumber_labels(
    parts: Sequence[_Part], labels: Sequence[Sequence[str | None]], column: str
) -> tuple[list[str | None], Column]:
    """Number labels by first occurrence. Returns those that occur, and the new column of their numbers."""
    new: dict[str | None, int] = {}
    renumbered = []
    for part, of_part in zip(parts, labels, strict=True):
        numbers = part.segment.column(column)[part.documents.remain]
        used, places = np.unique(numbers, return_index=True)
        new_numbers = np.zeros(len(of_part), np.int32)
        for number in used[np.argsort(places)].tolist():
            new_numbers[number] = new.setdefault(of_part[number], len(new))
        renumbered.append(new_numbers[numbers])
    return list(new), np.concatenate(renumbered)


# Lists: of postings by term, of positions by word, of documents by attribute


class _Lists(NamedTuple):
    """Lists of values: the number of each list, its length, and all values, in columns of the same length.

    No two lists have the same number.
    """

    numbers: Numbers
    lengths: Numbers
    values: tuple[Column, ...]

    @classmethod
    def of_rows(cls, starts: Column, rows: _Rows, numbers: Column, *others: Column) -> _Lists:
        """Lists of the rows that remain, under their new numbers. List n begins at `starts[n]`."""
        lengths = np.diff(starts.astype(np.int64))
        lists = cls(np.arange(len(lengths)), lengths, (rows.new.astype(np.int32)[numbers], *others))
        return lists.select(rows.remain[numbers])

    def select(self, mask: Mask) -> _Lists:
        """The lists with only these of their values."""
        removed = np.flatnonzero(~mask)
        if not len(removed):
            return self
        list_of = np.searchsorted(np.cumsum(self.lengths), removed, "right")
        lengths = self.lengths - np.bincount(list_of, minlength=len(self.lengths))
        return _Lists(self.numbers, lengths, tuple(column[mask] for column in self.values))

    def used(self, count: int) -> Mask:
        """Mask of the numbers below `count` whose lists are not empty."""
        mask = np.zeros(count, bool)
        mask[self.numbers[self.lengths > 0]] = True
        return mask

    def renumber(self, new: Numbers) -> _Lists:
        """The lists that are not empty, under their new numbers."""
        used = self.lengths > 0
        return self._replace(numbers=new[self.numbers[used]], lengths=self.lengths[used])


def _merge(lists: Sequence[_Lists], count: int) -> tuple[Numbers, list[Column]]:
    """Concatenate the lists of the same number, in order. Returns the start of each, and all values."""
    starts = np.zeros(count + 1, np.int64)
    for each in lists:
        starts[each.numbers + 1] += each.lengths
    np.cumsum(starts, out=starts)
    columns = list(zip(*(each.values for each in lists), strict=True))
    if len(lists) == 1 and (np.diff(lists[0].numbers) > 0).all():
        return starts, list(lists[0].values)
    merged = [np.empty(starts[-1], np.result_type(*column)) for column in columns]
    ends = starts[:-1].copy()
    for each in lists:
        places = np.repeat(ends[each.numbers] - np.cumsum(each.lengths) + each.lengths, each.lengths)
        places += np.arange(len(places))
        for column, values in zip(merged, each.values, strict=True):
            column[places] = values
        ends[each.numbers] += each.lengths
    return starts, merged


def _unite(tables: Sequence[list[Item]], used: Sequence[Mask]) -> tuple[list[Item], list[Numbers]]:
    """The items of sorted tables in order, and by table the new number of each item.

    `used` are the masks of the items among all numbers of each table.
    """
    if len(tables) == 1:
        return tables[0], [np.cumsum(used[0]) - 1]
    items = sorted(set().union(*tables))  # type: ignore[type-var]
    number_of = {item: number for number, item in enumerate(items)}
    new = [np.zeros(len(mask), np.int64) for mask in used]
    for numbers, mask, table in zip(new, used, tables, strict=True):
        numbers[mask] = [number_of[item] for item in table]
    return items, new


def _save_terms(path: Path, parts: Sequence[_Part]) -> dict[str, Column]:
    """Write the table of the terms that still occur. Returns the columns of their postings."""
    in_sentences, in_documents, used, tables = [], [], [], []
    for segment, documents, sentences in parts:
        count = len(segment.terms)
        postings = segment.sentence_postings(0, count)
        in_sentences.append(_Lists.of_rows(segment.column("sentence_starts"), sentences, *postings))
        postings = segment.document_postings(0, count)
        in_documents.append(_Lists.of_rows(segment.column("document_starts"), documents, *postings))
        used.append(in_documents[-1].used(count))
        terms = map(bytes, segment.terms.get_encoded(np.flatnonzero(used[-1])))
        tables.append([*zip(segment.terms.hashes[used[-1]].tolist(), terms, strict=True)])
    united, new = _unite(tables, used)  # terms are numbered by hash
    hashes = np.array([hash for hash, _ in united], np.uint64)
    StringTable.save_encoded(path, "terms", [term for _, term in united], hashes)
    starts, (numbers, counts) = _merge(
        [lists.renumber(n) for lists, n in zip(in_sentences, new, strict=True)], len(united)
    )
    totals = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    columns = {
        "sentence_starts": narrow(starts),
        "occurrences": narrow(np.diff(totals[starts])),
        **pack(numbers, counts),
    }
    starts, (numbers, counts) = _merge(
        [lists.renumber(n) for lists, n in zip(in_documents, new, strict=True)], len(united)
    )
    of_documents = {"starts": starts, "numbers": numbers, "counts": counts}
    return columns | {f"document_{name}": narrow(column) for name, column in of_documents.items()}


def _save_words(path: Path, parts: Sequence[_Part]) -> None:
    """Write the word table, from the positions of the words that still occur."""
    sentence_count = sum(part.sentences.count for part in parts)
    remain = [np.concatenate([part.sentences.remain, part.documents.remain]) for part in parts]
    lengths = [
        np.split(part.segment.words.text_lengths[mask].astype(np.int64), [part.sentences.count])
        for part, mask in zip(parts, remain, strict=True)
    ]
    new_lengths = np.concatenate([*(of[0] for of in lengths), *(of[1] for of in lengths)])
    starts = text_starts(new_lengths)
    found, used, tables = [], [], []
    for part, mask in zip(parts, remain, strict=True):
        words = part.segment.words
        texts = np.concatenate([part.sentences.new, sentence_count + part.documents.new])
        old_lengths = words.text_lengths.astype(np.int64)
        shifts = starts[texts] - text_starts(old_lengths)[:-1]
        new_positions = np.repeat(shifts, old_lengths + 1)
        new_positions += np.arange(len(new_positions), dtype=np.int32)
        new_positions[np.repeat(~mask, old_lengths + 1)] = -1
        of_words, lists = words.read_positions(), []
        for encoded in of_words.encoded_positions(range(len(words))):
            positions = new_positions[decode(encoded)]
            of_group = _Lists(of_words.words_of(encoded), encoded.lengths, (positions,))
            lists.append(of_group.select(positions >= 0))
        found.append(lists)
        used.append(
            np.logical_or.reduce([np.zeros(len(words), bool), *(each.used(len(words)) for each in lists)])
        )
        tables.append([*map(bytes, words.get_encoded(np.flatnonzero(used[-1])))])
    united, new = _unite(tables, used)
    renumbered = [each.renumber(n) for lists, n in zip(found, new, strict=True) for each in lists]
    counts = np.zeros(len(united), np.int64)
    for each in renumbered:
        counts[each.numbers] += each.lengths
    rank = rank_words(counts, int(starts[-1]))
    ranked = [each.renumber(rank) for each in renumbered]
    if len(parts) > 1:  # titles follow the sentences of all parts
        in_title = [each.values[0] >= starts[sentence_count] for each in ranked]
        split = [*zip(ranked, in_title, strict=True)]
        ranked = [each.select(~mask) for each, mask in split] + [each.select(mask) for each, mask in split]
    _, (positions,) = _merge(ranked, len(united))
    save_sorted_words(path, united, counts, positions, new_lengths)


def _save_attributes(path: Path, parts: Sequence[_Part]) -> None:
    """Write the table of attributes, without values that no document has any more."""
    found, used, tables = [], [], []
    for part in parts:
        values, starts, documents = part.segment.attributes.read()
        found.append(_Lists.of_rows(starts, part.documents, documents))
        used.append(found[-1].used(len(values)))
        tables.append([values[number] for number in np.flatnonzero(used[-1]).tolist()])
    united, new = _unite(tables, used)
    lists = [each.renumber(n) for each, n in zip(found, new, strict=True)]
    starts, (documents,) = _merge(lists, len(united))
    save_attributes(path, united, starts, documents)
