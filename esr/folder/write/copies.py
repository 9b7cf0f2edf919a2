"""The terms of all sentences of a commit, from its postings, in the form in which copies are found."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from esr.enrichment.copy_finder import UNKNOWN, SentenceTerms
from esr.enrichment.recipe import Recipe
from esr.folder.format.segment import NO_DATE, Segment, read_shown
from esr.folder.format.snapshot import Snapshot


def read_sentence_terms(snapshot: Snapshot, recipe: Recipe) -> SentenceTerms:
    """The terms of all sentences, and the groups that this recipe has made."""
    segments = snapshot.segments
    hashes = np.unique(np.concatenate([np.zeros(0, np.uint64), *(s.terms.hashes for s in segments)]))
    codes, documents, groups = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for segment, base in zip(segments, snapshot.statistics.sentence_bases, strict=False):
        numbers = np.searchsorted(hashes, segment.terms.hashes)
        terms = np.repeat(numbers, np.diff(segment.column("sentence_starts")))
        sentences = segment.sentence_postings(0, len(segment.terms)).numbers.astype(np.int64)
        codes.append(sentences + base << 32 | terms)
        groups.append(segment.enrichment.groups(UNKNOWN, [recipe.digest]))
    for segment, base in zip(segments, snapshot.statistics.document_table.document_bases, strict=False):
        documents.append(segment.column("document").astype(np.int64) + base)
    all_codes = np.concatenate(codes)
    all_codes.sort()
    date = np.concatenate([np.zeros(0, np.int64), *(segment.column("date") for segment in segments)])
    return SentenceTerms(
        np.searchsorted(all_codes >> 32, np.arange(snapshot.statistics.sentence_bases[-1] + 1)),
        (all_codes & 0xFFFFFFFF).astype(np.int32),
        len(hashes),
        np.concatenate(documents),
        np.concatenate(groups),
        np.where(date == NO_DATE, np.iinfo(np.int64).max, date),
        _number_sources(segments),
        partial(_read_texts, snapshot),
    )


def _read_texts(snapshot: Snapshot, ordinals: npt.NDArray[np.integer]) -> list[str]:
    """The texts of the sentences with these ordinals."""
    texts = [""] * len(ordinals)
    bases = np.array(snapshot.statistics.sentence_bases)
    owners = np.searchsorted(bases, ordinals, "right") - 1
    for owner, segment in enumerate(snapshot.segments):
        places = np.flatnonzero(owners == owner)
        numbers = ordinals[places] - bases[owner]
        documents = segment.column("document")[numbers]
        positions = numbers - segment.column("first")[documents]
        order = np.argsort(documents, kind="stable")
        known, shown = -1, None
        for n in order.tolist():
            if documents[n] != known:
                known = int(documents[n])
                (shown,) = read_shown([segment.blob_view(known)])
            assert shown is not None
            texts[places[n]] = shown.sentences[int(positions[n])].text
    return texts


def _number_sources(segments: list[Segment]) -> npt.NDArray[np.int64]:
    """The number of each document's source."""
    known: dict[str | None, int] = {}
    columns = [np.zeros(0, np.int64)]
    for segment in segments:
        numbers = np.array([known.setdefault(name, len(known)) for name in segment.sources], np.int64)
        columns.append(numbers[segment.column("source")])
    return np.concatenate(columns)
