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
from esr.engines.embedded.occurrences import Occurrences, occurrences
from esr.engines.embedded.snapshot import Snapshot
from esr.engines.embedded.spans import Spans, per_document
from esr.engines.embedded.standing import Standing, standing
from esr.engines.index import Filters
from esr.plans.bounds import Bound
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
NOT_HERE = np.iinfo(np.int64).min // 2


class Best(NamedTuple):
    """Sentences by their number over all segments, best first, their scores, how many candidates there are,
    and how many of them were scored."""

    numbers: Numbers
    scores: Array
    total: int
    scored: int


def pruned(plan: Plan, snapshot: Snapshot, k: int, filters: Filters) -> Best | str:
    """The answer, or why everything has to be scored."""
    bound = Bound(plan, snapshot.collection.longest_sentence)
    why = bound.impossible()
    if why is not None:
        return why
    found = occurrences(plan, snapshot)
    statics = standing(plan.statics, snapshot) if plan.statics else None
    chosen = _chosen(plan, snapshot, filters) if filters.entities else None
    documents = _reached(plan, snapshot, found, _passing(snapshot, filters))
    total = _total(plan, snapshot, found, documents, chosen, statics)
    if k + FIRST >= len(documents) and total > FEW:
        return "so many hits are asked for that no document can be left out"
    bounds, slack = _bounds(bound, found, documents, snapshot.spans, statics)
    scorer = _Scorer(plan, snapshot, found, chosen)
    return _descend(scorer, documents, bounds + slack, k, total)


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


def _bounds(
    bound: Bound, found: Occurrences, documents: Numbers, spans: Spans, statics: Standing | None
) -> tuple[Array, float]:
    above = bound.above(found.rows, found.entries)
    every = np.bincount(found.entry_document, above, len(spans.size))
    bounds = every[documents] + bound.base(spans.shortest[documents], spans.longest[documents])
    greatest = float(np.abs(above).max(initial=0.0))
    if statics is not None:
        bounds += statics.most[documents]
        greatest = max(greatest, statics.greatest)
    return bounds, bound.slack(greatest)


def _passing(snapshot: Snapshot, filters: Filters) -> Mask | None:
    if not filters:
        return None
    masks = (segment.passing(filters) for segment in snapshot.segments)
    return np.concatenate([np.zeros(0, bool), *(mask for mask in masks if mask is not None)])


def _chosen(plan: Plan, snapshot: Snapshot, filters: Filters) -> Mask:
    masks = (gather.chosen(plan, segment, filters) for segment in snapshot.segments)
    return np.concatenate([np.zeros(0, bool), *masks])


def _reached(plan: Plan, snapshot: Snapshot, found: Occurrences, passing: Mask | None) -> Numbers:
    """The documents that may have candidates, ascending."""
    spans = snapshot.spans
    reached = np.zeros(len(spans.size), bool)
    if plan.candidates == "all":
        reached[:] = True
    elif all(term.own for term in plan.terms):
        reached[found.entry_document] = True
    else:
        own = np.array([term.own for term in plan.terms], bool)
        reached[found.entry_document[own[found.entries.term]]] = True
    if passing is not None:
        reached &= passing
    documents = np.flatnonzero(reached)
    return documents[spans.size[documents] > 0]


def _total(
    plan: Plan,
    snapshot: Snapshot,
    found: Occurrences,
    documents: Numbers,
    chosen: Mask | None,
    statics: Standing | None,
) -> int:
    """How many candidates have a score."""
    spans, valued = snapshot.spans, None if statics is None else statics.valued
    if chosen is None and whole_documents(plan):
        if valued is None:
            return int(spans.size[documents].sum())
        return int(per_document(np.add, valued.astype(np.int64), spans, 0)[documents].sum())
    if chosen is None:
        chosen = _holding(plan, snapshot, found, documents)
    return int(np.count_nonzero(chosen if valued is None else chosen & valued))


def whole_documents(plan: Plan) -> bool:
    """Whether a document's sentences are all candidates or none."""
    return plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")


def _holding(plan: Plan, snapshot: Snapshot, found: Occurrences, documents: Numbers) -> Mask:
    """The sentences that hold an own term, and by the rule of the surrounding their neighbours."""
    spans = snapshot.spans
    wanted = np.zeros(len(spans.size), bool)
    wanted[documents] = True
    own = np.array([term.own for term in plan.terms], bool)
    here = wanted[found.row_document] & own[found.row_term]
    numbers, document = found.row_sentence[here], found.row_document[here]
    holding = np.zeros(snapshot.starts[-1], bool)
    holding[numbers] = True
    if plan.candidates == "context":
        place = numbers - spans.first[document]
        holding[numbers[place > 0] - 1] = True
        holding[numbers[place + 1 < spans.size[document]] + 1] = True
    return holding


@dataclass(slots=True)
class _Scorer:
    """Scores the candidates of some documents.

    Counts are laid out document after document, with a slot between two of them that stays 0: so the
    surrounding is three shifts of one array.
    """

    plan: Plan
    snapshot: Snapshot
    found: Occurrences
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
        spans, found = self.snapshot.spans, self.found
        first, size = spans.first[documents], spans.size[documents]
        ends = np.cumsum(size)
        at = np.arange(ends[-1]) + np.repeat(first - (ends - size), size)
        shift = ends - size + np.arange(1, len(size) + 1) - first
        slot = np.full(len(spans.size), NOT_HERE)
        slot[documents] = shift
        real = at + np.repeat(shift, size)
        own = np.zeros((len(self.plan.terms), ends[-1] + len(size) + 1))
        place = slot[found.row_document] + found.row_sentence
        here = np.flatnonzero(place > 0)
        own[found.row_term[here], place[here]] = found.rows.counts["sentence"][here]
        counts: dict[FieldName, Array] = {"sentence": own[:, real]}
        fields = set(self.plan.transform.fields())
        if "surrounding" in fields or not whole_documents(self.plan):
            around = own.copy()
            around[:, 1:] += own[:, :-1]
            around[:, :-1] += own[:, 1:]
            counts["surrounding"] = around[:, real]
        if "document" in fields:
            slot[documents] = np.arange(len(documents))
            column = slot[found.entry_document]
            there = np.flatnonzero(column >= 0)
            whole = np.zeros((len(self.plan.terms), len(documents)))
            whole[found.entries.term[there], column[there]] = found.entries.count[there]
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
