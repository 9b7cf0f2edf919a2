"""What an index returns: sentences, hits, the evidence of candidates, distributions of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.errors import UsageError
from esr.plans.evidence import Array, Evidence

_new_tuple = tuple.__new__
EVIDENCE_COLUMNS = ("length", "importance", "importance_surrounding")
"""The columns that all evidence has. Others are `position` and those of the features."""


class SentenceRecord(NamedTuple):
    """A sentence with its neighbors (None at either end of the document) and the document's fields.

    `features` holds those that are known. `entities` holds the names by type, None before enrichment.
    `paragraph` is the number of its paragraph in the source text, from 0; None if unknown.
    """

    sentence_id: str
    document_id: str
    position: int
    text: str
    previous: str | None
    next: str | None
    title: str | None
    date: str | None
    source: str | None
    url: str | None
    language: str | None
    features: Mapping[str, float] = {}
    entities: Mapping[str, Sequence[str]] | None = None
    paragraph: int | None = None
    authors: tuple[str, ...] = ()
    section: str | None = None
    keywords: tuple[str, ...] = ()


class Hit(NamedTuple):
    """A ranked sentence. `record` is None if only ids were requested, `ordinal` its place in the index."""

    sentence_id: str
    score: float
    record: SentenceRecord | None
    ordinal: int = 0

    @property
    def text(self) -> str:
        """The sentence. Raises UsageError if only ids were requested."""
        if self.record is None:
            raise UsageError("the hits have ids alone: search with records=True")
        return self.record.text


def make_hits(
    ids: Iterable[str],
    scores: Iterable[float],
    records: Iterable[SentenceRecord | None],
    ordinals: Iterable[int],
) -> list[Hit]:
    """As Hit(...) makes each, in half of the time."""
    return [_new_tuple(Hit, fields) for fields in zip(ids, scores, records, ordinals, strict=False)]


class SearchResult(Struct, frozen=True):
    """The k best sentences, best first, ties in collection order.

    `total` counts all candidates. `incomplete` says what the result lacks (a shard failed, the time ran
    out), or is None. `scored` is how many candidates were scored, None if unknown. `exhaustive` says why
    all of them had to be scored, or is None.
    """

    hits: Sequence[Hit]
    total: int
    incomplete: str | None = None
    scored: int | None = None
    exhaustive: str | None = None

    @property
    def diagnostics(self) -> tuple[str | None, int | None, str | None]:
        """How the result came about: `incomplete`, `scored`, `exhaustive`."""
        return self.incomplete, self.scored, self.exhaustive


class CandidateEvidence(Struct, frozen=True):
    """All candidates of a plan, in collection order, with their evidence: the input of tuning.

    `sentence_id` gives the id of a row of the evidence; `row_of` the row of a sentence, None if it is no
    candidate.
    """

    evidence: Evidence
    sentence_id: Callable[[int], str]
    row_of: Callable[[str], int | None]


class Histogram(NamedTuple):
    """The values of a column, ascending, and how many sentences have each. Both have the shape (values,)."""

    values: Array
    counts: npt.NDArray[np.int64]
