"""A view of an index: the part of it that a caller sees, in a language, within a time.

Every call passes through the view, so its parts hold for all callers:

*Condition*  Only documents that satisfy it are visible. The condition is added to whatever the engine runs,
             so lists, counts and pages are exact. Reading by id first asks the engine whether the documents
             are visible. Words, names and values are listed with their counts among the visible sentences.
             Statistics remain those of the whole collection, so scores do not change. What is not known to
             be safe is refused.
*Language*   In an index by language, the view has the terms, statistics and sentences of one language, as if
             the index had only documents in it.
*Deadline*   Each call fails once the time has passed. Servers also measure calls there.

Calls that do not need each other can be made at the same time (`start_beside`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast, overload

from msgspec.structs import replace

from esr.errors import NotFound, NotVisible
from esr.index import questions
from esr.index.contract import Enrichment, Index, Result
from esr.index.copies import CopyGroup
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import CandidateEvidence, Hit, SearchResult, SentenceRecord
from esr.index.language import implies_language, language_condition
from esr.index.limits import time_remaining, within
from esr.index.names import Name
from esr.index.questions import Answer, Column, Fact, Grouping, Lookup, Selection
from esr.index.similarities import SimilarityRescoring
from esr.index.values import ValueTable
from esr.index.writer import Description
from esr.plans.plan import AllOf, Condition, HasEntity, HasTerm, HasWords, Not, Plan, Statistics, all_of
from esr.stdlib import cached_property, import_lazily
from esr.text.analyzer import Analyzer
from esr.text.analyzer_definitions import language_group
from esr.text.attributes import META, META_PREFIX
from esr.text.document import Document
from esr.text.sentence_enrichment import QuantizedVector

if TYPE_CHECKING:
    from concurrent import futures

    from esr.index import factory
else:
    factory = import_lazily("esr.index.factory")
    futures = import_lazily("concurrent.futures")

_EXTRA, _MOST = 4, 200
"""Factor by which more words and names are read than requested, since some are hidden; and the maximum."""
_MOST_VALUES = 10_000
"""The most values of a field that are listed."""


class Language(NamedTuple):
    """A language of an index by language, a code of `language_group`.

    None, for queries without words, restricts nothing. `others` are other languages that a query may be in.
    """

    code: str | None
    others: tuple[str, ...] = ()


class Deadline:
    """The time in seconds that each call of a view may take."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @contextmanager
    def limit(self, stage: str) -> Iterator[None]:
        """The context of a call. `stage` names what is asked. Raises EngineUnreachable if the time is up."""
        with within(self.seconds):
            time_remaining(self.seconds)
            yield


