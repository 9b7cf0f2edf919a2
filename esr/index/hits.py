"""Results of an index: sentences, hits, evidence of candidates, distributions of a column's values.

`LazyHits` holds hits without records as columns: scores and ordinals are arrays, and ids are read on first
access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import ClassVar, NamedTuple, Protocol, overload

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.errors import UsageError
from esr.plans.evaluate import Array, Evidence
from esr.stdlib import cached_property
from esr.text.document import Quote

Numbers = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]
ReadIds = Callable[[Places], list[str]]
EVIDENCE_COLUMNS = ("length", "importance", "importance_surrounding")
"""The columns that all evidence has. Others are `position` and those of the features."""


class SentenceRecord(NamedTuple):
    """A sentence with its neighbours (None at either end of the document) and the document's fields.

    `features` holds the known features. `entities` holds the names by type, None before enrichment.
    `paragraph` is the zero-based paragraph index in the source text, None if unknown.
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


class WindowSentence(NamedTuple):
    """A sentence of a window, its position in the document, and the stored quotations in it."""

    sentence_id: str
    position: int
    text: str
    quotes: tuple[Quote, ...] = ()


class Hit(NamedTuple):
    """A ranked sentence and its ordinal in the index. `record` is None if only ids were requested."""

    sentence_id: str
    score: float
    record: SentenceRecord | None
    ordinal: int = 0

    @property
    def text(self) -> str:
        """The text of the sentence. Raises UsageError if only ids were requested."""
        if self.record is None:
            raise UsageError("the hits have ids alone: search with records=True")
        return self.record.text


def make_hits(
    ids: Iterable[str],
    scores: Iterable[float],
    records: Iterable[SentenceRecord | None],
    ordinals: Iterable[int],
) -> list[Hit]:
    """Hits from their columns."""
    return list(map(Hit, ids, scores, records, ordinals))


class SearchResult(Struct, frozen=True):
    """The k best sentences, best first, ties in collection order.

    `total` counts all candidates. `incomplete` says what the result lacks (a shard failed, the time ran out),
    or is None. `scored` is the number of candidates scored, None if unknown. `exhaustive` says why all of
    them had to be scored, or is None.
    """

    hits: Sequence[Hit]
    total: int
    incomplete: str | None = None
    scored: int | None = None
    exhaustive: str | None = None

    @property
    def diagnostics(self) -> tuple[str | None, int | None, str | None]:
        """How the result was obtained: `incomplete`, `scored`, `exhaustive`."""
        return self.incomplete, self.scored, self.exhaustive


class WordNumbers(Protocol):
    """Numbers for words of the analyzer `words`. A word may have several; two words never share one."""

    def match(self, numbers: Numbers, word: str, is_prefix: bool) -> npt.NDArray[np.bool_]:
        """A mask of the numbers of this word, or of the words with this prefix."""

    def names(self, numbers: Numbers) -> list[str]:
        """The words with these numbers."""


class SentenceWords(NamedTuple):
    """The concatenated word numbers of n sentences, and the start of each sentence.

    `numbers` are of shape (words,), `starts` of shape (n + 1,), of which the last is the end.
    """

    vocabulary: WordNumbers
    numbers: Numbers
    starts: Numbers


class SentenceTexts(Struct, frozen=True, dict=True):
    """Sentences for counts of words: their texts, and the days and sources of their documents.

    `read_ids` maps positions among them to their ids. Days are since 1970-01-01 in UTC. `total` counts all
    matching sentences. `read_words` returns their words if the engine has them without reading the texts,
    else None.
    """

    read_ids: ReadIds
    read_texts: Callable[[], Sequence[str]]
    days: Sequence[int | None]
    sources: Sequence[str | None]
    total: int
    read_words: Callable[[], SentenceWords | None] = lambda: None

    @cached_property
    def texts(self) -> Sequence[str]:
        return self.read_texts()


class CandidateEvidence(Struct, frozen=True):
    """All candidates of a plan, in collection order, with their evidence: the input of tuning.

    `sentence_id` maps a row of the evidence to its sentence's id; `row_of` maps an id to its row, None if the
    sentence is not a candidate.
    """

    evidence: Evidence
    sentence_id: Callable[[int], str]
    row_of: Callable[[str], int | None]


class Histogram(NamedTuple):
    """The values of a column, ascending, and the number of sentences with each. Both of shape (values,)."""

    values: Array
    counts: npt.NDArray[np.int64]


class LazyIds(Sequence[str]):
    """The ids of n hits, all read when the first one is accessed."""

    def __init__(self, n: int, read_ids: ReadIds) -> None:
        self._n = n
        self._read_ids = read_ids

    @cached_property
    def _ids(self) -> list[str]:
        return self._read_ids(np.arange(self._n))

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self._ids[place]


class LazyHits(Sequence[Hit]):
    """Hits without records, stored as columns. Equal to a list of the same hits.

    `ordinals` and `scores` are of shape (n,). `read_ids` maps positions among the hits to their ids.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # unhashable, as lists are

    def __init__(self, ordinals: Numbers, scores: Array, read_ids: ReadIds) -> None:
        self.ordinals = ordinals
        self.scores = scores
        self._read_ids = read_ids
        self.ids: Sequence[str] = LazyIds(len(ordinals), read_ids)

    @classmethod
    def of(cls, hits: Sequence[Hit]) -> LazyHits:
        """Convert hits to columns, dropping their records."""
        if isinstance(hits, LazyHits):
            return hits
        ordinals = np.array([hit.ordinal for hit in hits], np.int64)
        scores = np.array([hit.score for hit in hits], float)
        return cls(ordinals, scores, lambda places: [hits[n].sentence_id for n in places.tolist()])

    def head(self, n: int) -> LazyHits:
        """The first n hits."""
        return self if n >= len(self) else LazyHits(self.ordinals[:n], self.scores[:n], self._read_ids)

    def at(self, places: Places, scores: Array | None = None) -> LazyHits:
        """The hits at these positions, with `scores` of the same shape if given."""
        scores = self.scores[places] if scores is None else scores
        return LazyHits(self.ordinals[places], scores, lambda positions: self._read_ids(places[positions]))

    @staticmethod
    def join(parts: Sequence[LazyHits]) -> LazyHits:
        """Concatenate hits."""
        ends = np.cumsum([len(part) for part in parts])

        def read_ids(places: Places) -> list[str]:
            owners = np.searchsorted(ends, places, "right")
            ids = np.empty(len(places), object)
            for n, part in enumerate(parts):
                positions = np.flatnonzero(owners == n)
                if len(positions):
                    ids[positions] = part._read_ids(places[positions] - (ends[n] - len(part)))
            return list(ids)

        ordinals = np.concatenate([part.ordinals for part in parts])
        return LazyHits(ordinals, np.concatenate([part.scores for part in parts]), read_ids)

    def rescored(self, places: Places, scores: Array) -> list[Hit]:
        """The hits at these positions with other scores, both of shape (m,). No other hit's id is read."""
        ordinals = self.ordinals[places].tolist()
        return make_hits(self._read_ids(places), scores.tolist(), repeat(None), ordinals)

    @cached_property
    def _hits(self) -> list[Hit]:
        return make_hits(self.ids, self.scores.tolist(), repeat(None), self.ordinals.tolist())

    def __len__(self) -> int:
        return len(self.ordinals)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...
    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        return self._hits[place]

    def __eq__(self, other: object) -> bool:
        return self._hits == (other._hits if isinstance(other, LazyHits) else other)

    def __repr__(self) -> str:
        return repr(self._hits)
