"""The candidates of a plan: sentences that satisfy its rule, its condition and the filters.

A search that cannot be pruned scores every candidate.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Mask, Numbers
from esr.folder.format.segment import Segment
from esr.folder.search.cache import SearchCache
from esr.folder.search.conditions import find_live, mask_documents, mask_entities
from esr.folder.search.records import Location, find_sentence, read_evidence, read_importance, sentence_id
from esr.index.filters import Filters
from esr.index.hits import EVIDENCE_COLUMNS, CandidateEvidence
from esr.plans.evaluate import Array, concatenate, score_sentences, top_k
from esr.plans.plan import FIELDS, Condition, Plan


def select_candidates(plan: Plan, cache: SearchCache, filters: Filters) -> list[npt.NDArray[np.int64]]:
    """Find the candidates of a plan: their numbers by segment, ascending."""
    allowed = mask_sentences(plan.condition, cache, filters)
    candidates = []
    live = find_live(cache.snapshot, filters, plan.condition)
    for n, segment in enumerate(cache.snapshot.segments):
        if n not in live:
            candidates.append(np.zeros(0, np.int64))
            continue
        mask = _mask_matches(plan, segment, mask_documents(segment, filters))
        candidates.append(np.flatnonzero(mask if allowed is None else mask & allowed[n]))
    return candidates


def mask_sentences(condition: Condition | None, cache: SearchCache, filters: Filters) -> list[Mask] | None:
    """Masks of the sentences that satisfy the condition and the filters on sentences, of shape (sentences,).

    One mask for each segment; None if there are neither.
    """
    segments = cache.snapshot.segments
    live = find_live(cache.snapshot, filters, condition)
    masks = [] if condition is None else [cache.conditions.masks(condition, live)]
    if filters.entities:
        of_names = [mask_entities(segments[n], filters.entities) for n in live]
        masks.append([of_names[n - live.start] if n in live else _none(s) for n, s in enumerate(segments)])
    if filters.independent:
        masks.append([~repeated for repeated in cache.copies.repeated])
    return [reduce(np.logical_and, of_segment) for of_segment in zip(*masks, strict=True)] if masks else None


def _none(segment: Segment) -> Mask:
    """The mask of no sentence."""
    return np.zeros(segment.sentence_count, bool)


def mask_allowed(
    condition: Condition | None, cache: SearchCache, filters: Filters
) -> Iterator[tuple[Segment, Mask | None]]:
    """Yield each segment with the mask of the sentences that satisfy the condition and all filters.

    The mask is None if there are neither.
    """
    masks = mask_sentences(condition, cache, filters)
    live = find_live(cache.snapshot, filters, condition)
    for n, segment in enumerate(cache.snapshot.segments):
        if n not in live:
            yield segment, _none(segment)
            continue
        documents = mask_documents(segment, filters)
        allowed = None if documents is None else documents[segment.column("document")]
        if masks is not None:
            allowed = masks[n] if allowed is None else masks[n] & allowed
        yield segment, allowed


def mask_live(
    condition: Condition | None, cache: SearchCache, filters: Filters
) -> Iterator[tuple[Segment, Mask | None]]:
    """The same, without the segments that have no document with the dates of the filters."""
    live = find_live(cache.snapshot, filters, condition)
    return islice(mask_allowed(condition, cache, filters), live.start, live.stop)


def count_masked(condition: Condition | None, cache: SearchCache, filters: Filters) -> int:
    """Count the sentences that satisfy the condition and the filters, by their masks."""
    return sum(
        segment.sentence_count if mask is None else int(np.count_nonzero(mask))
        for segment, mask in mask_allowed(condition, cache, filters)
    )


def _mask_matches(plan: Plan, segment: Segment, document_mask: Mask | None) -> Mask:
    """Mask of the sentences that are candidates by the rule, in the documents of the mask."""
    numbers = [segment.terms.find(term) for term in plan.candidate_terms]
    document = segment.column("document")
    if plan.candidates == "context" and plan.context == "document":
        has_term = np.zeros(segment.document_count, bool)
        for number in numbers:
            has_term[segment.document_postings(number).numbers] = True
        mask: Mask = has_term[document]
    elif plan.candidates == "all":
        mask = np.ones(segment.sentence_count, bool)
    else:
        mask = np.zeros(segment.sentence_count, bool)
        for number in numbers:
            mask[segment.sentence_postings(number).numbers] = True
        if plan.candidates == "context":
            mask = _with_neighbours(mask, segment.has_previous)
    if plan.needs_term and plan.candidates != "matching":
        mask &= segment.column("length") > 0
    if document_mask is not None:
        mask &= document_mask[document]
    return mask


def _with_neighbours(mask: Mask, has_previous: Mask) -> Mask:
    """Extend the mask to neighbours in the same document."""
    spread = mask.copy()
    spread[1:] |= mask[:-1] & has_previous[1:]
    spread[:-1] |= mask[1:] & has_previous[1:]
    return spread


def read_candidates(cache: SearchCache, plan: Plan, filters: Filters) -> CandidateEvidence:
    snapshot = cache.snapshot
    terms = [term.term for term in plan.terms]
    columns = {*EVIDENCE_COLUMNS, *(static_score.column for static_score in plan.static_scores)}
    numbers = select_candidates(plan, cache, filters)
    parts = [
        read_evidence(terms, FIELDS, columns, segment, importance, candidates)
        for segment, importance, candidates in zip(
            snapshot.segments, snapshot.statistics.importance, numbers, strict=True
        )
    ]
    bases = np.cumsum([0, *map(len, numbers)])

    def id_at(place: int) -> str:
        owner = int(np.searchsorted(bases, place, "right")) - 1
        return sentence_id(snapshot, Location(owner, int(numbers[owner][place - bases[owner]])))

    def place_of(id: str) -> int | None:
        location = find_sentence(snapshot, id)
        if location is None:
            return None
        candidates = numbers[location.segment]
        place = int(np.searchsorted(candidates, location.number))
        is_candidate = place < len(candidates) and candidates[place] == location.number
        return int(bases[location.segment]) + place if is_candidate else None

    return CandidateEvidence(concatenate(parts), id_at, place_of)


class TopK(NamedTuple):
    """The best k sentences of a search.

    `ordinals` are best first, ties in collection order. `total` is the number of candidates, `scored` the
    number of sentences scored.
    """

    ordinals: Numbers
    scores: Array
    total: int
    scored: int


def search_exhaustive(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> TopK:
    """Search by scoring every candidate."""
    snapshot = cache.snapshot
    columns = [static_score.column for static_score in plan.static_scores]
    terms = [term.term for term in plan.terms]
    ordinals, values = [np.zeros(0, np.int64)], [np.zeros(0)]
    scored = 0
    for owner, numbers in enumerate(select_candidates(plan, cache, filters)):
        if not len(numbers):
            continue
        importance = read_importance(snapshot, columns, owner)
        fields = plan.transform.fields()
        evidence = read_evidence(terms, fields, columns, snapshot.segments[owner], importance, numbers)
        scores = score_sentences(plan, evidence)
        has_score = np.flatnonzero(np.isfinite(scores))
        scored += len(numbers)
        ordinals.append(numbers[has_score] + snapshot.statistics.sentence_bases[owner])
        values.append(scores[has_score])
    all_ordinals, all_scores = np.concatenate(ordinals), np.concatenate(values)
    best = top_k(all_scores, k)
    return TopK(all_ordinals[best], all_scores[best], len(all_scores), scored)