class View(Index):
    """An index seen under a condition of documents, in a language, within a deadline; each is optional."""

    def __init__(
        self,
        index: Index,
        condition: Condition | None = None,
        language: Language | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        self.index: Index = index
        self._shown: set[str] = set()
        """Ids of sentences that are known to be visible."""
        if isinstance(index, View):
            condition = _both(index.condition, condition)
            language, deadline = language or index.language, deadline or index.deadline
            self._shown = index._shown if condition == index.condition else set()
            self.index = index.index
        self.condition: Condition | None = condition
        self.language: Language | None = language
        self.deadline: Deadline | None = deadline
        self.where: str = self.index.where
        self.description: Description = self.index.description
        analyzer = self.index.analyzer
        self.analyzer: Analyzer = analyzer if language is None else analyzer.for_language(language.code)

    def _of(self, index: Index) -> View:
        """The same view of another state of the index."""
        return View(index, self.condition, self.language, self.deadline)

    def _call(self, stage: str) -> AbstractContextManager[None]:
        return nullcontext() if self.deadline is None else self.deadline.limit(stage)

    def waiting(self) -> AbstractContextManager[None]:
        """The context in which to wait for work that calls the view in another thread."""
        return self._call(BESIDE)

    # How conditions, plans and ids are restricted

    @cached_property
    def _language_condition(self) -> Condition | None:
        """The condition that a document is in the language, None for all documents."""
        if self.language is None or self.language.code is None:
            return None
        return language_condition(self.status(questions.Languages()), self.language.code)

    def in_language(self, condition: Condition | None) -> Condition | None:
        """Add the condition of the language, unless the condition's terms imply it."""
        in_this_language = self._language_condition
        if in_this_language is None or (condition is not None and implies_language(condition)):
            return condition
        return in_this_language if condition is None else AllOf((condition, in_this_language))

    def _restrict(self, condition: Condition | None) -> Condition | None:
        return _both(self.condition, self.in_language(condition))

    def _plan(self, plan: Plan) -> Plan:
        """Restrict a plan. Terms suffice for the language if they decide: they occur in no other language."""
        condition = self.in_language(plan.condition) if plan.candidates == "all" else plan.condition
        both = _both(self.condition, condition)
        return plan if both is plan.condition else replace(plan, condition=both)

    def _refuse(self) -> None:
        """Raise NotVisible if some documents are hidden."""
        if self.condition is not None:
            raise NotVisible("this is not for those who see only some documents of an index")

    def _check_filters(self, filters: Filters) -> None:
        """Raise NotVisible for a filter that depends on hidden documents, where a copy may be."""
        if filters.independent:
            self._refuse()

    def _check_visible(self, ids: Sequence[str], ordinals: Sequence[int] | None) -> None:
        """Raise NotFound for the id of a hidden sentence. Ids with ordinals are those of visible hits."""
        if self.condition is not None and ordinals is None:
            unknown = [id for id in dict.fromkeys(ids) if id not in self._shown]
            if unknown:
                self.read(unknown, questions.Records())

    def _hidden(self, document_ids: Collection[str]) -> Collection[str]:
        """The documents that do not satisfy the condition. Each must have sentences."""
        if not document_ids or not self._counts_hidden(tuple(document_ids)):
            return ()
        return [id for id in document_ids if len(document_ids) == 1 or self._counts_hidden((id,))]

    def _counts_hidden(self, document_ids: tuple[str, ...]) -> int:
        assert self.condition is not None
        with self._call("count"):
            return self.index.count([Not(self.condition)], Filters(documents=document_ids))[0]

    # The methods of the contract

    def snapshot(self) -> View:
        with self._call("snapshot"):
            return self._of(self.index.snapshot())

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return self.index.on_latest(lambda index: work(self._of(index)))

    def warm_up(self) -> None:
        self.index.warm_up()

    def status(self, fact: Fact[Answer]) -> Answer:
        if not isinstance(fact, _FACTS_FOR_ALL):
            self._refuse()
        with self._call(fact.stage):
            return self.index.status(fact)

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        if language is None and self.language is not None:
            language = self.language.code
        with self._call("statistics"):
            return self.index.statistics(terms, language)

    def vocabulary(self, lookup: Lookup[Answer]) -> Answer:
        answer: Answer
        if self.condition is not None and not isinstance(lookup, _LOOKUPS_FOR_ALL):
            answer = self._look_up_visible(lookup)
            return answer
        if self.language is not None and isinstance(lookup, questions.TermsWithPrefix):
            terms: Any = self._look_up(self._with_mark(lookup))
            answer = terms
            return answer
        return self._look_up(lookup)

    def _with_mark(self, lookup: questions.TermsWithPrefix) -> questions.TermsWithPrefix:
        """Prefixes are given with or without the mark of the language."""
        mark = self.analyzer.mark if self.language is not None else ""
        return replace(lookup, prefix=mark + lookup.prefix.removeprefix(mark))

    def _look_up(self, lookup: Lookup[Answer]) -> Answer:
        with self._call(lookup.stage):
            return self.index.vocabulary(lookup)

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        self._check_filters(filters)
        plan = self._plan(plan)
        with self._call("search"):
            result = self.index.search(plan, k, filters, records=records)
        if records and self.condition is not None:
            self._shown.update(hit.sentence_id for hit in result.hits)
        return result

    def request(
        self,
        plan: Plan,
        k: int,
        filters: Filters,
        *,
        standalone: bool = False,
        rescoring: SimilarityRescoring | None = None,
    ) -> dict[str, Any]:
        self._refuse()  # it would show the condition
        plan = self._plan(plan)
        with self._call("request"):
            return self.index.request(plan, k, filters, standalone=standalone, rescoring=rescoring)

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        self._check_filters(filters)
        plan = self._plan(plan)
        with self._call("candidates"):
            return self.index.candidates(plan, filters)

    def select(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        selection: Selection[Answer],
        *,
        oldest_first: bool = False,
    ) -> Answer:
        self._check_filters(filters)
        condition = self._restrict(condition) or condition
        with self._call(selection.stage):
            return self.index.select(condition, k, filters, selection, oldest_first=oldest_first)

    def nearest(
        self, encoder: str, query: QuantizedVector, k: int, condition: Condition | None, filters: Filters
    ) -> list[Hit]:
        self._check_filters(filters)
        condition = self._restrict(condition)
        with self._call("nearest"):
            return self.index.nearest(encoder, query, k, condition, filters)

    @overload
    def count(self, conditions: Sequence[Condition | None], filters: Filters) -> list[int]: ...
    @overload
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Answer]
    ) -> list[Answer]: ...
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Any] | None = None
    ) -> list[Any]:
        self._check_filters(filters)
        restricted = list(map(self._restrict, conditions))
        if by is None:
            with self._call("count"):
                return self.index.count(restricted, filters)
        if isinstance(by, questions.TermsBy | questions.ByReuse) or (
            isinstance(by, questions.ByName) and by.unit == "documents"  # which takes no condition
        ):
            self._refuse()
        if isinstance(by, questions.ByTerm) and by.language is None and self.language is not None:
            by = replace(by, language=self.language.code)
        with self._call(by.stage):
            return self.index.count(restricted, filters, by)

    def read(
        self, ids: Sequence[str], column: Column[Answer], ordinals: Sequence[int] | None = None
    ) -> Answer:
        if isinstance(column, questions.Records):
            records: Any = self._read_records(ids, column, ordinals)
            visible: Answer = records
            return visible
        self._check_visible(ids, ordinals)
        with self._call(column.stage):
            answer = self.index.read(ids, column, ordinals)
        if isinstance(column, questions.Copies) and self.condition is not None:
            groups: Any = self._leave_visible(cast(list[CopyGroup | None], answer))
            answer = groups
        return answer

    def _leave_visible(self, groups: Sequence[CopyGroup | None]) -> list[CopyGroup | None]:
        """The groups without hidden documents."""
        ids = {
            appearance.document_id
            for group in groups
            if group is not None
            for appearance in group.appearances
        }
        hidden = set(self._hidden(ids))
        return [group and group.without_documents(hidden) for group in groups]

    def _read_records(
        self, ids: Sequence[str], column: questions.Records, ordinals: Sequence[int] | None
    ) -> list[SentenceRecord]:
        with self._call(column.stage):
            records = self.index.read(ids, column, ordinals)
        if self.condition is None:
            return records
        unknown = [record for record in records if record.sentence_id not in self._shown]
        hidden = self._hidden({record.document_id for record in unknown})
        for record in unknown:
            if record.document_id in hidden:
                raise NotFound(f"there is no sentence {record.sentence_id!r}")
        self._shown.update(record.sentence_id for record in unknown)
        return records

    def documents(
        self, ids: Collection[str] | None = None, *, positions: Sequence[int] | None = None
    ) -> Iterable[Document]:
        if ids is None:
            self._refuse()
        with self._call("documents"):
            documents = self.index.documents(ids, positions=positions)
        if self.condition is None:
            return documents
        by_id = {document.id: document for document in documents if document.sentences}
        hidden = self._hidden(by_id)
        visible = [document for id, document in by_id.items() if id not in hidden]
        self._shown.update(sentence.id for document in visible for sentence in document.sentences)
        return visible

    def enrichment(self) -> AbstractContextManager[Enrichment]:
        self._refuse()
        return self.index.enrichment()

    def close(self) -> None:
        self.index.close()

    # What the vocabulary shows of visible sentences

    def _look_up_visible(self, lookup: Lookup[Any]) -> Any:
        match lookup:
            case questions.TermsWithPrefix(_, limit):
                terms = self._look_up(replace(self._with_mark(lookup), limit=_more(limit)))
                return [term for term, _ in self._counted((term, HasTerm(term)) for term in terms)][:limit]
            case questions.WordsWithPrefix(_, limit):
                words = self._look_up(replace(lookup, limit=_more(limit)))
                counted = self._counted((word, HasWords((word,))) for word, _ in words)
                return sorted(counted, key=lambda word: (-word[1], word[0]))[:limit]
            case questions.SimilarWords(_, _, least):
                similar = self._look_up(lookup)
                frequent = sorted(similar, key=lambda other: (-similar[other], other))[:_MOST]
                counted = self._counted((other, HasWords((other,))) for other in frequent)
                return {other: count for other, count in counted if count >= least}
            case questions.WrittenForms(words):
                return list(words)  # their usual spelling would come from the whole collection
            case questions.NamesWithPrefix(_, limit):
                keys = self._look_up(replace(lookup, limit=_more(limit)))
                counted = self._counted((key, HasEntity((key,))) for key in keys)
                return [key for key, _ in sorted(counted, key=lambda key: (-key[1], key[0]))][:limit]
            case questions.Names():
                return self._find_names(lookup)
            case questions.FullNames():
                by_key = self._look_up(lookup)
                visible = self._find_names(questions.Names([key for keys in by_key.values() for key in keys]))
                shown = {key: [name for name in keys if name in visible] for key, keys in by_key.items()}
                return {key: keys for key, keys in shown.items() if keys}
            case questions.Values(field):
                return self._list_values(field)
        return self._refuse()

    def _find_names(self, lookup: questions.Names) -> Mapping[str, Name]:
        names = self._look_up(lookup)
        counts = self._counted((key, HasEntity(name.keys)) for key, name in names.items())
        return {key: names[key]._replace(sentences=count) for key, count in counts}

    def _counted(self, conditions: Iterable[tuple[str, Condition]]) -> list[tuple[str, int]]:
        """The texts whose condition any visible sentence satisfies, with the number of these sentences."""
        pairs = list(conditions)
        if not pairs:
            return []
        counts = self.count([condition for _, condition in pairs], NO_FILTERS)
        return [(text, count) for (text, _), count in zip(pairs, counts, strict=True) if count]

    def _list_values(self, field: str) -> ValueTable:
        """The values of visible documents, each with the number of visible sentences."""
        known = [value.form for value in self._look_up(questions.Values(field)).with_prefix("", _MOST_VALUES)]
        if not known:
            return ValueTable(())
        if field != META:
            (counts,) = self.count([None], NO_FILTERS, questions.ByField([field], len(known)))
            return ValueTable(counts[field])
        fields = [META_PREFIX + key for key in known]
        (counts,) = self.count([None], NO_FILTERS, questions.ByField(fields, 1))
        return ValueTable(
            (key, counts[META_PREFIX + key][0][1]) for key in known if counts[META_PREFIX + key]
        )


