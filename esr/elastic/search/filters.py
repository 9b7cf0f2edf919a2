"""Queries without scores: a plan's candidate rule and condition, filters, and parts of documents.

Conditions and filters have been resolved (`esr.index.filters`) to written forms of values and keys of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from esr.elastic.documents import WORDS_FIELD, indexed_field, quotes_clause
from esr.elastic.statistics import exclusive_minimum
from esr.elastic.vocabulary import ALL_KEYS, attribute_field
from esr.index.filters import Filters
from esr.index.names import name_key
from esr.plans.plan import (
    AllOf,
    AnyOf,
    Condition,
    DateRange,
    FieldName,
    HasAttribute,
    HasEntity,
    HasLanguage,
    HasPrefix,
    HasQuote,
    HasSource,
    HasTerm,
    HasWords,
    Not,
    Plan,
    SaidBy,
)

Query = dict[str, Any]


def filter_clauses(filters: Filters, of: Literal["sentences", "documents"] = "sentences") -> list[Query]:
    """Clauses for sentences that satisfy the filters, or for documents that may have such sentences.

    The filters are resolved. The index of documents has no entities, so these are skipped there.
    """
    clauses: list[Query] = []
    if filters.date_from is not None or filters.date_to is not None:
        clauses.append(date_clause(filters.date_from, filters.date_to))
    if filters.sources:
        clauses.append(sources_clause(filters.sources))
    clauses += map(attribute_clause, filters.attributes)
    if filters.documents:
        clauses.append({"terms": {"document_id": list(filters.documents)}})
    if filters.entities and of == "sentences":
        clauses.append(names_clause(filters.entities))
    return clauses


def date_clause(start: int | None, end: int | None) -> Query:
    """Matches dates in this range of milliseconds since the epoch, both ends included."""
    ends = {"gte": start, "lte": end}
    date_range = {key: value for key, value in ends.items() if value is not None}
    return {"range": {"date": {**date_range, "format": "epoch_millis"}}}


def sources_clause(forms: Sequence[str]) -> Query:
    """Matches entries with one of these sources, given in written forms (`resolve_source`)."""
    return {"terms": {"source": list(forms)}}


def attribute_clause(wanted: HasAttribute) -> Query:
    """Matches entries with one of the values, given in written forms (`resolve_attribute`)."""
    fields = [{"terms": {attribute_field(name): list(wanted.values)}} for name in wanted.names]
    if len(fields) == 1:
        return fields[0]
    return {"bool": {"should": fields, "minimum_should_match": 1}} if fields else {"match_none": {}}


def names_clause(names: Sequence[str]) -> Query:
    """Matches sentences with one of these names, given as keys (`resolve_name`) or forms."""
    return {"terms": {ALL_KEYS: list(map(name_key, names))}}


def condition_query(condition: Condition) -> Query:
    """Matches the sentences that satisfy the condition."""
    match condition:
        case AllOf(parts):
            return {"bool": {"filter": [condition_query(part) for part in parts]}}
        case AnyOf(parts):
            return {"bool": {"should": [condition_query(part) for part in parts], "minimum_should_match": 1}}
        case Not(part):
            return {"bool": {"must_not": [condition_query(part)]}}
        case HasTerm(term):
            return {"term": {indexed_field("sentence", term): term}}
        case HasWords((word,), field):
            return {"term": {WORDS_FIELD[field]: word}}
        case HasWords(words, field):
            # No word contains a space.
            return {
                "match_phrase": {WORDS_FIELD[field]: {"query": " ".join(words), "analyzer": "whitespace"}}
            }
        case HasPrefix(prefix, field):
            return {"prefix": {WORDS_FIELD[field]: prefix}}
        case HasEntity(keys):
            return names_clause(keys)
        case HasQuote():
            return quotes_clause()
        case SaidBy(keys):
            return quotes_clause(list(map(name_key, keys)))
        case HasSource(forms):
            return sources_clause(forms)
        case HasAttribute():
            return attribute_clause(condition)
        case HasLanguage(language):
            exactly = {"value": language, "case_insensitive": True}
            variety = {"value": f"{language}-", "case_insensitive": True}
            either = [{"term": {"language": exactly}}, {"prefix": {"language": variety}}]
            return {"bool": {"should": either, "minimum_should_match": 1}}
        case DateRange(start, end):
            return date_clause(start, end)


def document_query(condition: Condition) -> Query | None:
    """Matches the documents that may have sentences which satisfy the condition; None if any document may."""
    match condition:
        case AllOf(parts):
            queries = [query for part in parts if (query := document_query(part)) is not None]
            return {"bool": {"filter": queries}} if queries else None
        case AnyOf(parts):
            queries = [query for part in parts if (query := document_query(part)) is not None]
            any_query = {"bool": {"should": queries, "minimum_should_match": 1}}
            return any_query if len(queries) == len(parts) else None
        case HasTerm(term):
            return {"term": {"context": term}}
        case HasSource() | HasAttribute() | HasLanguage() | DateRange():
            return condition_query(condition)
        case Not(HasSource() | HasAttribute() | HasLanguage() | DateRange()):
            return condition_query(condition)
        case _:
            return None


def candidate_query(plan: Plan, filters: Filters) -> Query:
    """Matches the candidates of a plan."""
    return {"bool": {"filter": [rule_clause(plan), *filter_clauses(filters), *condition_clauses(plan)]}}


def scored_candidate_query(plan: Plan, filters: Filters) -> Query:
    """Matches the candidates that have a score, given the values that the plan requires."""
    query = candidate_query(plan, filters)
    query["bool"]["filter"] += required_value_clauses(plan)
    return query


def has_document_level_candidates(plan: Plan, filters: Filters) -> bool:
    """Whether in each document either all sentences or none are candidates with a score."""
    by_document = plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")
    is_any_left_out = filters.entities or plan.condition is not None or required_value_clauses(plan)
    return by_document and not is_any_left_out


def document_rule_clause(plan: Plan) -> Query:
    """Matches the documents that can have candidates by the plan's rule."""
    if plan.candidates == "all":
        return {"match_all": {}}
    return {"terms": {"context": list(plan.candidate_terms)}}


