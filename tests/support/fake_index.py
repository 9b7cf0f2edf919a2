"""An index of a few sentences in memory, without an engine. Tests set what it answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from esr.errors import NotFound
from esr.index import questions
from esr.index.contract import Index
from esr.index.filters import Filters
from esr.index.hits import (
    EVIDENCE_COLUMNS,
    Hit,
    SearchResult,
    SentenceRecord,
    SentenceTexts,
    WindowSentence,
)
from esr.index.names import Name, choose_written_form, name_key
from esr.index.questions import Column, Fact, Grouping, Lookup, Selection
from esr.index.values import ValueTable
from esr.index.writer import Description
from esr.plans.evaluate import Evidence
from esr.plans.plan import (
    AllOf,
    AnyOf,
    CollectionStatistics,
    Condition,
    FieldName,
    HasPrefix,
    HasTerm,
    HasWords,
    Not,
    Plan,
    Statistics,
    TermStatistics,
)
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER
from esr.text.attributes import ATTRIBUTES
from esr.text.dates import DAY, is_iso_date, parse_date_start
from esr.text.document import Document, Sentence
from webui.pages.wording import is_full_date

STORM = SentenceRecord(
    sentence_id="a.s1",
    document_id="a",
    position=1,
    text="The storms damaged forty houses.",
    previous="It blew all night.",
    next="Nobody was hurt.",
    title="A night of wind",
    date="2017-03-05T10:00:00Z",
    source="The Example",
    url="https://news.example/a?x=1&y=2",
    language="en",
)
FLOOD = SentenceRecord("b.s0", "b", 0, "After the storm came a flood.", *[None] * 7)


class FakeIndex(Index):
    """Answers with the candidates of the plan, best first as they were given. It knows no context.

    `error` is raised by each method if it is set. `last_search` has its plan, k and filters.
    """

    def __init__(self, *records: SentenceRecord, analyzer: str = "english-stem") -> None:
        self.where = "memory"
        self.description = Description(analyzer, True)
        self.analyzer = get_analyzer(analyzer)
        self.records = list(records)
        self.error: Exception | None = None
        self.incomplete: str | None = None
        self.last_search: tuple[Plan, int, Filters] | None = None
        self.warmed = 0
        self.is_parsed = True
        self.similar: dict[str, int] = {}
        """What any word is similar to: tests of suggestions set it."""

    def snapshot(self) -> FakeIndex:
        return self

    def on_latest(self, work: Callable[[Any], Any]) -> Any:
        return work(self)

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        self._fail()
        terms_of_all = [term for record in self.records for term in self._terms(record)]
        sf = Counter(term for record in self.records for term in set(self._terms(record)))
        collection = CollectionStatistics(len(self.records), len(self.records), len(terms_of_all))
        return Statistics(collection, {t: TermStatistics(sf[t], sf[t], terms_of_all.count(t)) for t in terms})

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        self._fail()
        self.last_search = plan, k, filters
        terms = {term.term for term in plan.terms}
        matches = [
            record
            for record in self.records
            if (plan.candidates == "all" or terms & set(self._terms(record)))
            and (plan.condition is None or self._satisfies(record, plan.condition))
        ]
        hits = [Hit(r.sentence_id, -float(n), r if records else None) for n, r in enumerate(matches)]
        return SearchResult(hits[:k], len(hits), self.incomplete)

    def warm_up(self) -> None:
        self.warmed += 1

    def status(self, fact: Fact[Any]) -> Any:
        self._fail()
        match fact:
            case questions.Features():
                return sorted({name for record in self.records for name in record.features})
            case questions.HasParses():
                return self.is_parsed
            case questions.MainEncoder() | questions.Readiness():
                return None
            case questions.NearestIsExact():
                return True
            case questions.ContentMark():
                return ""
            case questions.HasCopies():
                return False
            case questions.Summary():
                return {"enrichment": []}
        raise NotImplementedError

    def vocabulary(self, lookup: Lookup[Any]) -> Any:
        self._fail()
        match lookup:
            case questions.TermsWithPrefix(prefix, limit):
                terms = {term for record in self.records for term in self._terms(record)}
                return sorted(term for term in terms if term.startswith(prefix))[:limit]
            case questions.TermHolders(terms):
                return {term: of_term.sf for term, of_term in self.statistics(terms).terms.items()}
            case questions.WordsWithPrefix(prefix, limit):
                words = Counter(word for record in self.records for word in _words(record))
                return [pair for pair in words.most_common() if pair[0].startswith(prefix)][:limit]
            case questions.WordCounts(words):
                counts = Counter(word for record in self.records for word in _words(record))
                return {word: counts[word] for word in words}
            case questions.SimilarWords():
                return self.similar
            case questions.WrittenForms(words):
                texts = [record.text for record in self.records]
                return [choose_written_form(word, texts) for word in words]
            case questions.Values(field):
                values = Counter(v for record in self.records for v in _values(record, field))
                return ValueTable(values.items())
            case questions.Names(keys):
                names = self._names()
                return {key: names[key] for key in keys if key in names}
            case questions.NamesWithPrefix(prefix, limit):
                return sorted(key for key in self._names() if key.startswith(prefix))[:limit]
            case questions.NameForms():
                return {}
            case questions.FullNames():
                return {}
        raise NotImplementedError

    def _names(self) -> dict[str, Name]:
        names = {}
        for record in self.records:
            for type, forms in (record.entities or {}).items():
                names |= {name_key(f): Name(name_key(f), f, type, 1, (name_key(f),)) for f in forms}
        return names

    def select(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        selection: Selection[Any],
        *,
        oldest_first: bool = False,
    ) -> Any:
        self._fail()
        matches = [record for record in self.records if self._satisfies(record, condition)]
        sign = 1 if oldest_first else -1
        matches.sort(key=lambda r: sign * parse_date_start(r.date) if r.date else math.inf)
        if isinstance(selection, questions.Hits):
            hits = [Hit(r.sentence_id, 0.0, r if selection.records else None) for r in matches]
            return SearchResult(hits[:k], len(hits), self.incomplete)
        records = matches[:k]
        columns = ([getattr(r, name) for r in records] for name in ("text", "date", "source"))
        return SentenceTexts(lambda n: [records[i].sentence_id for i in n.tolist()], *columns, len(matches))

    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Any] | None = None
    ) -> list[Any]:
        self._fail()
        return [self._count([r for r in self.records if self._satisfies(r, each)], by) for each in conditions]

    def _count(self, records: list[SentenceRecord], by: Grouping[Any] | None) -> Any:
        match by:
            case None:
                return len(records)
            case questions.ByField(fields, size):
                counts = {
                    f: Counter(name for record in records for name in _values(record, f)) for f in fields
                }
                return {
                    f: sorted(of.items(), key=lambda item: (-item[1], item[0]))[:size]
                    for f, of in counts.items()
                }
            case questions.ByDay():
                dates = (record.date or "" for record in records)
                return Counter(parse_date_start(date) // DAY for date in dates if is_iso_date(date))
            case questions.ByDocument(ids):
                of_documents = Counter(record.document_id for record in records)
                ids = of_documents if ids is None else ids
                listed = {id: of_documents[id] for id in ids if of_documents[id]}
                return questions.DocumentCounts(len(of_documents), listed)
            case questions.ByName(size):
                return dict.fromkeys(sorted(self._names())[:size], 1)
            case questions.ByTerm():
                return Counter(term for record in records for term in self._terms(record))
            case questions.TermsBy(group):
                lengths: Counter[Any] = Counter()
                for record in records:
                    value = record.source if group == "source" else record.date
                    if value is not None:
                        key = value if group == "source" else parse_date_start(value) // DAY
                        lengths[key] += len(self._terms(record))
                return lengths
        raise NotImplementedError

    def read(self, ids: Sequence[str], column: Column[Any], ordinals: Sequence[int] | None = None) -> Any:
        self._fail()
        by_id = {record.sentence_id: record for record in self.records}
        for id in ids:
            if id not in by_id:
                raise NotFound(f"there is no sentence {id!r}")
        records = [by_id[id] for id in ids]
        match column:
            case questions.Records():
                return records
            case questions.Parses():
                return [None] * len(ids)
            case questions.Quotes():
                return [()] * len(ids)
            case questions.Windows():
                return [(WindowSentence(r.sentence_id, r.position, r.text),) for r in records]
            case questions.EvidenceOf(terms, columns):
                return self._read_evidence(records, terms, {*EVIDENCE_COLUMNS, *columns})
        raise NotImplementedError

    def _read_evidence(
        self, records: list[SentenceRecord], terms: Sequence[str], columns: set[str]
    ) -> Evidence:
        texts = [self._terms(record) for record in records]
        counts = np.array([[text.count(term) for text in texts] for term in terms], float)
        lengths = np.array([len(text) for text in texts], float)
        fields: tuple[FieldName, ...] = ("sentence", "surrounding", "document")
        return Evidence(
            dict.fromkeys(fields, counts.reshape(len(terms), len(records))),
            dict.fromkeys(fields, lengths),
            {name: np.ones(len(records)) for name in columns},
        )

    def candidates(self, plan: Plan, filters: Filters) -> Any:
        raise NotImplementedError

    def documents(
        self, ids: Collection[str] | None = None, *, positions: Sequence[int] | None = None
    ) -> list[Document]:
        self._fail()
        documents = []
        for id in ids or ():
            records = [record for record in self.records if record.document_id == id]
            if records:
                sentences = tuple(Sentence(r.sentence_id, r.text) for r in records)
                it = records[0]
                documents.append(Document(id, sentences, it.title, it.date, it.source, it.url, it.language))
        return documents

    def close(self) -> None: ...

    def _terms(self, record: SentenceRecord) -> list[str]:
        return self.analyzer.terms(record.text)

    def _satisfies(self, record: SentenceRecord, condition: Condition | None) -> bool:
        """Whether a sentence satisfies a condition. Those on documents and names hold for all."""
        match condition:
            case AllOf(conditions):
                return all(self._satisfies(record, each) for each in conditions)
            case AnyOf(conditions):
                return any(self._satisfies(record, each) for each in conditions)
            case Not(inner):
                return not self._satisfies(record, inner)
            case HasTerm(term):
                return term in self._terms(record)
            case HasWords(words, "sentence"):
                return f" {' '.join(words)} " in f" {' '.join(_words(record))} "
            case HasPrefix(prefix, "sentence"):
                return any(word.startswith(prefix) for word in _words(record))
        return True

    def _fail(self) -> None:
        if self.error:
            raise self.error


def _words(record: SentenceRecord) -> list[str]:
    """The words of a sentence as they are written, as phrases look for them."""
    return get_analyzer(WORDS_ANALYZER).terms(record.text)


def _values(record: SentenceRecord, field: str) -> Sequence[str]:
    if field == "month":
        return [record.date[:7]] if is_full_date((record.date or "")[:7] + "-01") else []
    if field in ("source", "language"):
        value = getattr(record, field)
        return [value] if value else []
    if field in ATTRIBUTES:
        value = getattr(record, ATTRIBUTES[field])
        return [value] if isinstance(value, str) else value or ()
    return (record.entities or {}).get(field, ())


def many(count: int) -> list[SentenceRecord]:
    """That many sentences with the word storm."""
    return [
        STORM._replace(sentence_id=f"m.s{n}", text=f"Storm number {n} with word{n}.") for n in range(count)
    ]
