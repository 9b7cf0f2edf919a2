"""One commit of an index, opened: its segments and what is known of them together."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.segments.reader.document_table import Spans, spans
from esr.engines.segments.store.layer import LAYERS, Layer, Run
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.engines.segments.store.segment import Segment, SegmentBroken
from esr.plans.evidence import Array
from esr.plans.plan import Mixture, Saturation, Static
from esr.plans.statistics import CollectionStatistics, TermStatistics

if TYPE_CHECKING:
    from esr.engines.embedded.search.compiled import Compiled
    from esr.engines.embedded.search.impacts import Impacts
    from esr.engines.embedded.search.standing import Standing

IMPORTANCE = ("importance", "importance_surrounding")
REMEMBERED = 20_000
"""Terms that are not looked up again."""


class Found(NamedTuple):
    """A term in a commit: its statistics; in each segment its number, or None, and its first and last place
    in the postings of sentences, then of documents."""

    statistics: TermStatistics
    numbers: tuple[int | None, ...]
    cuts: tuple[tuple[int, int, int, int], ...]


class Snapshot:
    """What a search sees from beginning to end, whatever is committed meanwhile."""

    def __init__(self, folder: Path, manifest: Manifest, before: Snapshot | None = None) -> None:
        """Raises SegmentBroken. What `before` has open already is not opened again."""
        self.manifest = manifest
        self.standing: dict[Static, Standing] = {}
        self.added: dict[tuple[Static, ...], npt.NDArray[np.float32]] = {}
        """What statics come to in this commit, kept by `esr.engines.embedded.search.standing`."""
        self.impacts: dict[Mixture | Saturation, Impacts] = {}
        """What terms add at most, kept by `esr.engines.embedded.search.impacts`."""
        self.lock = threading.Lock()
        self._found: dict[str, Found] = {}
        known = {} if before is None else {segment.folder.name: segment for segment in before.segments}
        open_layers = {} if before is None else before.layers
        self.layers: dict[str, Layer] = {
            run.name: open_layers.get(run.name) or _layer(folder, run) for run in manifest.layers
        }
        self.segments: list[Segment] = [
            (known.get(name) or Segment(folder / SEGMENTS / name)).with_layers(
                [(run, self.layers[run.name]) for run in manifest.layers_of(name)]
            )
            for name in manifest.segments
        ]
        if before is not None and before.manifest.segments == manifest.segments:
            # Enrichment leaves the sentences as they are: so are the statistics and the priors.
            done = ("collection", "importance", "spans", "impacts", "lock", "_found", "compiled")
            vars(self).update({k: v for k, v in vars(before).items() if k in done})

    @cached_property
    def starts(self) -> list[int]:
        """The place in the collection of each segment's first sentence."""
        return [0, *accumulate(segment.sentence_count for segment in self.segments)]

    @cached_property
    def spans(self) -> Spans:
        """The documents of all segments."""
        return spans(self.segments, self.starts)

    @cached_property
    def compiled(self) -> Compiled:
        """The commit as compiled searches take it."""
        from esr.engines.embedded.search.compiled import Compiled

        return Compiled(self)

    @cached_property
    def features(self) -> list[str]:
        """The names of all stored features."""
        return sorted({name for segment in self.segments for name in segment.enriched.features})

    @cached_property
    def collection(self) -> CollectionStatistics:
        parts = [_collection(segment) for segment in self.segments]
        names = (f.name for f in fields(CollectionStatistics) if f.name not in ("longest_sentence", "bounds"))
        return CollectionStatistics(
            **{name: sum(getattr(part, name) for part in parts) for name in names},
            longest_sentence=max((part.longest_sentence for part in parts), default=0),
        )

    def find(self, term: str) -> Found:
        """Where a term is known."""
        found = self._found.get(term)
        if found is None:
            numbers = tuple(segment.terms.find(term) for segment in self.segments)
            cuts = tuple(s.cuts(n) for s, n in zip(self.segments, numbers, strict=True))
            occurrences = (s.occurrences(n) for s, n in zip(self.segments, numbers, strict=True))
            sf, df = (sum(cut[n + 1] - cut[n] for cut in cuts) for n in (0, 2))
            found = Found(TermStatistics(sf, df, sum(occurrences)), numbers, cuts)
            if len(self._found) >= REMEMBERED:
                self._found.clear()
            self._found[term] = found
        return found

    @cached_property
    def importance(self) -> list[dict[str, Array]]:
        """The importance priors of each segment's sentences, made once per commit."""
        return [self.importance_of(segment, {}, 0) for segment in self.segments]

    def importance_for(self, columns: Iterable[str], owner: int) -> dict[str, Array]:
        """The importance priors of a segment's sentences, if one of the columns is of them."""
        return self.importance[owner] if set(columns) & set(IMPORTANCE) else {}

    def importance_of(self, segment: Segment, elsewhere: Mapping[str, int], total: int) -> dict[str, Array]:
        """The importance priors of a segment's sentences, with p(t|C) of the whole collection.

        log p(d|s) = sum of c(t,s) log p(t|d) - sum of c(t,s) log p(t). The first sum is stored; the
        second depends on every segment. `elsewhere` adds occurrences that are not in this index, of
        `total` in all.
        """
        surprise = np.log(self.background(segment, elsewhere, total))
        weights = np.repeat(surprise, np.diff(segment.column("sentence_starts")))
        weights *= segment.column("sentence_counts")
        collection = np.bincount(segment.column("sentence_numbers"), weights, segment.sentence_count)
        return {name: column - collection for name, column in segment.likely.items()}

    def background(self, segment: Segment, elsewhere: Mapping[str, int], total: int) -> Array:
        """p(t|C) of a segment's terms in the whole collection, with what is elsewhere.

        A term that stands in titles only counts as one occurrence.
        """
        occurrences = segment.column("occurrences").astype(np.int64)
        for other in self.segments:
            if other is not segment and len(other.terms):
                # Terms meet by their hash: two that share all 64 bits are not to be expected.
                shared = other.terms.shared(segment.terms.hashes)
                places = np.searchsorted(other.terms.hashes, segment.terms.hashes[shared])
                occurrences[shared] += other.column("occurrences")[places]
        if elsewhere:
            occurrences += [elsewhere.get(segment.terms[n], 0) for n in range(len(segment.terms))]
        return np.asarray(np.maximum(occurrences, 1) / max(self.collection.occurrences + total, 1))


def _layer(folder: Path, run: Run) -> Layer:
    path = folder / LAYERS / run.name
    try:
        return Layer(path)
    except (FileNotFoundError, ValueError) as error:
        raise SegmentBroken(path) from error


def _collection(segment: Segment) -> CollectionStatistics:
    length, of_document = segment.column("length"), segment.column("document_length")

    def total(column: npt.NDArray[Any]) -> int:
        return int(column.sum(dtype=np.int64))

    return CollectionStatistics(
        sentences=len(length),
        documents=len(of_document),
        occurrences=total(length),
        document_length=total(of_document),
        surrounding_length=total(segment.column("surrounding_length")),
        weighted_document_length=total(np.diff(segment.column("first")) * of_document),
        document_terms=len(segment.column("document_numbers")),
        longest_sentence=int(length.max(initial=0)),
    )
