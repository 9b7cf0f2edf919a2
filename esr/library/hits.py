"""Answers of the Python API: hits, with methods for facets, explanations and tables."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, overload

from esr.errors import NotFound, UsageError
from esr.index import hits as index_hits
from esr.index.contract import Index, read_document
from esr.index.filters import Filters, UnknownFilter
from esr.index.hits import SentenceRecord
from esr.index.questions import ByField, Records
from esr.library.checks import check_arguments
from esr.ranking.answers import hit_dict
from esr.ranking.explanation.explain import explain
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.query_report import count_matches
from esr.stdlib import cached_property, import_lazily
from esr.tables import Table
from esr.text.addresses import web_url
from esr.text.document import Document
from esr.text.term_spans import Span, find_spans
from esr.wording import count

if TYPE_CHECKING:
    from esr.following import copies
    from esr.following.copies import CopyNote
    from esr.ranking.explanation.explanation import Explanation
    from esr.ranking.query_report import MatchCounts

else:
    copies = import_lazily("esr.following.copies")

COLUMNS = (
    *("rank", "score", "id", "document_id", "position", "text", "title", "date", "source", "url"),
    *("section", "authors", "keywords", "language"),
)
"""The attributes of `Hit` that are columns of tables."""
FACET_SIZE = 10


@check_arguments
class Hit:
    """A ranked sentence with the fields of its document. Searches return hits, which are immutable."""

    __slots__ = ("_hits", "_place")

    def __init__(self, hits: Hits, place: int) -> None:
        self._hits, self._place = hits, place

    @property
    def rank(self) -> int:
        """The position in the answer, from 1."""
        return self._hits._offset + self._place + 1

    @property
    def score(self) -> float:
        """The score by the ranking; scores of different models are not comparable."""
        return self._hits._raw[self._place].score

    @property
    def id(self) -> str:
        """The id of the sentence, unique in the index: `a1.s0`, unless the source gave another."""
        return self._hits._raw[self._place].sentence_id

    @property
    def text(self) -> str:
        """The text of the sentence."""
        return self._record.text

    @property
    def document_id(self) -> str:
        """The id of the document."""
        return self._record.document_id

    @property
    def position(self) -> int:
        """The position of the sentence in its document, from 0."""
        return self._record.position

    @property
    def previous(self) -> str | None:
        """The text of the previous sentence; None at the beginning of the document."""
        return self._record.previous

    @property
    def next(self) -> str | None:
        """The text of the next sentence; None at the end of the document."""
        return self._record.next

    @property
    def title(self) -> str | None:
        """The title of the document, None if it has none."""
        return self._record.title

    @property
    def date(self) -> str | None:
        """The date of the document in ISO 8601, as the source wrote it; None if it has none."""
        return self._record.date

    @property
    def source(self) -> str | None:
        """The source of the document, such as a newspaper; None if it has none."""
        return self._record.source

    @property
    def url(self) -> str | None:
        """The address of the document, None if it has none."""
        return self._record.url

    @property
    def language(self) -> str | None:
        """The language of the document, such as `en`; None if unknown."""
        return self._record.language

    @property
    def section(self) -> str | None:
        """The section of the document, None if it has none."""
        return self._record.section

    @property
    def authors(self) -> tuple[str, ...]:
        """The authors of the document."""
        return self._record.authors

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords of the document."""
        return self._record.keywords

    @property
    def paragraph(self) -> int | None:
        """The position of the sentence's paragraph in its document, from 0; None if unknown."""
        return self._record.paragraph

    @property
    def features(self) -> Mapping[str, float]:
        """The known features of the sentence, by name."""
        return self._record.features

    @property
    def entities(self) -> Mapping[str, Sequence[str]] | None:
        """The names in the sentence by type; None before `index.enrich`."""
        return self._record.entities

    @property
    def marks(self) -> list[Span]:
        """The words of the query in the text, as pairs (start, end) of character positions, in order."""
        return self._hits._find_marks(self.text)

    @property
    def folded(self) -> list[Hit]:
        """The sentences that repeat this one, if the search had `fold=True`; else empty."""
        return self._hits._folded(self.id)

    @property
    def copies(self) -> CopyNote | None:
        """The copies in other documents, after `enrich("reuse")`; None without any.

        `copies.text` says it in words: also in 4 sources, first in Northern Wire on 3 March 2024.
        """
        return self._hits._copies.get(self.id)

    def window(self, sentences: int = 1) -> list[str]:
        """Return the texts of the sentence and of up to `sentences` before and after it, in order.

        Only windows of more than 1 read the document, once for all hits of an answer.
        """
        if sentences <= 1:
            around = (self.previous, self.text, self.next) if sentences else (self.text,)
            return [text for text in around if text is not None]
        texts = [sentence.text for sentence in self.document().sentences]
        return texts[max(self.position - sentences, 0) : self.position + sentences + 1]

    def document(self) -> Document:
        """Read the whole document, with all its sentences and metadata."""
        return self._hits._document(self.document_id)

    def explain(self) -> Explanation:
        """Explain the score as the sum of its parts: see `Hits.explain`."""
        return self._hits.explain(self._place)

    def as_dict(self) -> dict[str, Any]:
        """Return the hit as JSON, with the names of the API and of `esr search --json`."""
        return hit_dict(self._raw_hit)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hit) and self._raw_hit == other._raw_hit

    def __hash__(self) -> int:
        return hash((self.id, self.score))

    def __repr__(self) -> str:
        return f"Hit({self.score:.4f}, {self.id!r}, {self.text!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a hit cannot be pickled, since it belongs to an open index: send hit.as_dict()")

    @property
    def _record(self) -> SentenceRecord:
        return self._hits._records[self._place]

    @property
    def _raw_hit(self) -> index_hits.Hit:
        return self._hits._raw[self._place]._replace(record=self._record)


