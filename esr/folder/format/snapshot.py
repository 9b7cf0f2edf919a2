"""A snapshot, one commit opened for reading, with statistics over its segments.

Statistics do not depend on layers, so commits of enrichment reuse them. The module also finds new documents
whose content a commit has under another id, and surveys the terms of segments.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.damage import Part, SegmentDamaged, parts_of, require_intact
from esr.folder.format.files import Mask, Numbers, map_bundle, size_on_disk
from esr.folder.format.layer_info import LAYERS, LayerInfo
from esr.folder.format.layers import Layer
from esr.folder.format.manifest import SEGMENTS, Manifest
from esr.folder.format.segment import FILES_OF_SEGMENT, LANGUAGE, Segment
from esr.index.questions import PeriodContent
from esr.index.similarities import find_main_encoder
from esr.plans.evaluate import Array
from esr.plans.plan import CollectionStatistics, TermStatistics
from esr.processes import allow_open_files
from esr.stdlib import cached_property, hash64
from esr.text.analysis.term_survey import FREQUENT_SHARE, LONG_SENTENCE, TermSurvey, most_frequent
from esr.text.analyzer_definitions import language_group
from esr.text.dates import format_moment
from esr.text.document import Document
from esr.text.periods import UNDATED, period_range
from esr.text.sentence_enrichment import REUSE, TABLE
from esr.wording import count, list_examples


class DocumentTable(NamedTuple):
    """Columns of the D documents of a commit, each of shape (D,). Sentences are numbered over all segments.

    `first` is the ordinal of a document's first sentence, `size` its number of sentences, `length` its number
    of terms c(d), `shortest` and `longest` the number of terms in its shortest and longest sentence (0
    without sentences). `document_bases`, of shape (segments + 1,), is the number of each segment's first
    document.
    """

    first: Numbers
    size: Numbers
    length: Array
    shortest: Array
    longest: Array
    document_bases: Numbers


def make_document_table(segments: Sequence[Segment], sentence_bases: Sequence[int]) -> DocumentTable:
    """Build the table of these segments. `sentence_bases` are the ordinals of their first sentences."""
    first = [s.column("first")[:-1] + base for s, base in zip(segments, sentence_bases, strict=False)]
    size = [np.diff(segment.column("first")) for segment in segments]
    length = [segment.column("document_length").astype(float) for segment in segments]
    extremes = [segment.sentence_length_range for segment in segments]
    document_bases = np.cumsum([0, *map(len, size)])
    return DocumentTable(
        np.concatenate([np.zeros(0, np.int64), *first]),
        np.concatenate([np.zeros(0, np.int64), *size]),
        np.concatenate([np.zeros(0), *length]),
        np.concatenate([np.zeros(0), *(shortest for shortest, _ in extremes)]),
        np.concatenate([np.zeros(0), *(longest for _, longest in extremes)]),
        document_bases,
    )


def reduce_by_document(
    ufunc: np.ufunc, values: npt.NDArray[np.generic], table: DocumentTable, empty: float
) -> Array:
    """Reduce values of sentences over each document, to shape (D,); `empty` where there is no sentence."""
    reduced = np.full(len(table.size), empty)
    has_sentences = table.size > 0
    if has_sentences.any():
        reduced[has_sentences] = ufunc.reduceat(values, table.first[has_sentences])
    return reduced


IMPORTANCE = ("importance", "importance_surrounding")
"""Names of the importance priors."""
MAX_TERM_ENTRIES = 20_000
"""Maximum number of cached term entries."""
_MAX_PARTS = 64
"""Maximum number of ranges of segments whose terms are kept."""


class TermEntry(NamedTuple):
    """A term in a commit.

    `numbers` are its numbers in each segment, None where it is missing. `posting_ranges` has four numbers for
    each segment: the start and the end of its postings in sentences, then of those in documents.
    """

    statistics: TermStatistics
    numbers: tuple[int | None, ...]
    posting_ranges: tuple[int, ...]


class CommitStatistics:
    """Statistics over all segments of a commit: documents, terms, importance priors.

    Threads share it. Two threads may compute a lazy value twice, with the same result.
    """

    def __init__(self, segments: Sequence[Segment], by_language: bool = False) -> None:
        """`by_language`: terms are marked by language, and each has the statistics of its language."""
        # Without layers: the statistics outlive commits that replace layers.
        self.segments: list[Segment] = [Segment(segment.folder, opened=segment) for segment in segments]
        self.sentence_bases: list[int] = [0, *accumulate(segment.sentence_count for segment in segments)]
        """The ordinal of each segment's first sentence, and the total number of sentences."""
        self._term_entries: dict[str, TermEntry] = {}
        self._is_by_language = by_language
        self._live = range(len(self.segments))
        self._parts: dict[range, CommitStatistics] = {}
        self._collections: dict[str, CollectionStatistics] = {}

    @cached_property
    def document_table(self) -> DocumentTable:
        return make_document_table(self.segments, self.sentence_bases)

    @cached_property
    def collection(self) -> CollectionStatistics:
        return _sum_collections(_collection_statistics(segment) for segment in self.segments)

    @cached_property
    def languages(self) -> Mapping[str | None, int]:
        """The number of documents that declare each language; None for documents that declare none."""
        documents: Counter[str | None] = Counter()
        for segment in self.segments:
            counts = np.bincount(segment.column(LANGUAGE), minlength=len(segment.languages)).tolist()
            documents.update(dict(zip(segment.languages, counts, strict=True)))
        return documents

    def collection_in(self, language: str) -> CollectionStatistics:
        """The statistics of the documents of a language, by its code (`language_group`)."""
        if language not in self._collections:
            parts = (_collection_statistics(s, _document_groups(s) == language) for s in self.segments)
            self._collections[language] = _sum_collections(parts)
        return self._collections[language]

    def within(self, live: range) -> CommitStatistics:
        """The same, except that terms have postings only in these segments; the others are not read."""
        if live == self._live:
            return self
        part = self._parts.get(live)
        if part is None:
            if len(self._parts) >= _MAX_PARTS:
                self._parts.clear()
            document_table = self.document_table  # which all parts share
            part = self._parts[live] = copy(self)
            part._live, part._term_entries, part._parts = live, {}, {}
            part.__dict__["document_table"] = document_table
        return part

    def find(self, term: str) -> TermEntry:
        """Look up a term. A term that is in no segment has an entry with zeros."""
        entry = self._term_entries.get(term)
        if entry is None:
            hash = hash64(term)
            live, last = self._live, len(self.segments)
            live_numbers = [
                segment.terms.find(term, hash) for segment in self.segments[live.start : live.stop]
            ]
            numbers = (*[None] * live.start, *live_numbers, *[None] * (last - live.stop))
            ranges = tuple([s.posting_ranges(n) for s, n in zip(self.segments, numbers, strict=True)])
            sf = df = occurrences = 0
            for segment, number, bounds in zip(self.segments, numbers, ranges, strict=True):
                sf, df = sf + bounds[1] - bounds[0], df + bounds[3] - bounds[2]
                occurrences += segment.occurrences(number)
            flat = tuple([end for bounds in ranges for end in bounds])
            entry = TermEntry(TermStatistics(sf, df, occurrences), numbers, flat)
            if len(self._term_entries) >= MAX_TERM_ENTRIES:
                self._term_entries.clear()
            self._term_entries[term] = entry
        return entry

    @cached_property
    def importance(self) -> list[dict[str, Array]]:
        """The importance priors of each segment's sentences, by name."""
        return [self.importance_of(owner, {}, 0) for owner in range(len(self.segments))]

    def importance_of(
        self, owner: int, outside: Mapping[str, int], total: int | Mapping[str, int]
    ) -> dict[str, Array]:
        """Compute the importance priors of a segment's sentences, by name.

        log p(d|s) = sum of c(t,s) log p(t|d) - sum of c(t,s) log p(t). The first sum is stored; the second
        depends on all segments. `outside` are occurrences of terms outside this index, `total` their sum,
        or their sums by language.
        """
        segment = self.segments[owner]
        log_background = np.log(self.background(owner, outside, total))
        weights = np.repeat(log_background, np.diff(segment.column("sentence_starts")))
        sentences, counts = segment.sentence_postings(0, len(segment.terms))
        weights *= counts
        collection = np.bincount(sentences, weights, segment.sentence_count)
        return {name: column - collection for name, column in segment.log_likelihoods.items()}

    def background(self, owner: int, outside: Mapping[str, int], total: int | Mapping[str, int]) -> Array:
        """p(t|C) of a segment's terms over the whole collection, including occurrences outside this index.

        With terms by language, C are the documents of the term's language. A term that occurs only in titles
        counts as one occurrence.
        """
        segment = self.segments[owner]
        occurrences = segment.column("occurrences").astype(np.int64)
        for other in self.segments:
            if other is not segment and len(other.terms):
                # Terms are matched by hash: collisions of 64 bits are not expected.
                shared = other.terms.contains_hashes(segment.terms.hashes)
                places = np.searchsorted(other.terms.hashes, segment.terms.hashes[shared])
                occurrences[shared] += other.column("occurrences")[places]
        if outside:
            occurrences += [outside.get(segment.terms[n], 0) for n in range(len(segment.terms))]
        return np.asarray(np.maximum(occurrences, 1) / self._occurrences(segment, total))

    def _occurrences(self, segment: Segment, outside: int | Mapping[str, int]) -> Any:
        """The denominator of p(t|C) in occurrences: one number, or one for each of a segment's terms."""
        if not self._is_by_language:
            assert isinstance(outside, int)
            return max(self.collection.occurrences + outside, 1)
        by_language = outside if isinstance(outside, Mapping) else {}
        # A term's language is that of any document with it.
        documents = segment.column("document_numbers")[segment.column("document_starts")[:-1]]
        groups, numbers = np.unique(_document_groups(segment)[documents], return_inverse=True)
        totals = [self.collection_in(code).occurrences + by_language.get(code, 0) for code in groups.tolist()]
        return np.maximum(np.array(totals, np.int64), 1)[numbers]


