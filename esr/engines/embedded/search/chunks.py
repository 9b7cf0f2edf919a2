"""The best sentences by numpy: chunks of documents, best bound first, whose candidates are scored at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search import gather
from esr.engines.embedded.search.asked import Asked, Best
from esr.engines.segments.reader.document_table import reduce_by_document
from esr.engines.segments.reader.postings import ranges, within
from esr.plans.bounds import Unprunable
from esr.plans.evaluate import scores
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import FieldName

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
FIRST = 16
"""Documents in the first chunk, beside one for each of the k hits. Each chunk is twice the one before."""
FEW = 20_000
"""Candidates that are scored in chunks even where no document can be left out: it costs nothing."""
CELLS = 4_000_000
"""At most so many counts (terms times sentences) in a chunk, unless one document has more."""


def in_chunks(asked: Asked) -> Best | Unprunable:
    """The answer, unless everything has to be scored."""
    reached, bounds = _bounds(asked)
    documents = _documents(asked, reached)
    total = _total(asked, documents)
    if asked.k + FIRST >= len(documents) and total > FEW:
        return Unprunable("so many hits are asked for that no document can be left out")
    return _descend(_Scorer(asked), documents, bounds[documents], asked.k, total)


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


def _bounds(asked: Asked) -> tuple[Mask, Array]:
    """Which documents hold a term that makes candidates, and the bounds of all documents."""
    plan, statistics, known = asked.plan, asked.statistics, asked.known
    spans, kept = statistics.document_table, known.get(plan.terms)
    base, (high, low) = known.bound.base(plan.terms), known.log_collection_range()
    bounds = base.constant + np.float64(base.rising) * high + np.float64(base.falling) * low
    reached = np.zeros(len(bounds), bool)
    for term, start in zip(plan.terms, kept.starts, strict=True):
        weight = np.float64(term.weight)  # keeps the product from being one of 32 bits
        for owner, number in enumerate(statistics.find(term.term).numbers):
            documents = statistics.segments[owner].in_documents(number).numbers
            there = slice(spans.owners[owner], spans.owners[owner + 1])
            bounds[there][documents] += weight * kept.values[start : start + len(documents)]
            reached[there][documents] |= term.own
            start += len(documents)
    if asked.statics is not None:
        bounds += asked.statics.upper_bounds
    return reached, bounds + asked.slack(kept.greatest)


def _documents(asked: Asked, reached: Mask) -> Numbers:
    """The documents that may have candidates, ascending."""
    there = asked.statistics.document_table.size > 0
    if asked.plan.candidates != "all":
        there &= reached
    return np.flatnonzero(there if asked.passing is None else there & asked.passing)


def _total(asked: Asked, documents: Numbers) -> int:
    """How many candidates have a score."""
    spans, chosen = asked.statistics.document_table, asked.chosen
    valued = None if asked.statics is None else asked.statics.has_value
    if chosen is None and asked.whole:
        if valued is None:
            return int(spans.size[documents].sum())
        return int(reduce_by_document(np.add, valued.astype(np.int64), spans, 0)[documents].sum())
    if chosen is None:
        chosen = _holding(asked, documents)
    return int(np.count_nonzero(chosen if valued is None else chosen & valued))


def _holding(asked: Asked, documents: Numbers) -> Mask:
    """The sentences of these documents that hold an own term, and by the rule of the surrounding their
    neighbours."""
    plan, statistics, spans = asked.plan, asked.statistics, asked.statistics.document_table
    wanted = np.zeros(len(spans.size), bool)
    wanted[documents] = True
    holding = np.zeros(statistics.starts[-1], bool)
    for owner, segment in enumerate(statistics.segments):
        here = holding[statistics.starts[owner] : statistics.starts[owner + 1]]
        for term in plan.matching:
            here[segment.in_sentences(statistics.find(term).numbers[owner]).numbers] = True
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

    asked: Asked

    def parts(self, documents: Numbers) -> Iterator[Numbers]:
        """Chunks that are not too large at once."""
        size = self.asked.statistics.document_table.size[documents]
        cells = np.cumsum(size + 1) * max(len(self.asked.plan.terms), 1)
        if not len(cells) or cells[-1] <= CELLS:
            yield documents
        else:
            yield from np.split(documents, np.flatnonzero(np.diff(cells // CELLS)) + 1)

    def scores(self, documents: Numbers) -> tuple[Numbers, Array]:
        """The candidates of these documents, ascending, and their scores."""
        spans, terms = self.asked.statistics.document_table, len(self.asked.plan.terms)
        first, size = spans.first[documents], spans.size[documents]
        ends, at = np.cumsum(size), ranges(first, size)
        shift = ends - size + np.arange(1, len(size) + 1) - first
        real = at + np.repeat(shift, size)
        own = np.zeros((terms, ends[-1] + len(size) + 1))
        whole = np.zeros((terms, len(documents)))
        numbers = [self.asked.statistics.find(term.term).numbers for term in self.asked.plan.terms]
        cuts = np.searchsorted(documents, spans.owners)
        for owner, segment in enumerate(self.asked.snapshot.segments):
            cut = slice(cuts[owner], cuts[owner + 1])
            local = documents[cut] - spans.owners[owner]
            found = within(segment, [each[owner] for each in numbers], local)
            slot = found.row_sentence + (shift[cut] + self.asked.statistics.starts[owner])[found.row_place]
            own[found.row_term, slot] = found.row_count
            whole[found.entry_term, found.entry_place + cuts[owner]] = found.entry_count
        counts: dict[FieldName, Array] = {"sentence": own[:, real]}
        fields = set(self.asked.plan.transform.fields())
        if "surrounding" in fields or not self.asked.whole:
            around = own.copy()
            around[:, 1:] += own[:, :-1]
            around[:, :-1] += own[:, 1:]
            counts["surrounding"] = around[:, real]
        if "document" in fields:
            counts["document"] = np.repeat(whole, size, axis=1)
        keep = self._candidates(at, counts)
        plan, snapshot = self.asked.plan, self.asked.snapshot
        lengths = gather.lengths(plan, snapshot, at, np.repeat(documents, size))
        columns = gather.columns(plan, snapshot, at)
        evidence = Evidence(counts, lengths, columns)
        if keep is not None:
            at, evidence = at[keep], evidence.at(keep)
        return at, scores(self.asked.plan, evidence)

    def _candidates(self, at: Numbers, counts: dict[FieldName, Array]) -> Numbers | None:
        """Which of the sentences are candidates; None: all."""
        if self.asked.chosen is not None:
            return np.flatnonzero(self.asked.chosen[at])
        if self.asked.whole:
            return None
        own = [row for row, term in enumerate(self.asked.plan.terms) if term.own]
        field: FieldName = "sentence" if self.asked.plan.candidates == "matching" else "surrounding"
        return np.flatnonzero((counts[field][own] > 0).any(axis=0))