@check_arguments
class Hits(Table, Sequence[Hit]):
    """The answer to a search: hits, best first, ties in the order of the collection.

    All later reads are from the state of the index that was searched, until its generation is deleted. A
    later `append` or `remove` does not affect it.
    """

    def __init__(
        self,
        prepared: PreparedQuery | None,
        answer: Answer,
        filters: Filters,
        folded: Mapping[str, Sequence[index_hits.Hit]] | None = None,
        offset: int = 0,
    ) -> None:
        self._prepared, self._answer, self._filters = prepared, answer, filters
        self._raw = answer.hits
        self._repeats = folded or {}
        self._offset = offset
        self._documents: dict[str, Document] = {}

    @property
    def total(self) -> int:
        """The number of candidates: the sentences that the ranking considered.

        A ranking with a context also considers sentences whose neighbours or document have the words:
        `matching` counts those that match the query themselves.
        """
        return self._answer.total

    @property
    def matching(self) -> int | None:
        """The number of sentences that match the query, as in the API; None for stop words alone.

        They pass the filters, satisfy the conditions of the query and, unless its conditions alone decide,
        have a word of it themselves. They are counted when they are first asked for.
        """
        return self._counts.matching

    @property
    def all_words(self) -> int | None:
        """The number of matching sentences with all of the query's words, as in the API: see `matching`."""
        return self._counts.all_words

    @property
    def took_ms(self) -> float:
        """The time of the search in milliseconds."""
        return self._answer.took_ms

    @property
    def unseen(self) -> tuple[str, ...]:
        """The words of the query that occur in no document."""
        return self._answer.unseen

    @property
    def incomplete(self) -> str | None:
        """What is missing from the answer, such as the hits of a failed shard; None if complete and exact."""
        return self._answer.incomplete

    @property
    def by_default(self) -> str | None:
        """The ranking, `words` or `hybrid`, if the search named none; otherwise None."""
        return self._answer.by_default

    @property
    def no_meaning(self) -> str | None:
        """Why words alone ranked although the index has vectors and the search named no ranking, or None."""
        return self._answer.no_meaning

    @property
    def unread(self) -> int | None:
        """The number of sentences that the cross-encoder had no time for; None without a cross-encoder."""
        return self._answer.unread

    @property
    def unknown_filters(self) -> tuple[UnknownFilter, ...]:
        """The values of filters that the index does not have, each with a message and the nearest value."""
        return self._answer.unknown_filters

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...
    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        places = range(len(self))[place]
        return Hit(self, places) if isinstance(places, int) else [Hit(self, number) for number in places]

    def __len__(self) -> int:
        return len(self._raw)

    def __iter__(self) -> Iterator[Hit]:
        return (Hit(self, place) for place in range(len(self)))

    def facets(self, *fields: str, size: int = FACET_SIZE) -> dict[str, dict[str, int]]:
        """Count the sentences that have each value of a field, for the `size` most frequent values.

        Fields are `source`, `month`, `author`, `section`, `keyword`, keys of the metadata such as
        `meta.desk`, and the types of names (`person`, `organization`, `location` and others; after
        `index.enrich`). The sentences are those that `matching` counts, not only the hits. A field is counted
        without the search's filter on it, so the counts say how many sentences other values would give.
        Raises UsageError for an unknown field.
        """
        if not fields:
            raise UsageError("name the fields to count: facets('source', 'month')")
        condition = self._query.matching
        if condition is None:
            return {field: {} for field in fields}
        (counts,) = self._index.count([condition], self._filters, ByField(fields, size, without_own=True))
        return {field: dict(of_field) for field, of_field in counts.items()}

    def explain(self, hit: int | str | Hit) -> Explanation:
        """Explain a sentence's score as the sum of its parts. `print` shows them as a table.

        `hit` is one of the hits, its zero-based position, or the id of any sentence of the index. Raises
        NotFound for an unknown id, or a position behind the last hit.
        """
        return explain(self._query, self._find_id(hit), self._filters)

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the hits as JSON, with the names of the API and of `esr search --json`."""
        return [hit.as_dict() for hit in self]

    def __repr__(self) -> str:
        shown = "".join(f"\n{hit.rank:>3}  {hit.score:9.4f}  {hit.text}" for hit in self[:_SHOWN])
        more = f"\n  … {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else ""
        return f"<{len(self):,} hits of {self.total:,}{shown}{more}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("hits cannot be pickled, since they belong to an open index: send hits.as_dicts()")

    def _repr_html_(self) -> str:
        """An HTML table for notebooks, in which the words of the query are marked."""
        rows = "".join(map(_to_row, self))
        head = "".join(f"<th>{name}</th>" for name in ("", "score", "sentence", "title", "source", "date"))
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"<p>{len(self):,} of {self.total:,} candidates, {self.took_ms:.0f} ms</p>"
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each hit, with attributes of `Hit` as columns."""

        def read(hit: Hit, name: str) -> Any:
            value = getattr(hit, name)
            return list(value) if isinstance(value, tuple) else value

        return {name: [read(hit, name) for hit in self] for name in COLUMNS}

    def _find_id(self, hit: int | str | Hit) -> str:
        if isinstance(hit, str | Hit):
            return hit if isinstance(hit, str) else hit.id
        if isinstance(hit, bool) or not isinstance(hit, SupportsIndex):
            raise UsageError(f"a sentence is a hit, its position or its id, not {hit!r}")
        if not -len(self) <= (position := index(hit)) < len(self):
            raise NotFound(f"there is no hit {position}: the answer has {count(len(self), 'hit')}, from 0 on")
        return self[position].id

    def read(self) -> Hits:
        """Read the texts of the hits now, if the search did not, and return the same hits."""
        _ = self._records
        return self

    @cached_property
    def _counts(self) -> MatchCounts:
        return count_matches(self._query, self._filters)

    @property
    def _query(self) -> PreparedQuery:
        if self._prepared is None:
            raise UsageError(f"nothing was searched for: {self.incomplete}")
        return self._prepared

    @property
    def _index(self) -> Index:
        return self._query.index

    @cached_property
    def _records(self) -> Sequence[SentenceRecord]:
        """The sentences of the hits, all read now if the search did not read them."""
        records = [hit.record for hit in self._raw if hit.record is not None]
        if len(records) < len(self._raw):
            return self._index.read([hit.sentence_id for hit in self._raw], Records())
        return records

    @cached_property
    def _copies(self) -> Mapping[str, CopyNote]:
        return copies.find_copies(self._index, self._raw)

    def _document(self, id: str) -> Document:
        if id not in self._documents:
            self._documents[id] = read_document(self._index, id)
        return self._documents[id]

    def _find_marks(self, text: str) -> list[Span]:
        return find_spans(text, self._index.analyzer.tokens(text), self._query.counts)

    def _folded(self, id: str) -> list[Hit]:
        repeats = self._repeats.get(id)
        if not repeats:
            return []
        answer = Answer(repeats, len(repeats), 0.0)
        return list(Hits(self._prepared, answer, self._filters))


_SHOWN = 10
"""The number of hits in the `repr` of an answer."""


def _to_row(hit: Hit) -> str:
    title = html.escape(hit.title or hit.document_id)
    if url := web_url(hit.url):
        title = f'<a href="{html.escape(url)}">{title}</a>'
    rest = "".join(f"<td>{html.escape(text or '')}</td>" for text in (hit.source, hit.date))
    return (
        f"<tr><td>{hit.rank}</td><td>{hit.score:.4f}</td>"
        f'<td style="text-align: left">{_mark(hit.text, hit.marks)}</td><td>{title}</td>{rest}</tr>'
    )


def _mark(text: str, marks: Sequence[Span]) -> str:
    """The text as HTML, with these pieces marked."""
    pieces, done = [], 0
    for start, end in marks:
        pieces += [html.escape(text[done:start]), f"<mark>{html.escape(text[start:end])}</mark>"]
        done = end
    return "".join([*pieces, html.escape(text[done:])])