_FACTS_FOR_ALL = (
    questions.Readiness,
    questions.Languages,
    questions.Features,
    questions.HasParses,
    questions.HasCopies,
    questions.MainEncoder,
    questions.StoredTable,
    questions.NearestIsExact,
    questions.ContentMark,
)
"""Facts that show no text of a document."""
_LOOKUPS_FOR_ALL = (questions.TermHolders, questions.WordCounts)
"""Statistics of words that the caller names, which remain those of the whole collection."""


def _both(first: Condition | None, second: Condition | None) -> Condition | None:
    return all_of([condition for condition in (first, second) if condition is not None])


def _more(limit: int) -> int:
    return max(limit, min(_EXTRA * limit, _MOST))


def restrict(index: Index, condition: Condition) -> View:
    """A view of the documents that satisfy a condition of documents."""
    return View(index, condition)


def in_language(index: Index, language: str | None, others: Sequence[str] = ()) -> View:
    """A view of an index by language in one language.

    None, for queries without words, restricts nothing. `others` are other languages that a query may be in.
    """
    code = None if language is None else language_group(language)
    return View(index, language=Language(code, tuple(others)))


def chosen_language(index: Index) -> Language:
    """The language of a view; without one, a language that restricts nothing."""
    return (isinstance(index, View) and index.language) or Language(None)


