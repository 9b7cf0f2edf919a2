"""A condition (`esr.plans.condition`) as a query for sentences, without scores."""

from __future__ import annotations

from esr.engines.elasticsearch.search.filter_clauses import (
    Query,
    attribute_clause,
    date_clause,
    names_clause,
    sources_clause,
)
from esr.plans.condition import (
    AllOf,
    AnyOf,
    Condition,
    DateRange,
    HasAttribute,
    HasEntity,
    HasLanguage,
    HasPrefix,
    HasSource,
    HasTerm,
    HasWords,
    Not,
    TextField,
)

WORDS_FIELD: dict[TextField, str] = {"sentence": "text.words", "title": "title.words"}
"""The indexed field of words as they are written, with their places."""


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
            return {"term": {"text": term}}
        case HasWords((word,), field):
            return {"term": {WORDS_FIELD[field]: word}}
        case HasWords(words, field):
            # No word has a space in it.
            return {
                "match_phrase": {WORDS_FIELD[field]: {"query": " ".join(words), "analyzer": "whitespace"}}
            }
        case HasPrefix(prefix, field):
            return {"prefix": {WORDS_FIELD[field]: prefix}}
        case HasEntity(keys):
            return names_clause(keys)
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
    """Matches the documents that may have sentences which satisfy the condition; None if any may."""
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
