"""The survey of the terms of segments, from their columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from esr.analysis.survey import FREQUENT_SHARE, LONG_SENTENCE, TermSurvey, most_frequent
from esr.engines.segments.store.segment import Segment


def survey_terms(segments: Sequence[Segment]) -> TermSurvey:
    """What the terms of all these segments tell."""
    sentences = sum(segment.sentence_count for segment in segments)
    lengths = [segment.column("length") for segment in segments]
    # A term that is frequent in all of them is frequent in one.
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
