"""An index of a few sentences in memory, without an engine. Tests set what it answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from esr.errors import UsageError
from esr.index.contract import LengthGroups
from esr.index.filters import DAY, DayCounts, FacetCounts, Filters, ValueTable
from esr.index.hits import EVIDENCE_COLUMNS, Hit, SearchResult, SentenceRecord, SentenceTexts
from esr.index.names import ENTITY_TYPES, Name, choose_written_form, name_key
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
from esr.text.dates import is_iso_date, parse_date_start
from esr.text.document import ATTRIBUTES, Document, Quote, Sentence
from webui.pages.rendering import is_full_date

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


class FakeIndex:
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

    def snapshot(self) -> FakeIndex:
        return self

    def on_latest(self, work: Callable[[Any], Any]) -> Any:
        return work(self)

    def statistics(self, terms: Sequence[str]) -> Statistics:
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

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        self._fail()
        by_id = {record.sentence_id: record for record in self.records}
        for id in ids:
            if id not in by_id:
                raise UsageError(f"there is no sentence {id!r}")
        return [by_id[id] for id in ids]

    def has_parses(self) -> bool:
        self._fail()
        return self.is_parsed

    def quotes(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[tuple[Quote, ...]]:
        self._fail()
        return [()] * len(ids)

    def encoder(self) -> str | None:
        self._fail()
        return None

    def nearest_is_exact(self) -> bool:
        self._fail()
        return True

    def features(self) -> Sequence[str]:
        self._fail()
        return sorted({name for record in self.records for name in record.features})

    def facets(self, plan: Plan, filters: Mapping[str, Filters], size: int) -> dict[str, FacetCounts]:
        self._fail()
        counts = {f: Counter(name for record in self.records for name in _values(record, f)) for f in filters}
        return {
            f: sorted(of.items(), key=lambda item: (-item[1], item[0]))[:size] for f, of in counts.items()
        }

    def count(self, conditions: Sequence[Condition], filters: Filters) -> list[int]:
        self._fail()
        return [sum(self._satisfies(record, each) for record in self.records) for each in conditions]

    def count_days(self, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
        self._fail()
        return [
            Counter(
                parse_date_start(record.date or "") // DAY
                for record in self.records
                if is_iso_date(record.date or "") and (each is None or self._satisfies(record, each))
            )
            for each in conditions
        ]

    def by_date(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        *,
        oldest_first: bool = False,
        records: bool = True,
    ) -> SearchResult:
        self._fail()
        matches = [record for record in self.records if self._satisfies(record, condition)]
        sign = 1 if oldest_first else -1
        matches.sort(key=lambda r: sign * parse_date_start(r.date) if r.date else math.inf)
        hits = [Hit(r.sentence_id, 0.0, r if records else None) for r in matches]
        return SearchResult(hits[:k], len(hits), self.incomplete)

    def texts(
        self, condition: Condition, k: int, filters: Filters, *, oldest_first: bool = False
    ) -> SentenceTexts:
        found = self.by_date(condition, k, filters, oldest_first=oldest_first)
        records = [hit.record for hit in found.hits if hit.record]
        columns = ([getattr(r, name) for r in records] for name in ("text", "date", "source"))
        return SentenceTexts(lambda n: [records[i].sentence_id for i in n.tolist()], *columns, found.total)

    def count_holders(self, terms: Sequence[str]) -> Mapping[str, int]:
        return {term: of_term.sf for term, of_term in self.statistics(terms).terms.items()}

    def count_words(self, words: Sequence[str]) -> Mapping[str, int]:
        self._fail()
        counts = Counter(word for record in self.records for word in _words(record))
        return {word: counts[word] for word in words}

    def count_terms(self, condition: Condition, filters: Filters, most: int) -> Mapping[str, int]:
        self._fail()
        matches = (record for record in self.records if self._satisfies(record, condition))
        return Counter(term for record in matches for term in self._terms(record))

    def sum_lengths(self, by: LengthGroups, filters: Filters) -> Mapping[Any, int]:
        self._fail()
        lengths: Counter[Any] = Counter()
        for record in self.records:
            group = record.source if by == "source" else record.date
            if group is not None:
                lengths[group if by == "source" else parse_date_start(group) // DAY] += len(
                    self._terms(record)
                )
        return lengths

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        terms = {term for record in self.records for term in self._terms(record)}
        return sorted(term for term in terms if term.startswith(prefix))[:limit]

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        self._fail()
        words = Counter(word for record in self.records for word in _words(record))
        return [(word, count) for word, count in words.most_common() if word.startswith(prefix)][:limit]

    def similar_words(self, word: str, max_edits: int, least: int) -> Mapping[str, int]:
        """None: tests of suggestions make them up."""
        self._fail()
        return {}

    def written_forms(self, words: Sequence[str]) -> list[str]:
        self._fail()
        texts = [record.text for record in self.records]
        return [choose_written_form(word, texts) for word in words]

    def values(self, field: str) -> ValueTable:
        self._fail()
        return ValueTable(Counter(v for record in self.records for v in _values(record, field)).items())

    def count_names(self, filters: Filters, size: int, **options: Any) -> Mapping[str, int]:
        self._fail()
        return dict.fromkeys(self.name_keys("", size), 1)

    def find_names(self, keys: Sequence[str]) -> Mapping[str, Name]:
        self._fail()
        names = {}
        for record in self.records:
            for type, forms in (record.entities or {}).items():
                names |= {name_key(f): Name(name_key(f), f, type, 1, (name_key(f),)) for f in forms}
        return {key: names[key] for key in keys if key in names}

    def name_forms(self, key: str) -> dict[str, int]:
        self._fail()
        return {}

    def full_names(self, key: str) -> Sequence[str]:
        self._fail()
        return ()

    def name_keys(self, prefix: str, limit: int) -> list[str]:
        self._fail()
        forms = (_values(record, type) for record in self.records for type in ENTITY_TYPES)
        keys = {name_key(form) for of_type in forms for form in of_type}
        return sorted(key for key in keys if key.startswith(prefix))[:limit]

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        texts = [self._terms(record) for record in self.sentences(ids)]
        counts = np.array([[text.count(term) for text in texts] for term in terms], float)
        lengths = np.array([len(text) for text in texts], float)
        names = {*EVIDENCE_COLUMNS, *columns}
        fields: tuple[FieldName, ...] = ("sentence", "surrounding", "document")
        return Evidence(
            dict.fromkeys(fields, counts.reshape(len(terms), len(ids))),
            dict.fromkeys(fields, lengths),
            {name: np.ones(len(ids)) for name in names},
        )

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        self.sentences(ids)
        return [None] * len(ids)

    def candidates(self, plan: Plan, filters: Filters) -> Any:
        raise NotImplementedError

    def document(self, document_id: str) -> Document:
        self._fail()
        records = [record for record in self.records if record.document_id == document_id]
        if not records:
            raise UsageError(f"there is no document {document_id!r}")
        sentences = tuple(Sentence(r.sentence_id, r.text) for r in records)
        it = records[0]
        return Document(document_id, sentences, it.title, it.date, it.source, it.url, it.language)

    def find_documents(self, ids: Collection[str]) -> dict[str, Document]:
        known = {record.document_id for record in self.records}
        return {id: self.document(id) for id in ids if id in known}

    def status(self) -> Mapping[str, Any]:
        self._fail()
        return {"enrichment": []}

    def check_ready(self) -> None:
        self._fail()

    def close(self) -> None: ...

    def _terms(self, record: SentenceRecord) -> list[str]:
        return self.analyzer.terms(record.text)

    def _satisfies(self, record: SentenceRecord, condition: Condition) -> bool:
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