def _document_groups(segment: Segment) -> npt.NDArray[np.str_]:
    """The language of each document of a segment, as a code of `language_group`."""
    groups = np.array([language_group(language) for language in segment.languages] or [""])
    return np.asarray(groups[segment.column(LANGUAGE)])


def _sum_collections(parts: Iterable[CollectionStatistics]) -> CollectionStatistics:
    """The statistics of all parts of a collection."""
    parts = list(parts)
    names = {*CollectionStatistics.__struct_fields__} - {"longest_sentence", "bounds"}
    return CollectionStatistics(
        **{name: sum(getattr(part, name) for part in parts) for name in names},
        longest_sentence=max((part.longest_sentence for part in parts), default=0),
    )


def _collection_statistics(segment: Segment, documents: Mask | None = None) -> CollectionStatistics:
    """The statistics of a segment, or of the documents of a mask."""
    length, document_length = segment.column("length"), segment.column("document_length")
    surrounding, sizes = segment.column("surrounding_length"), np.diff(segment.column("first"))
    document_terms = len(segment.column("document_numbers"))
    if documents is not None:
        sentences = documents[segment.column("document")]
        length, surrounding = length[sentences], surrounding[sentences]
        document_length, sizes = document_length[documents], sizes[documents]
        document_terms = int(np.count_nonzero(documents[segment.column("document_numbers")]))

    def total(column: npt.NDArray[Any]) -> int:
        return int(column.sum(dtype=np.int64))

    return CollectionStatistics(
        sentences=len(length),
        documents=len(document_length),
        occurrences=total(length),
        document_length=total(document_length),
        surrounding_length=total(surrounding),
        weighted_document_length=total(sizes * document_length),
        document_terms=document_terms,
        longest_sentence=int(length.max(initial=0)),
        termless_sentences=int(np.count_nonzero(length == 0)),
    )


