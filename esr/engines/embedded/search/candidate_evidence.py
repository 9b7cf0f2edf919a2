"""The evidence for all candidates of a plan."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.candidates import select_candidates
from esr.engines.embedded.search.evidence import read_evidence
from esr.engines.embedded.search.records import Location, find_sentence, sentence_id
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.index import EVIDENCE_COLUMNS, CandidateEvidence, Filters
from esr.plans.evidence import concatenate
from esr.plans.plan import FIELDS, Plan


def read_candidates(cache: SearchCache, plan: Plan, filters: Filters) -> CandidateEvidence:
    snapshot = cache.snapshot
    terms = [term.term for term in plan.terms]
    columns = {*EVIDENCE_COLUMNS, *(static.column for static in plan.statics)}
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
