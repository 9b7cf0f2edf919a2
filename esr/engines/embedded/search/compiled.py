"""The best sentences by the compiled kernel: what it is given, and how what it chose is scored."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search import gather
from esr.engines.embedded.search.asked import Asked, Best
from esr.engines.embedded.search.layout import AROUND, DOCUMENTS, MATCHING, WHOLE
from esr.engines.embedded.search.standing import added
from esr.engines.segments.store.segment import Segment
from esr.plans.evaluate import summed
from esr.plans.evidence import Array

if TYPE_CHECKING:
    from esr.engines.segments.reader.snapshot import Snapshot

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
GREATEST = 1e30
"""Statics that add more are left to numpy: the kernel has them in 32 bits."""
NO_FLAGS, NO_FLOATS, NO_DOUBLES = np.zeros(0, bool), np.zeros(0, np.float32), np.zeros(0)


_COLUMNS = (
    "sentence_numbers",
    "sentence_counts",
    "document_numbers",
    "document_counts",
    "length",
    "document",
)
"""As `layout` has them."""


class Scratch(NamedTuple):
    """What one search at a time writes to, of a commit's documents and sentences."""

    bounds: Array
    reached: Mask
    keys: Array
    places: npt.NDArray[np.int32]
    marks: Words


class Compiled:
    """A commit as the kernel takes it, laid out as `layout` says."""

    def __init__(self, snapshot: Snapshot) -> None:
        spans = snapshot.spans
        self._mapped = [segment.columns for segment in snapshot.segments]  # keeps what the addresses lead to
        self.owners = spans.owners.astype(np.int64)
        told = [_told(*each) for each in zip(snapshot.segments, snapshot.starts, self.owners, strict=False)]
        self.segments = np.array(told, np.int64).reshape(-1, DOCUMENTS + 1)
        records = (spans.first, spans.size, spans.length, spans.shortest, spans.longest)
        self.records = np.stack(records, axis=1).astype(np.int32)
        self.sizes = spans.size.astype(np.int32)
        begins = np.zeros(64 * (snapshot.starts[-1] // 64 + 1), bool)
        begins[spans.first[spans.size > 0]] = True
        begins[snapshot.starts[-1] :] = True  # nothing stands behind the last sentence
        self.begins: Words = np.packbits(begins, bitorder="little").view("<u8").astype(np.uint64)
        self._idle: deque[Scratch] = deque()

    def take(self) -> Scratch:
        """A scratch of one's own, until it is put back. After an error it is not."""
        try:
            return self._idle.pop()
        except IndexError:
            n = len(self.records)
            # One place more: the kernel writes a document there before it knows whether it is new.
            places, marks = np.empty(n + 1, np.int32), np.zeros(len(self.begins), np.uint64)
            return Scratch(np.full(n, -np.inf), np.zeros(n, bool), np.empty(n), places, marks)

    def put_back(self, scratch: Scratch) -> None:
        self._idle.append(scratch)


def _told(segment: Segment, sentences: int, documents: int) -> list[int]:
    """A row of `Compiled.segments`."""
    columns = [segment.column(name) for name in _COLUMNS]
    found = [number for column in columns for number in (column.ctypes.data, column.itemsize)]
    return [*found, sentences, documents]


class _Terms:
    """A plan's terms as the kernel takes them, of shapes (T, 3), (T,) and (T, segments, 4)."""

    def __init__(self, asked: Asked) -> None:
        terms, snapshot = asked.plan.terms, asked.snapshot
        kept = asked.known.of(terms, snapshot)
        self.impacts, self.greatest = kept.values, kept.greatest
        self.starts = np.array(kept.starts, np.int64)
        self.table = np.array([term[1:] for term in terms], np.float64).reshape(-1, 3)
        cuts = [snapshot.find(term.term).cuts for term in terms]
        self.cuts = np.array(cuts, np.int64).reshape(len(terms), len(snapshot.segments), 4)


def covered(asked: Asked) -> bool:
    """Whether the kernel can answer it."""
    return asked.statics is None or asked.statics.greatest <= GREATEST


def compiled(kernel: Any, asked: Asked) -> Best:
    """The answer: those that the kernel chose are scored as any sentence is."""
    plan, snapshot = asked.plan, asked.snapshot
    if not snapshot.starts[-1]:
        return Best(np.zeros(0, np.int64), np.zeros(0), 0, 0)
    terms = _Terms(asked)
    at, total, valued = _chosen(kernel, asked, terms)
    known, commit, found = asked.known, snapshot.compiled, np.empty((len(plan.terms), len(at)))
    kernel.evidence(
        known.shape, known.numbers, terms.table, at, terms.cuts, commit.segments, commit.records, found
    )
    columns = gather.columns(plan, snapshot, at) if plan.statics else {}
    got = summed(plan, len(at), found, columns)
    if columns:
        there = np.isfinite(got)
        at, got = at[there], got[there]
    # They ascend, and equal scores stay in their order.
    best = np.argsort(-got, kind="stable")[: asked.k]
    return Best(at[best], got[best], total, valued)


def _chosen(kernel: Any, asked: Asked, terms: _Terms) -> tuple[Numbers, int, int]:
    """What may be among the k best, ascending; how many candidates there are; how many the kernel valued."""
    plan, known, snapshot, statics = asked.plan, asked.known, asked.snapshot, asked.statics
    # Twice: a score may be off from its value, and the k-th best score from the k-th best value.
    slack = 2.0 * asked.slack(terms.greatest)
    most, adds, gaps = NO_DOUBLES, NO_FLOATS, False
    if statics is not None:
        most, adds, gaps = statics.most, added(plan.statics, snapshot), statics.valued is not None
        slack += 2.0**-22 * statics.greatest
    passing = NO_FLAGS if asked.passing is None else asked.passing
    rule = WHOLE if asked.whole else MATCHING if plan.candidates == "matching" else AROUND
    commit = snapshot.compiled
    scratch = commit.take()
    numbers, total, valued = kernel.descend(
        known.shape, rule, plan.candidates == "all", slack, known.numbers, terms.table,
        np.array(known.bound.base(plan.terms)), terms.impacts, terms.starts, terms.cuts, commit.segments,
        commit.owners, commit.records, commit.sizes, known.lengths(), *known.ends(snapshot.spans), most,
        adds, gaps, passing, NO_FLAGS if asked.chosen is None else asked.chosen, *scratch[:4],
        np.full(min(asked.k, snapshot.starts[-1]), -np.inf),
    )  # fmt: skip
    if asked.chosen is not None:
        valid = statics.valued if statics is not None else None
        total = int(np.count_nonzero(asked.chosen if valid is None else asked.chosen & valid))
    elif rule != WHOLE:
        around = rule == AROUND
        total = kernel.holding(
            terms.cuts, commit.segments, terms.table, passing, adds, around, commit.begins, scratch.marks
        )
    commit.put_back(scratch)
    numbers.sort()
    return numbers, total, valued