def rule_clause(plan: Plan) -> Query:
    """Matches the sentences that the plan's rule makes candidates."""
    if plan.candidates == "all":
        return {"match_all": {}}
    terms = plan.candidate_terms
    name: FieldName = "sentence" if plan.candidates == "matching" else plan.context
    return {"terms": {indexed_field(name, next(iter(terms), "")): list(terms)}}


def condition_clauses(plan: Plan) -> list[Query]:
    """Clauses for the sentences that satisfy the plan's condition."""
    return [] if plan.condition is None else [condition_query(plan.condition)]


def required_value_clauses(plan: Plan) -> list[Query]:
    """Clauses for the sentences with the values that the plan requires."""
    return [
        {"range": {static_score.column: {"gt": exclusive_minimum(static_score)}}}
        for static_score in plan.static_scores
        if static_score.form == "log" and static_score.required
    ]


class TermRange(NamedTuple):
    """A range of the number of distinct terms near a sentence: at least `least`, and fewer than `below`."""

    least: int
    below: int


class DocumentPart(NamedTuple):
    """The sentences of some documents with a number of a plan's terms near them."""

    ids: Sequence[str]
    terms: TermRange


def part_clause(terms: Sequence[str], near: FieldName, parts: Iterable[DocumentPart]) -> Query:
    """Matches the sentences of these parts. `near` is the field that contains the terms near a sentence."""
    has_term = [{"term": {indexed_field(near, term): term}} for term in terms]

    def has_terms(least: int) -> Query:
        return {"bool": {"should": has_term, "minimum_should_match": least}}

    clauses: list[Query] = []
    for ids, (least, below) in parts:
        of_documents: Query = {"terms": {"document_id": list(ids)}}
        conditions: Query = {"filter": [of_documents, *([has_terms(least)] if least else [])]}
        if below <= len(terms):
            conditions["must_not"] = [has_terms(below)]
        clauses.append({"bool": conditions})
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}