def summarize_periods(snapshot: Snapshot) -> list[PeriodContent]:
    """What each period of a divided index has, in order of time; nothing if it is not divided."""
    contents: list[PeriodContent] = []
    if snapshot.manifest.description.by is None:
        return contents
    for period, segments in groupby(snapshot.segments, lambda segment: segment.period or UNDATED):
        of_period = list(segments)
        dates = np.concatenate([segment.column("date") for segment in of_period])
        is_dated = period != UNDATED
        contents.append(
            PeriodContent(
                period,
                len(dates),
                sum(segment.sentence_count for segment in of_period),
                sum(snapshot.size_of(segment) for segment in of_period),
                format_moment(int(dates.min())) if is_dated else None,
                format_moment(int(dates.max())) if is_dated else None,
            )
        )
    return contents


Lost = Mapping[str, SegmentDamaged]
"""Segments that cannot be read, by name."""
NO_DAMAGE: Lost = {}


class Snapshot:
    """One commit, opened. A search uses one snapshot throughout, so later commits do not affect it."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        before: Snapshot | None = None,
        lost: Lost = NO_DAMAGE,
    ) -> None:
        """Open a commit. Segments and layers that `before` has open are reused. Raises SegmentDamaged.

        `lost` are the damaged segments of the commit, which `manifest` leaves out.
        """
        self.folder: Path = folder
        self.lost: Lost = lost
        self.manifest: Manifest = manifest
        allow_open_files(FILES_OF_SEGMENT * len(manifest.segments))
        self.parts: list[Part] = parts_of(manifest)
        unchanged = set() if before is None else before._find_unreplaced()
        require_intact(folder, (part for part in self.parts if part.path not in unchanged), read=False)
        self._inodes = {part.path: _inode(folder / part.path) for part in self.parts}
        open_segments = {} if before is None else {s.folder.name: s for s in before.segments}
        open_layers = {} if before is None else before.layers
        self.layers: dict[str, Layer] = {
            run.name: open_layers[run.name]
            if f"{LAYERS}/{run.name}" in unchanged
            else _open_layer(folder, run)
            for run in manifest.layers
        }
        self.segments: list[Segment] = [
            Segment(
                folder / SEGMENTS / name,
                [(run, self.layers[run.name]) for run in manifest.layers_of(name)],
                open_segments[name] if f"{SEGMENTS}/{name}" in unchanged else None,
            ).map_files()
            for name in manifest.segments
        ]
        self.statistics: CommitStatistics
        is_reused = {f"{SEGMENTS}/{name}" for name in manifest.segments} <= unchanged
        if before is not None and is_reused and before.manifest.segments == manifest.segments:
            # Enrichment changes no sentences, hence neither statistics nor priors.
            self.statistics = before.statistics
        else:
            self.statistics = CommitStatistics(self.segments, manifest.description.is_by_language)

    def _find_unreplaced(self) -> set[str]:
        """The paths of the segments and layers that have not been replaced since, as `esr restore` does."""
        return {path for path, inode in self._inodes.items() if _inode(self.folder / path) == inode}

    @cached_property
    def period_limits(self) -> tuple[Numbers, Numbers] | None:
        """The first and the last millisecond of each segment's period, each of shape (segments,).

        The undated have the last after the first. None if the index is not divided.
        """
        if not self.segments or any(segment.period is None for segment in self.segments):
            return None
        ends = np.iinfo(np.int64)
        limits = [
            period_range(segment.period or UNDATED) or (ends.max, ends.min) for segment in self.segments
        ]
        starts, stops = np.array(limits, np.int64).T
        return starts, stops

    def size_of(self, segment: Segment) -> int:
        """The size of a segment and its layers in bytes."""
        layers = self.manifest.layers_of(segment.folder.name)
        return size_on_disk(segment.folder) + sum(self.layers[layer.name].size_bytes for layer in layers)

    def require_intact(self) -> None:
        """Read all files of the commit. Raises SegmentDamaged."""
        require_intact(self.folder, self.parts)

    @cached_property
    def features(self) -> list[str]:
        """The names of all stored features."""
        return sorted({name for segment in self.segments for name in segment.enrichment.features})

    @cached_property
    def has_parses(self) -> bool:
        """Whether any sentence has a stored parse."""
        return any(segment.enrichment.has_parses for segment in self.segments)

    @property
    def has_copies(self) -> bool:
        """Whether copies were looked for in any sentence."""
        return any(REUSE in layer.parts for layer in self.manifest.layers)

    @cached_property
    def table(self) -> memoryview | None:
        """The stored form of the table of vectors. Raises SegmentDamaged."""
        if not self.manifest.table:
            return None
        path = self.folder / LAYERS / self.manifest.table
        try:
            return map_bundle(path)[TABLE].data
        except (FileNotFoundError, ValueError, KeyError) as error:
            raise SegmentDamaged(path) from error

    @cached_property
    def main_encoder(self) -> str | None:
        """The id of the encoder of most vectors, None without vectors."""
        sentences: Counter[str] = Counter()
        for segment in self.segments:
            for span in segment.enrichment.vector_spans:
                if span.recipe is not None:
                    encoder = self.manifest.recipes[span.recipe]["made_with"]["encoder"]
                    sentences[encoder] += span.stop - span.start
        return find_main_encoder(sentences)


def _inode(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


def _open_layer(folder: Path, run: LayerInfo) -> Layer:
    path = folder / LAYERS / run.name
    try:
        return Layer(path)
    except (FileNotFoundError, ValueError) as error:
        raise SegmentDamaged(path) from error


# Content under another id

SAMPLE = 500
"""Maximum number of new documents that are looked up, evenly spaced. It bounds the cost of any delivery."""
_CANDIDATES = 16
"""Maximum number of documents compared per signature. Only short documents share one by chance."""
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xAEF17502108EF2D9)
_MAX_EXAMPLES = 3


def sample_documents(segments: Sequence[Segment]) -> list[Document]:
    """Sample the documents of these segments, evenly spaced, leaving out documents without sentences."""
    total = sum(segment.document_count for segment in segments)
    sampled = []
    base = 0
    for segment in segments:
        spaced = np.linspace(0, max(total - 1, 0), min(SAMPLE, total)).astype(np.int64) - base
        numbers = dict.fromkeys(spaced.tolist())
        sampled += [segment.document(n) for n in numbers if 0 <= n < segment.document_count]
        base += segment.document_count
    return [document for document in sampled if document.sentences]


def has_same_content(document: Document, other: Document) -> bool:
    """Whether two documents have the same title and the same sentence texts."""
    return document.title == other.title and [s.text for s in document.sentences] == [
        s.text for s in other.sentences
    ]


def describe_known_content(segments: Sequence[Segment], known: Mapping[str, str]) -> list[str]:
    """Format the warning about new documents whose content is known under another id."""
    if not known:
        return []
    total = sum(segment.document_count for segment in segments)
    compared = f"{min(total, SAMPLE):,} compared of {total:,}" if total > SAMPLE else f"{total:,}"
    examples = list_examples([f"{id} (as {other})" for id, other in known.items()], _MAX_EXAMPLES)
    return [
        f"warning: the index has the content of {count(len(known), 'document')} ({compared}) under another "
        f"id: {examples}"
    ]


def find_known_content(new: Sequence[Segment], old: Sequence[Segment]) -> dict[str, str]:
    """Find new documents whose content old segments have under another id, as when ids have changed.

    Maps the id of the new document to the id in the old segments. Only a sample of the new documents is
    looked up.
    """
    wanted: dict[int, list[Document]] = {}
    shapes: set[int] = set()
    sampled = {document.id: document for document in sample_documents(new)}
    for segment in new:
        shared = {id: number for id in sampled if (number := segment.document_ids.find(id)) is not None}
        numbers = np.array(list(shared.values()), np.int64)
        shapes.update(_shapes(segment)[numbers].tolist())
        for id, signature in zip(shared, _sign_documents(segment, numbers).tolist(), strict=True):
            wanted.setdefault(signature, []).append(sampled[id])
    known: dict[str, str] = {}
    compared: Counter[int] = Counter()
    for segment in old if wanted else ():
        numbers = np.flatnonzero(np.isin(_shapes(segment), list(shapes)))
        signatures = _sign_documents(segment, numbers)
        is_wanted = np.isin(signatures, np.array(list(wanted), np.uint64))
        candidates = zip(numbers[is_wanted].tolist(), signatures[is_wanted].tolist(), strict=True)
        for number, signature in candidates:
            compared[signature] += 1
            if compared[signature] > _CANDIDATES:
                continue
            stored = segment.document(number)
            for document in wanted[signature]:
                if document.id != stored.id and has_same_content(document, stored):
                    known.setdefault(document.id, stored.id)
    return known


def _shapes(segment: Segment) -> Numbers:
    """The length of each document in sentences and in terms, as one number, of shape (D,)."""
    first = segment.column("first")
    shapes: Numbers = first[1:] - first[:-1] << 32 | segment.column("document_length")
    return shapes


def _sign_documents(segment: Segment, documents: Numbers) -> npt.NDArray[np.uint64]:
    """Compute a signature of each document, of shape (D,), from its length and its sentences' lengths."""
    first = segment.column("first")
    starts, sizes = first[documents], first[documents + 1] - first[documents]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    positions = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    lengths = segment.column("length")[positions + np.repeat(starts, sizes)]
    by_position, by_document, offset = (np.uint64(number) for number in _MULTIPLIERS)
    mixed = (lengths.astype(np.uint64) + np.uint64(1)) * (positions.astype(np.uint64) * by_position + offset)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    signatures: npt.NDArray[np.uint64] = sums[ends[1:]] - sums[ends[:-1]]
    return signatures + segment.column("document_length")[documents].astype(np.uint64) * by_document


def survey_terms(segments: Sequence[Segment]) -> TermSurvey:
    """Survey the terms of these segments."""
    sentences = sum(segment.sentence_count for segment in segments)
    lengths = [segment.column("length") for segment in segments]
    # A term that is frequent overall is frequent in at least one segment.
    candidates = {term for segment in segments for term in _frequent_terms(segment)}
    frequencies = [(term, sum(_frequency(segment, term) for segment in segments)) for term in candidates]
    return TermSurvey(
        sentences,
        sum(int((length == 0).sum()) for length in lengths),
        sum(int((length > LONG_SENTENCE).sum()) for length in lengths),
        most_frequent(frequencies, sentences),
    )


def _frequent_terms(segment: Segment) -> list[str]:
    frequencies = np.diff(segment.column("sentence_starts"))
    return segment.terms.get_many(np.flatnonzero(frequencies > FREQUENT_SHARE * segment.sentence_count))


def _frequency(segment: Segment, term: str) -> int:
    start, end, _, _ = segment.posting_ranges(segment.terms.find(term))
    return end - start
