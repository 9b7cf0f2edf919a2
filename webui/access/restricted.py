"""An index restricted to the documents that satisfy a condition.

The condition is added to whatever the engine runs, so lists, counts and pages are exact. Methods that read by
id first ask the engine whether the condition holds. Words, names and values are listed with their counts
among the visible sentences. Statistics remain those of the whole collection, so scores do not change. All
other methods are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from msgspec.structs import replace

from esr.errors import NotFound, UsageError
from esr.index.contract import Index, Result, Similarities
from esr.index.filters import NO_FILTERS, DayCounts, FacetCounts, Filters, ValueTable
from esr.index.hits import CandidateEvidence, Hit, SearchResult, SentenceRecord
from esr.index.names import Name
from esr.plans.evaluate import Evidence
from esr.plans.plan import EVERY_SENTENCE, Condition, HasEntity, HasTerm, HasWords, Not, Plan, all_of
from esr.query import parse
from esr.query.interpretation import interpret
from esr.query.query import has_relative_dates
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER
from esr.text.document import META, META_PREFIX, Document, QuantizedVector, is_attribute
from webui.running.problems import Forbidden

FIELDS = ("source", "author", "section", "keyword", "language", "before", "after", "meta.KEY")
"""The fields that a restriction may name: only those of documents, so a document is visible as a whole."""
_EXTRA, _MOST = 4, 200
"""Factor by which more words and names are read than requested, since some are hidden; and the maximum."""
_MOST_VALUES = 10_000
"""The most values of a field that are listed."""


def parse_restriction(text: str) -> Condition:
    """The condition of a query that names fields of documents only. Raises UsageError."""
    parsed = parse(text)
    clauses = [clause for group in parsed.groups for clause in group.clauses]
    bad = next((c for c in clauses if c.field not in FIELDS and not is_attribute(c.field)), None)
    reason = parsed.notes[0].message if parsed.notes else ""
    if has_relative_dates(parsed):
        reason = "write a day, such as 2017-03-05"
    condition = None if reason else interpret(parsed, get_analyzer(WORDS_ANALYZER)).condition
    if bad is not None or condition is None:
        reason = reason or f"use only the fields {', '.join(FIELDS)}"
        raise UsageError(f"cannot filter by {text!r}: {reason}")
    return condition


class RestrictedIndex:
    """An index restricted to the documents that satisfy a condition of documents."""

    def __init__(self, index: Index, condition: Condition) -> None:
        self._index = index
        self._condition = condition
        self._shown: set[str] = set()
        """Ids of sentences that are known to be visible."""
        self.where = index.where
        self.description = index.description
        self.analyzer = index.analyzer

    def _both(self, condition: Condition | None) -> Condition:
        both = all_of([self._condition] if condition is None else [self._condition, condition])
        assert both is not None
        return both

    def _plan(self, plan: Plan) -> Plan:
        return replace(plan, condition=self._both(plan.condition))

    # Unrestricted

    def snapshot(self) -> Index:
        return restrict(self._index.snapshot(), self._condition)

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return self._index.on_latest(lambda index: work(restrict(index, self._condition)))

    # Methods that run a plan or a condition

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        result = self._index.search(self._plan(plan), k, filters, records=records)
        if records:
            self._shown.update(hit.sentence_id for hit in result.hits)
        return result

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        return self._index.candidates(self._plan(plan), filters)

    def facets(
        self, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
    ) -> dict[str, FacetCounts]:
        return self._index.facets(self._plan(plan), filters_by_field, size)

    def count(self, conditions: Sequence[Condition], filters: Filters) -> list[int]:
        return self._index.count([self._both(condition) for condition in conditions], filters)

    def count_days(self, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
        return self._index.count_days([self._both(condition) for condition in conditions], filters)

    def nearest(
        self, encoder: str, query: QuantizedVector, k: int, condition: Condition | None, filters: Filters
    ) -> list[Hit]:
        return self._index.nearest(encoder, query, k, self._both(condition), filters)

    # Methods that read by id

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        records = self._index.sentences(ids)
        unknown = [record for record in records if record.sentence_id not in self._shown]
        hidden = self._hidden({record.document_id for record in unknown})
        for record in unknown:
            if record.document_id in hidden:
                raise NotFound(f"there is no sentence {record.sentence_id!r}")
        self._shown.update(record.sentence_id for record in unknown)
        return records

    def _hidden(self, document_ids: Collection[str]) -> Collection[str]:
        """The documents that do not satisfy the condition. Each must have sentences."""
        if not document_ids or not self._counts_hidden(tuple(document_ids)):
            return ()
        return [id for id in document_ids if len(document_ids) == 1 or self._counts_hidden((id,))]

    def _counts_hidden(self, document_ids: tuple[str, ...]) -> int:
        return self._index.count([Not(self._condition)], Filters(documents=document_ids))[0]

    def document(self, document_id: str) -> Document:
        document = self.find_documents([document_id]).get(document_id)
        if document is None:
            raise NotFound(f"there is no document {document_id!r}")
        return document

    def find_documents(self, ids: Collection[str]) -> dict[str, Document]:
        found = {id: each for id, each in self._index.find_documents(ids).items() if each.sentences}
        hidden = self._hidden(found.keys())
        visible = {id: each for id, each in found.items() if id not in hidden}
        self._shown.update(sentence.id for each in visible.values() for sentence in each.sentences)
        return visible

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        self._check_shown(ids, ordinals)
        return self._index.evidence(terms, ids, columns, ordinals)

    def similarities(
        self,
        encoder: str,
        query: QuantizedVector,
        ids: Sequence[str],
        ordinals: Sequence[int] | None = None,
        contexts: Collection[str] = (),
    ) -> Similarities:
        self._check_shown(ids, ordinals)
        return self._index.similarities(encoder, query, ids, ordinals, contexts)

    def vectors(
        self, encoder: str, ids: Sequence[str], ordinals: Sequence[int] | None = None
    ) -> list[QuantizedVector | None]:
        self._check_shown(ids, ordinals)
        return self._index.vectors(encoder, ids, ordinals)

    def _check_shown(self, ids: Sequence[str], ordinals: Sequence[int] | None) -> None:
        """Raise UsageError for the id of a hidden sentence. Ids with ordinals are those of visible hits."""
        if ordinals is None:
            self.sentences([id for id in dict.fromkeys(ids) if id not in self._shown])

    # Methods that list words, names and values

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        terms = self._index.terms_with_prefix(prefix, _more(limit))
        return [term for term, _ in self._counted((term, HasTerm(term)) for term in terms)][:limit]

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        words = self._index.words_with_prefix(prefix, _more(limit))
        counted = self._counted((word, HasWords((word,))) for word, _ in words)
        return sorted(counted, key=lambda word: (-word[1], word[0]))[:limit]

    def similar_words(self, word: str, max_edits: int, least: int) -> Mapping[str, int]:
        similar = self._index.similar_words(word, max_edits, least)
        frequent = sorted(similar, key=lambda other: (-similar[other], other))[:_MOST]
        counted = self._counted((other, HasWords((other,))) for other in frequent)
        return {other: count for other, count in counted if count >= least}

    def written_forms(self, words: Sequence[str]) -> list[str]:
        """The words unchanged: their usual spelling would come from the whole collection."""
        return list(words)

    def name_keys(self, prefix: str, limit: int) -> list[str]:
        keys = self._index.name_keys(prefix, _more(limit))
        counted = self._counted((key, HasEntity((key,))) for key in keys)
        return [key for key, _ in sorted(counted, key=lambda key: (-key[1], key[0]))][:limit]

    def find_names(self, keys: Sequence[str]) -> Mapping[str, Name]:
        names = self._index.find_names(keys)
        counts = self._counted((key, HasEntity(name.keys)) for key, name in names.items())
        return {key: names[key]._replace(sentences=count) for key, count in counts}

    def full_names(self, key: str) -> Sequence[str]:
        return list(self.find_names(self._index.full_names(key)))

    def count_names(
        self, filters: Filters, size: int, *, condition: Condition | None = None, **options: Any
    ) -> Mapping[str, int]:
        return self._index.count_names(filters, size, condition=self._both(condition), **options)

    def _counted(self, conditions: Iterable[tuple[str, Condition]]) -> list[tuple[str, int]]:
        """The texts whose condition any visible sentence satisfies, with the number of these sentences."""
        pairs = list(conditions)
        if not pairs:
            return []
        counts = self.count([condition for _, condition in pairs], NO_FILTERS)
        return [(text, count) for (text, _), count in zip(pairs, counts, strict=True) if count]

    def values(self, field: str) -> ValueTable:
        """The values of visible documents, each with the number of visible sentences."""
        known = [value.form for value in self._index.values(field).with_prefix("", _MOST_VALUES)]
        if not known:
            return ValueTable(())
        if field != META:
            return ValueTable(self._facets([field], len(known))[field])
        found = self._facets([META_PREFIX + key for key in known], 1)
        return ValueTable((key, found[META_PREFIX + key][0][1]) for key in known if found[META_PREFIX + key])

    def _facets(self, fields: Sequence[str], size: int) -> dict[str, FacetCounts]:
        return self.facets(EVERY_SENTENCE, dict.fromkeys(fields, NO_FILTERS), size)

    def __getattr__(self, name: str) -> Any:
        """A method of the tables below. Raises Forbidden for any other, such as `request`, which would show
        the condition.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self._index, name)
        if name in _WHOLE:
            return method
        if name in _BY_CONDITION:
            return lambda condition, *args, **more: method(self._both(condition), *args, **more)
        if name in _BY_IDS:
            return partial(self._read_shown, method)
        raise Forbidden("this is not for those who see only some documents of an index", None)

    def _read_shown(self, method: Any, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> Any:
        self._check_shown(ids, ordinals)
        return method(ids, ordinals)


_WHOLE = frozenset(
    {
        *(
            "check_ready",
            "close",
            "count_holders",
            "count_words",
            "encoder",
            "features",
            "has_parses",
            "histogram",
            "languages",
        ),
        *("nearest_is_exact", "statistics", "warm_up"),
    }
)
"""Methods that need no restriction, since they show no text of a document."""
_BY_CONDITION = frozenset({"by_date", "count_terms", "texts"})
"""Methods whose first argument is a condition of sentences."""
_BY_IDS = frozenset({"parses", "quotes"})
"""Methods whose arguments are ids of sentences, and the ordinals of hits."""


def restrict(index: Index, condition: Condition) -> Index:
    return cast(Index, RestrictedIndex(index, condition))


def _more(limit: int) -> int:
    return max(limit, min(_EXTRA * limit, _MOST))
