"""The best k sentences, without scoring those that a bound keeps out.

Every document with a candidate gets a bound of its best sentence's score (`esr.plans.bounds`), from its
terms' postings. Documents are taken in chunks, best bound first, and all candidates of a chunk are scored as
any sentence is (`esr.plans.evaluate`). It ends when no bound that is left reaches the k-th score so far.
Equal scores reach it, so the answer is the one that scoring everything gives, ties included. Nothing is
stored for it: the bounds come from the postings, whatever the plan's parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded import gather
from esr.engines.embedded.impacts import Impacts, impacts
from esr.engines.embedded.rows import ranges, within
from esr.engines.embedded.snapshot import Snapshot
from esr.engines.embedded.spans import per_document
from esr.engines.embedded.standing import Standing, standing
from esr.engines.index import Filters
from esr.plans.evaluate import scores
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import FieldName, Plan

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
FIRST = 16
"""Documents in the first chunk, beside one for each of the k hits. Each chunk is twice the one before."""
FEW = 20_000
"""Candidates that are scored in chunks even where no document can be left out: it costs nothing."""
CELLS = 4_000_000
"""At most so many counts (terms times sentences) in a chunk, unless one document has more."""


class Best(NamedTuple):
    """Sentences by their number over all segments, best first, their scores, how many candidates there are,
    and how many of them were scored."""

    numbers: Numbers
    scores: Array
    total: int
    scored: int


def pruned(plan: Plan, snapshot: Snapshot, k: int, filters: Filters) -> Best | str:
    """The answer, or why everything has to be scored."""
    known = impacts(plan.transform, snapshot)
    why = known.bound.impossible(plan.terms)
    if why is not None:
        return why
    statics = standing(plan.statics, snapshot) if plan.statics else None
    chosen = _chosen(plan, snapshot, filters) if filters.entities else None
    reached, bounds = _bounds(plan, snapshot, known, statics)
    documents = _documents(plan, snapshot, reached, _passing(snapshot, filters))
    total = _total(plan, snapshot, documents, chosen, statics)
    if k + FIRST >= len(documents) and total > FEW:
        return "so many hits are asked for that no document can be left out"
    return _descend(_Scorer(plan, snapshot, chosen), documents, bounds[documents], k, total)


def _descend(scorer: _Scorer, documents: Numbers, bounds: Array, k: int, total: int) -> Best:
    left = np.flatnonzero(bounds > -np.inf)
    numbers, values = np.zeros(0, np.int64), np.zeros(0)
    scored, step = 0, k + FIRST
    while len(left):
        if len(left) > step:
            order = np.argpartition(-bounds[left], step)
            chunk, left = left[order[:step]], left[order[step:]]
        else:
            chunk, left = left, left[:0]
        for some in scorer.parts(np.sort(documents[chunk])):
            at, got = scorer.scores(some)
            scored += len(at)
            valued = np.isfinite(got)
            numbers = np.concatenate([numbers, at[valued]])
            values = np.concatenate([values, got[valued]])
        if len(values) >= k:
            least = np.partition(values, len(values) - k)[len(values) - k]
            stay = values >= least
            numbers, values = numbers[stay], values[stay]
            left = left[bounds[left] >= least]
        step *= 2
    order = np.lexsort((numbers, -values))[:k]
    return Best(numbers[order], values[order], total, scored)


def _bounds(plan: Plan, snapshot: Snapshot, known: Impacts, statics: Standing | None) -> tuple[Mask, Array]:
    """Which documents hold a term that makes candidates, and the bounds of all documents."""
    spans, kept = snapshot.spans, known.of(plan.terms, snapshot)
    base, (high, low) = known.bound.base(plan.terms), known.ends(snapshot.spans)
    bounds = base.constant + np.float64(base.rising) * high + np.float64(base.falling) * low
    reached = np.zeros(len(bounds), bool)
    for term, start in zip(plan.terms, kept.starts, strict=True):
        weight = np.float64(term.weight)  # keeps the product from being one of 32 bits
        for owner, number in enumerate(snapshot.find(term.term).numbers):
            documents = snapshot.segments[owner].in_documents(number).numbers
            there = slice(spans.owners[owner], spans.owners[owner + 1])
            bounds[there][documents] += weight * kept.values[start : start + len(documents)]
            reached[there][documents] |= term.own
            start += len(documents)
    greatest = kept.greatest
    if statics is not None:
        bounds += statics.most
        greatest = max(greatest, statics.greatest)
    return reached, bounds + known.bound.slack(plan, greatest)


def _passing(snapshot: Snapshot, filters: Filters) -> Mask | None:
    if not filters:
        return None
    masks = (segment.passing(filters) for segment in snapshot.segments)
    return np.concatenate([np.zeros(0, bool), *(mask for mask in masks if mask is not None)])


def _chosen(plan: Plan, snapshot: Snapshot, filters: Filters) -> Mask:
    masks = (gather.chosen(plan, segment, filters) for segment in snapshot.segments)
    return np.concatenate([np.zeros(0, bool), *masks])


def _documents(plan: Plan, snapshot: Snapshot, reached: Mask, passing: Mask | None) -> Numbers:
    """The documents that may have candidates, ascending."""
    there = snapshot.spans.size > 0
    if plan.candidates != "all":
        there &= reached
    return np.flatnonzero(there if passing is None else there & passing)


def _total(
    plan: Plan, snapshot: Snapshot, documents: Numbers, chosen: Mask | None, statics: Standing | None
) -> int:
    """How many candidates have a score."""
    spans, valued = snapshot.spans, None if statics is None else statics.valued
    if chosen is None and whole_documents(plan):
        if valued is None:
            return int(spans.size[documents].sum())
        return int(per_document(np.add, valued.astype(np.int64), spans, 0)[documents].sum())
    if chosen is None:
        chosen = _holding(plan, snapshot, documents)
    return int(np.count_nonzero(chosen if valued is None else chosen & valued))


def whole_documents(plan: Plan) -> bool:
    """Whether a document's sentences are all candidates or none."""
    return plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")


