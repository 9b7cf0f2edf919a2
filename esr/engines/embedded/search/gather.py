"""Candidates of a plan in one segment, and the evidence for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from esr.engines.index import Filters
from esr.engines.segments.reader.commit_statistics import IMPORTANCE
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store.segment import NOWHERE, Postings, Segment
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import FEATURES, FieldName, Plan

Numbers = npt.NDArray[np.int64]


def candidates(plan: Plan, segment: Segment, filters: Filters) -> Numbers:
    """The sentences that the plan's rule and the filters let through, ascending."""
    return np.flatnonzero(chosen(plan, segment, filters))


def chosen(plan: Plan, segment: Segment, filters: Filters) -> npt.NDArray[np.bool_]:
    """Whether the plan's rule and the filters let each sentence through, of shape (sentences,)."""
    found = _chosen(plan, segment, filters)
    if filters.entities:
        found &= segment.enriched.with_entities(filters.entities)
    return found


def _chosen(plan: Plan, segment: Segment, filters: Filters) -> npt.NDArray[np.bool_]:
    passing = segment.passing(filters)
    numbers = [segment.terms.find(term) for term in plan.matching]
    document = segment.column("document")
    if plan.candidates == "all":
        chosen = np.ones(segment.sentence_count, bool)
    elif plan.candidates == "context" and plan.context == "document":
        reached = np.zeros(len(segment.documents), bool)
        for number in numbers:
            reached[segment.in_documents(number).numbers] = True
        if passing is not None:
            reached &= passing
            passing = None
        chosen = reached[document]
    else:
        chosen = np.zeros(segment.sentence_count, bool)
        for number in numbers:
            chosen[segment.in_sentences(number).numbers] = True
        if plan.candidates == "context":
            chosen = spread(chosen, segment.joined_before)
    if passing is not None:
        chosen &= passing[document]
    return chosen


def evidence(
    terms: Sequence[str],
    fields: Iterable[FieldName],
    columns: Iterable[str],
    segment: Segment,
    importance: dict[str, Array],
    at: Numbers,
) -> Evidence:
    """Counts (T, n), lengths and columns of these sentences. `importance` holds the computed columns.

    The column `features.x` is NaN where the feature is not known.
    """
    wanted = set(fields) | {"sentence"}
    numbers = [segment.terms.find(term) for term in terms]
    document = segment.column("document")[at]
    counts: dict[FieldName, Array] = {}
    if wanted & {"sentence", "surrounding"}:
        own, around = _sentence_counts(segment, numbers, at, "surrounding" in wanted)
        counts["sentence"] = own
        if around is not None:
            counts["surrounding"] = around
    if "document" in wanted:
        counts["document"] = np.empty((len(terms), len(at)))
        size = len(segment.documents)
        for row, number in enumerate(numbers):
            counts["document"][row] = _dense(segment.in_documents(number), size)[document]
    lengths: dict[FieldName, Array] = {"sentence": segment.column("length")[at].astype(float)}
    if "surrounding" in wanted:
        lengths["surrounding"] = segment.column("surrounding_length")[at].astype(float)
    if "document" in wanted:
        lengths["document"] = segment.column("document_length")[document].astype(float)
    stored = {name: column(name, segment, importance, at) for name in columns}
    return Evidence(counts, lengths, stored)


def columns(plan: Plan, snapshot: Snapshot, at: Numbers) -> dict[str, Array]:
    """The columns that a plan looks at, of these sentences of a commit, ascending."""
    names = list(dict.fromkeys(static.column for static in plan.statics))
    found = {name: np.empty(len(at)) for name in names}
    for owner, cut, local in _parts(snapshot, at):
        importance = importance_columns(snapshot, names, owner)
        for name in names:
            found[name][cut] = column(name, snapshot.segments[owner], importance, local)
    return found


def lengths(plan: Plan, snapshot: Snapshot, at: Numbers, document: Numbers) -> dict[FieldName, Array]:
    """The lengths that a plan looks at, of these sentences of a commit, ascending, in these documents."""
    fields = {"sentence", *plan.transform.fields()}
    found: dict[FieldName, Array] = {"sentence": np.empty(len(at))}
    if "surrounding" in fields:
        found["surrounding"] = np.empty(len(at))
    if "document" in fields:
        found["document"] = snapshot.statistics.document_table.length[document]
    for owner, cut, local in _parts(snapshot, at):
        segment = snapshot.segments[owner]
        found["sentence"][cut] = segment.column("length")[local]
        if "surrounding" in fields:
            found["surrounding"][cut] = segment.column("surrounding_length")[local]
    return found


def _parts(snapshot: Snapshot, at: Numbers) -> Iterator[tuple[int, slice, Numbers]]:
    """By segment: its number, which of the sentences are its own, and their numbers there."""
    cuts = np.searchsorted(at, snapshot.statistics.starts)
    for owner in range(len(snapshot.segments)):
        if cuts[owner] < cuts[owner + 1]:
            cut = slice(int(cuts[owner]), int(cuts[owner + 1]))
            yield owner, cut, at[cut] - snapshot.statistics.starts[owner]


def importance_columns(snapshot: Snapshot, columns: Iterable[str], owner: int) -> dict[str, Array]:
    """The importance priors of a segment's sentences, if one of the columns is of them."""
    return snapshot.statistics.importance[owner] if set(columns) & set(IMPORTANCE) else {}


def column(name: str, segment: Segment, importance: dict[str, Array], at: Numbers) -> Array:
    """A column of these sentences, of shape (n,): NaN where it is not known."""
    found: Array
    if name.startswith(FEATURES):
        return segment.enriched.feature(name.removeprefix(FEATURES), at)
    if name == "length":
        found = segment.column("length")[at].astype(float)
    elif name == "position":
        found = (at - segment.column("first")[segment.column("document")[at]]).astype(float)
    else:
        found = importance[name][at]
    return found


def _sentence_counts(
    segment: Segment, numbers: Sequence[int | None], at: Numbers, surrounding: bool
) -> tuple[Array, Array | None]:
    own = np.empty((len(numbers), len(at)))
    around = np.empty_like(own) if surrounding else None
    # A border has no neighbour: it looks at the slot behind the last sentence, which is always 0.
    size = segment.sentence_count
    before = np.where(segment.joined_before[at], at - 1, size)
    after = np.where(np.append(segment.joined_before, False)[at + 1], at + 1, size)
    for row, number in enumerate(numbers):
        dense = _dense(segment.in_sentences(number), size + 1)
        own[row] = dense[at]
        if around is not None:
            around[row] = own[row] + dense[before] + dense[after]
    return own, around


def _dense(postings: Postings, size: int) -> Array:
    dense = np.zeros(size)
    if postings is not NOWHERE:
        dense[postings.numbers] = postings.counts
    return dense


def spread(chosen: npt.NDArray[np.bool_], joined: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The chosen sentences and their neighbours."""
    spread = chosen.copy()
    spread[1:] |= chosen[:-1] & joined[1:]
    spread[:-1] |= chosen[1:] & joined[1:]
    return spread
