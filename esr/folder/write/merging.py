"""Merges the remaining documents of segments into a new one, by columns, without decoding documents.

Its files equal those that `SegmentWriter` writes for these documents, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain, compress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from esr.errors import EsrError
from esr.folder.format.files import (
    Column,
    Mask,
    check_file,
    narrow,
    order_of_first,
    save_array,
    save_bytes,
    sync_written,
)
from esr.folder.format.manifest import period_of_segment
from esr.folder.format.segment import (
    LANGUAGE,
    LANGUAGES,
    PARAGRAPH,
    Segment,
    pack,
)
from esr.folder.format.strings import BlobTable, Content, StringTable, save_attributes
from esr.folder.format.words import (
    EncodedLists,
    WordTable,
    decode,
    rank_words,
    save_sorted_words,
    text_starts,
)
from esr.folder.write.merged_lists import (
    REMOVED,
    NumberLists,
    RemainingRows,
    UnitedTable,
    find_used,
    merge_lists,
    renumber_lists,
    sum_lists,
)
from esr.folder.write.reduction import reduce_postings
from esr.folder.write.segment_writer import new_segment
from esr.processes import map_together, run_together


class _Part(NamedTuple):
    """The remaining part of a segment."""

    segment: Segment
    documents: RemainingRows
    sentences: RemainingRows


def merge_segments(folder: Path, sources: Sequence[tuple[Segment, Mask]]) -> Segment | None:
    """Merge segments, of one period in a divided index, each with the mask of its remaining documents.

    Returns None if no document remains. Raises EsrError if the segment is read back differently.
    """
    segments, masks = [segment for segment, _ in sources], [mask for _, mask in sources]
    join_sentences = [
        np.repeat(mask, np.diff(segment.column("first")))
        for segment, mask in zip(segments, masks, strict=True)
    ]
    parts = list(map(_Part, segments, RemainingRows.number(masks), RemainingRows.number(join_sentences)))
    documents = sum(part.documents.total for part in parts)
    sentences = sum(part.sentences.total for part in parts)
    if not documents:
        return None
    period = period_of_segment(segments[0].folder.name)
    with new_segment(folder, period) as (path, checks):

        def save_others() -> None:
            for name, column in {**_row_columns(parts), **_save_terms(path, parts)}.items():
                save_array(path / f"{name}.npy", column)
            _save_attributes(path, parts)
            _save_documents(path, parts)
            sync_written()  # in parallel with the encoding of words

        run_together(save_others, lambda: _save_words(path, parts))
    results = map_together(lambda name: check_file(path / name), checks)
    damaged = [name for name, check in zip(checks, results, strict=True) if check[:2] != checks[name][:2]]
    segment = Segment(path)
    if damaged or (segment.document_count, segment.sentence_count) != (documents, sentences):
        raise EsrError(
            f"{path} has another {', '.join(damaged) or 'number of documents or sentences'} when read back, "
            "nothing was committed: check the disk and try again"
        )
    return segment


def _row_columns(parts: Sequence[_Part]) -> dict[str, Column]:
    """The columns with one value per document or per sentence."""

    def join_documents(name: str) -> Column:
        return np.concatenate([part.segment.column(name)[part.documents.remain] for part in parts])

    def join_sentences(name: str) -> Column:
        return np.concatenate([part.segment.column(name)[part.sentences.remain] for part in parts])

    sizes = np.concatenate([np.diff(part.segment.column("first"))[part.documents.remain] for part in parts])
    return {
        "first": np.concatenate([[0], np.cumsum(sizes)]),
        "document": narrow(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)),
        "date": join_documents("date"),
        "document_length": narrow(join_documents("document_length")),
        **{name: narrow(join_sentences(name)) for name in ("length", "surrounding_length", PARAGRAPH)},
        **{name: join_sentences(name) for name in ("document_likelihood", "surrounding_likelihood")},
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
        in_sentences.append([*NumberLists.from_rows(begins[0], sentences, segment.sentence_postings)])
        in_documents.append([*NumberLists.from_rows(begins[1], documents, segment.document_postings)])
        used = find_used(in_documents[-1], count)
        tables.append((table.hashes[used].tolist(), table.select(used), used))  # terms are in this order
    hashes, terms, new = UnitedTable.unite(tables)
    StringTable.save_content(path, "terms", terms, np.array(hashes, np.uint64))
    starts, (numbers, counts) = merge_lists(renumber_lists(in_sentences, new), len(hashes))
    columns = {
        "sentence_starts": narrow(starts),
        "occurrences": narrow(sum_lists(counts, starts)),
        **pack(numbers, counts),
    }
    starts, (numbers, counts) = merge_lists(renumber_lists(in_documents, new), len(hashes))
    join_documents = {"starts": starts, "numbers": numbers, "counts": counts}
    return columns | {f"document_{name}": narrow(column) for name, column in join_documents.items()}


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
    lists_of_parts, tables = [], []
    for part, mask in zip(parts, remain, strict=True):
        words = part.segment.words
        texts = np.concatenate([part.sentences.new, sentence_count + part.documents.new])
        lists = _read_positions(words, mask, starts[texts])
        used = find_used(lists, len(words))
        lists_of_parts.append(lists)
        tables.append(([0] * np.count_nonzero(used), words.select(used), used))
    _, strings, new = UnitedTable.unite(tables)
    renumbered = renumber_lists(lists_of_parts, new)
    counts = np.zeros(len(strings.lengths), np.int64)
    for part_lists in renumbered:
        counts[part_lists.numbers] += part_lists.lengths
    rank = rank_words(counts, int(starts[-1]))
    ranked = [part_lists.renumber(rank) for part_lists in renumbered]
    if len(parts) > 1:  # titles follow the sentences of all parts
        in_title = [part_lists.values[0] >= starts[sentence_count] for part_lists in ranked]
        ranked = [
            *(part_lists.select(~mask) for part_lists, mask in zip(ranked, in_title, strict=True)),
            *(part_lists.select(mask) for part_lists, mask in zip(ranked, in_title, strict=True)),
        ]
    _, (positions,) = merge_lists(ranked, len(counts))
    save_sorted_words(path, strings, counts, positions, text_lengths)


def _read_positions(words: WordTable, remain: Mask, starts: Column) -> list[NumberLists]:
    """The positions of all words in the remaining texts, if the texts begin at `starts`."""
    old_starts = text_starts(words.text_lengths)[:-1]
    shifts = np.where(remain, starts - old_starts, REMOVED)
    is_border = np.ones(len(shifts), bool)  # most neighbours have the same shift
    np.not_equal(shifts[1:], shifts[:-1], out=is_border[1:])
    borders, shifts = old_starts[is_border], shifts[is_border].astype(np.int32)
    of_words = words.read_positions()

    def read(encoded: EncodedLists) -> NumberLists:
        positions = decode(encoded)
        positions += _look_up(positions, borders, shifts)
        lists = NumberLists(of_words.words_of(encoded), encoded.lengths, (positions,))
        return lists.select(positions >= 0)

    groups = of_words.encoded_positions(range(len(words)))
    of_no_words = NumberLists(np.zeros(0, np.int64), np.zeros(0, np.int64), (np.zeros(0, np.int32),))
    return [of_no_words, *map_together(read, chain.from_iterable(group.split() for group in groups))]


MANY_BORDERS = 16
"""Number of borders from which a binary search is faster than a comparison with each."""


def _look_up(numbers: Column, borders: Column, values: Column) -> Column:
    """For each number, the value of the last border not above it. The first border is 0."""
    if len(borders) >= MANY_BORDERS:
        return values[np.searchsorted(borders, numbers, "right") - 1]
    results = np.full(len(numbers), values[0])
    for border, step in zip(borders[1:].tolist(), np.diff(values), strict=True):
        results += (numbers >= border) * step  # overflowing sums wrap around to the right result
    return results


def _save_attributes(path: Path, parts: Sequence[_Part]) -> None:
    """Write the table of attributes, without values that no remaining document has."""
    lists_of_parts, tables = [], []
    for part in parts:
        attributes = part.segment.attributes
        names, starts = attributes.names, attributes.starts
        lists_of_parts.append([*NumberLists.from_rows(starts, part.documents, attributes.read_documents)])
        used = find_used(lists_of_parts[-1], len(names))
        tables.append(([*compress(names, used.tolist())], attributes.select(used), used))
    names, values, new = UnitedTable.unite(tables)
    starts, (documents,) = merge_lists(renumber_lists(lists_of_parts, new), len(names))
    save_attributes(path, names, values, starts, documents)