def _holding(plan: Plan, snapshot: Snapshot, documents: Numbers) -> Mask:
    """The sentences of these documents that hold an own term, and by the rule of the surrounding their
    neighbours."""
    spans = snapshot.spans
    wanted = np.zeros(len(spans.size), bool)
    wanted[documents] = True
    holding = np.zeros(snapshot.starts[-1], bool)
    for owner, segment in enumerate(snapshot.segments):
        here = holding[snapshot.starts[owner] : snapshot.starts[owner + 1]]
        for term in plan.matching:
            here[segment.in_sentences(snapshot.find(term).numbers[owner]).numbers] = True
        if plan.candidates == "context":
            here[:] = gather.spread(here, segment.joined_before)
        here &= wanted[spans.owners[owner] : spans.owners[owner + 1]][segment.column("document")]
    return holding


@dataclass(slots=True)
class _Scorer:
    """Scores the candidates of some documents.

    Counts are laid out document after document, with a slot between two of them that stays 0: so the
    surrounding is three shifts of one array.
    """

    plan: Plan
    snapshot: Snapshot
    chosen: Mask | None

    def parts(self, documents: Numbers) -> Iterator[Numbers]:
        """Chunks that are not too large at once."""
        cells = np.cumsum(self.snapshot.spans.size[documents] + 1) * max(len(self.plan.terms), 1)
        if not len(cells) or cells[-1] <= CELLS:
            yield documents
        else:
            yield from np.split(documents, np.flatnonzero(np.diff(cells // CELLS)) + 1)

    def scores(self, documents: Numbers) -> tuple[Numbers, Array]:
        """The candidates of these documents, ascending, and their scores."""
        spans, terms = self.snapshot.spans, len(self.plan.terms)
        first, size = spans.first[documents], spans.size[documents]
        ends, at = np.cumsum(size), ranges(first, size)
        shift = ends - size + np.arange(1, len(size) + 1) - first
        real = at + np.repeat(shift, size)
        own = np.zeros((terms, ends[-1] + len(size) + 1))
        whole = np.zeros((terms, len(documents)))
        numbers = [self.snapshot.find(term.term).numbers for term in self.plan.terms]
        cuts = np.searchsorted(documents, spans.owners)
        for owner, segment in enumerate(self.snapshot.segments):
            cut = slice(cuts[owner], cuts[owner + 1])
            local = documents[cut] - spans.owners[owner]
            found = within(segment, [each[owner] for each in numbers], local)
            slot = found.row_sentence + (shift[cut] + self.snapshot.starts[owner])[found.row_place]
            own[found.row_term, slot] = found.row_count
            whole[found.entry_term, found.entry_place + cuts[owner]] = found.entry_count
        counts: dict[FieldName, Array] = {"sentence": own[:, real]}
        fields = set(self.plan.transform.fields())
        if "surrounding" in fields or not whole_documents(self.plan):
            around = own.copy()
            around[:, 1:] += own[:, :-1]
            around[:, :-1] += own[:, 1:]
            counts["surrounding"] = around[:, real]
        if "document" in fields:
            counts["document"] = np.repeat(whole, size, axis=1)
        keep = self._candidates(at, counts)
        lengths, columns = self._stored(at, np.repeat(documents, size))
        evidence = Evidence(counts, lengths, columns)
        if keep is not None:
            at, evidence = at[keep], evidence.at(keep)
        return at, scores(self.plan, evidence)

    def _candidates(self, at: Numbers, counts: dict[FieldName, Array]) -> Numbers | None:
        """Which of the sentences are candidates; None: all."""
        if self.chosen is not None:
            return np.flatnonzero(self.chosen[at])
        if whole_documents(self.plan):
            return None
        own = [row for row, term in enumerate(self.plan.terms) if term.own]
        field: FieldName = "sentence" if self.plan.candidates == "matching" else "surrounding"
        return np.flatnonzero((counts[field][own] > 0).any(axis=0))

    def _stored(self, at: Numbers, document: Numbers) -> tuple[dict[FieldName, Array], dict[str, Array]]:
        """Lengths and columns of these sentences."""
        snapshot = self.snapshot
        fields = {"sentence", *self.plan.transform.fields()}
        names = list(dict.fromkeys(static.column for static in self.plan.statics))
        lengths: dict[FieldName, Array] = {"sentence": np.empty(len(at))}
        if "surrounding" in fields:
            lengths["surrounding"] = np.empty(len(at))
        if "document" in fields:
            lengths["document"] = snapshot.spans.length[document]
        columns = {name: np.empty(len(at)) for name in names}
        cuts = np.searchsorted(at, snapshot.starts)
        for owner, segment in enumerate(snapshot.segments):
            cut = slice(cuts[owner], cuts[owner + 1])
            local = at[cut] - snapshot.starts[owner]
            if not len(local):
                continue
            lengths["sentence"][cut] = segment.column("length")[local]
            if "surrounding" in fields:
                lengths["surrounding"][cut] = segment.column("surrounding_length")[local]
            importance = snapshot.importance_for(names, owner)
            for name in names:
                columns[name][cut] = gather.column(name, segment, importance, local)
        return lengths, columns