def unite_languages(parts: Sequence[tuple[Index, Condition]]) -> tuple[Index, list[Condition | None]]:
    """One index in which to count all these conditions, each given with its index, and the conditions for it.

    It is in their language, or in none if they are in several.
    """
    index, conditions = parts[0][0], [condition for _, condition in parts]
    if len({chosen_language(part).code for part, _ in parts}) == 1:
        return index, list(conditions)
    restricted = [
        part.in_language(condition) if isinstance(part, View) else condition for part, condition in parts
    ]
    return in_language(index, None), restricted


def languages_of(index: Index, ids: Sequence[str]) -> list[str | None]:
    """The languages of sentences (`language_group`), each None unless the index is in a language."""
    if chosen_language(index).code is None:
        return [None] * len(ids)
    return [language_group(record.language) for record in index.read(ids, questions.Records())]


# Calls at the same time

BESIDE = "beside"
"""The stage of waiting for calls that are made at the same time."""
is_beside: ContextVar[bool] = ContextVar("is_beside", default=False)
"""Whether a call is made beside others, whose thread reports failures."""


@cache
def threads_beside() -> futures.ThreadPoolExecutor:
    """The threads of calls at the same time."""
    return futures.ThreadPoolExecutor(24, BESIDE)


def start_beside(
    index: Index,
    work: Callable[[], Result],
    waiting: Callable[[], AbstractContextManager[None]] | None = None,
) -> Callable[[], Result]:
    """Start work that calls the index in another thread, and return a function that waits for its result.

    A folder computes in this process, so its work begins when the result is requested. So does work that has
    found no free thread by then. `waiting` makes the context of waiting, by default that of a call of a view.
    """
    if not factory.is_elasticsearch(index.where):
        return work
    seconds = time_remaining(math.inf)

    def run() -> Result:
        token = is_beside.set(True)
        try:
            with nullcontext() if seconds == math.inf else within(seconds):
                return work()
        finally:
            is_beside.reset(token)

    future = threads_beside().submit(run)

    def finish() -> Result:
        if future.cancel():
            return work()
        with waiting() if waiting else index.waiting() if isinstance(index, View) else nullcontext():
            return future.result()

    return finish
