"""An index by language, restricted to one of its languages, as if it had only documents in that language."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from esr.index.contract import Index, LengthGroups, Result
from esr.index.filters import DayCounts, FacetCounts, Filters
from esr.index.hits import CandidateEvidence, Hit, SearchResult
from esr.plans.plan import AllOf, AnyOf, Condition, HasLanguage, HasTerm, Not, Plan, Statistics, any_of
from esr.stdlib import cached_property
from esr.text.analyzer_definitions import UNKNOWN_LANGUAGE, language_group
from esr.text.document import QuantizedVector


def in_language(index: Index, language: str | None, others: Sequence[str] = ()) -> Index:
    """Restrict an index by language to the terms, statistics and sentences of one language.

    None, for queries without words, restricts nothing. `others` are other languages that a query may be in.
    """
    return cast(Index, LanguageIndex(index, None if language is None else language_group(language), others))


class LanguageIndex:
    """An index by language, restricted to the documents of a language, a code of `language_group`."""

    def __init__(self, index: Index, language: str | None, others: Sequence[str]) -> None:
        self._index = index
        self.language, self.others = language, others
        self.where, self.description = index.where, index.description
        self.analyzer = index.analyzer.for_language(language)

    @cached_property
    def _condition(self) -> Condition | None:
        """The condition that a document is in the language, None for all documents."""
        return None if self.language is None else language_condition(self._index.languages(), self.language)

    def _restrict(self, condition: Condition | None) -> Any:
        """Add the condition of the language, unless the condition's terms imply it."""
        if self._condition is None or (condition is not None and _implies_language(condition)):
            return condition
        return self._condition if condition is None else AllOf((condition, self._condition))

    def _plan(self, plan: Plan) -> Plan:
        """Restrict a plan to the language. Terms suffice if they decide: they occur in no other language."""
        if plan.candidates != "all":
            return plan
        return replace(plan, condition=self._restrict(plan.condition))

    def snapshot(self) -> Index:
        return in_language(self._index.snapshot(), self.language, self.others)

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return self._index.on_latest(lambda index: work(in_language(index, self.language, self.others)))

    def statistics(self, terms: Sequence[str]) -> Statistics:
        return self._index.statistics(terms, self.language)

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """The first terms with this prefix, given with or without the mark of the language."""
        mark = self.analyzer.mark
        return self._index.terms_with_prefix(mark + prefix.removeprefix(mark), limit)

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        return self._index.search(self._plan(plan), k, filters, records=records)

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        return self._index.candidates(self._plan(plan), filters)

    def request(self, plan: Plan, k: int, filters: Filters, **options: Any) -> dict[str, Any]:
        return self._index.request(self._plan(plan), k, filters, **options)

    def facets(
        self, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
    ) -> dict[str, FacetCounts]:
        return self._index.facets(self._plan(plan), filters_by_field, size)

    def count(self, conditions: Sequence[Condition], filters: Filters) -> list[int]:
        return self._index.count([self._restrict(condition) for condition in conditions], filters)

    def count_days(self, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
        return self._index.count_days([self._restrict(condition) for condition in conditions], filters)

    def nearest(
        self, encoder: str, query: QuantizedVector, k: int, condition: Condition | None, filters: Filters
    ) -> list[Hit]:
        return self._index.nearest(encoder, query, k, self._restrict(condition), filters)

    def count_names(
        self, filters: Filters, size: int, *, condition: Condition | None = None, **options: Any
    ) -> Mapping[str, int]:
        return self._index.count_names(filters, size, condition=self._restrict(condition), **options)

    def count_terms(self, condition: Condition, filters: Filters, most: int) -> Mapping[str, int]:
        return self._index.count_terms(self._restrict(condition), filters, most, self.language)

    def sum_lengths(
        self, by: LengthGroups, filters: Filters, condition: Condition | None = None
    ) -> Mapping[Any, int]:
        return self._index.sum_lengths(by, filters, self._restrict(condition))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self._index, name)
        if name in _BY_CONDITION:
            return lambda condition, *args, **more: method(self._restrict(condition), *args, **more)
        return method


_BY_CONDITION = frozenset({"by_date", "texts"})
"""Methods whose first argument is a condition on sentences."""


def _implies_language(condition: Condition) -> bool:
    """Whether a condition requires a term, and so holds only for sentences in the term's language."""
    match condition:
        case HasTerm():
            return True
        case AllOf(parts):
            return any(map(_implies_language, parts))
        case AnyOf(parts):
            return all(map(_implies_language, parts))
        case _:
            return False


_NO_LANGUAGE = "none"
"""A code that no document has."""


def telling_codes(languages: Iterable[str | None], group: str) -> list[str]:
    """Of the codes that documents declare, those that decide whether a document is in a group's language.

    Documents in a language declare one of these codes. Documents in the unknown language declare none of
    them.
    """
    is_unknown = group == UNKNOWN_LANGUAGE
    return [code for code in languages if code is not None and (language_group(code) == group) != is_unknown]


def language_condition(languages: Iterable[str | None], group: str) -> Condition:
    """The condition that a document is in the language of a group. `languages` are those of all documents."""
    codes = {code.lower() for code in telling_codes(languages, group)}
    # Sorted by code, since equal conditions are cached once.
    declared = any_of(map(HasLanguage, sorted(codes) or [_NO_LANGUAGE]))
    return Not(declared) if group == UNKNOWN_LANGUAGE else declared


def chosen_language(index: Index) -> tuple[str | None, tuple[str, ...]]:
    """The language of an index of `in_language`, and the others."""
    return getattr(index, "language", None), tuple(getattr(index, "others", ()))


def unite_languages(parts: Sequence[tuple[Index, Condition]]) -> tuple[Index, list[Condition]]:
    """One index in which to count all these conditions, each given with its index, and the conditions for it.

    It is restricted to their language, or unrestricted if they are in several.
    """
    index, conditions = parts[0][0], [condition for _, condition in parts]
    if len({chosen_language(each)[0] for each, _ in parts}) == 1:
        return index, conditions
    of_languages = [(cast(LanguageIndex, each), condition) for each, condition in parts]
    restricted = [each._restrict(condition) for each, condition in of_languages]
    return in_language(of_languages[0][0]._index, None), restricted


def languages_of(index: Index, ids: Sequence[str]) -> list[str | None]:
    """The languages of sentences (`language_group`), each None unless the index is one of `in_language`."""
    language, _ = chosen_language(index)
    if language is None:
        return [None] * len(ids)
    return [language_group(record.language) for record in index.sentences(ids)]


def groups_of(languages: Mapping[str | None, int]) -> Collection[str]:
    """The language groups of the languages that documents declare, most documents first."""
    documents: dict[str, int] = {}
    for language, count in languages.items():
        group = language_group(language)
        documents[group] = documents.get(group, 0) + count
    return sorted(documents, key=lambda group: (-documents[group], group))
