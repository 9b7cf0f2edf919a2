"""The language of a query, for an index that keeps its terms apart by language.

It is the language that the query names, or else the one that is detected in it. Most queries are too short
for that. Then it is the language that has most of the query's words, and of several such languages the one
with the most sentences that have them. A query without words is in no language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.language import groups_of, in_language, language_condition
from esr.plans.condition import AllOf, HasPrefix
from esr.query.interpretation import interpret, ranked_texts
from esr.query.query import TEXT, ParsedQuery
from esr.text.analyzer import BY_LANGUAGE, UNKNOWN_LANGUAGE, get_analyzer, language_group
from esr.text.detection import detect_language


class QueryLanguage(Struct, frozen=True):
    """The language that a query is searched in, None for any; and the others that have all of its words."""

    language: str | None
    others: tuple[str, ...] = ()


def in_query_language(index: Index, query: ParsedQuery) -> Index:
    """An index by language in the language of a query. Raises UsageError for one that no document is in."""
    found = find_language(index, query)
    return in_language(index, found.language, found.others)


def find_language(index: Index, query: ParsedQuery) -> QueryLanguage:
    """The language of a query in an index by language. Raises UsageError as `in_query_language`."""
    has_words = any(clause.field == TEXT for group in query.groups for clause in group.clauses)
    if not has_words and query.language is None:
        return QueryLanguage(None)
    languages = index.languages()
    groups = groups_of(languages)
    named = dict.fromkeys(map(language_group, _named(query)))
    possible = [group for group in groups if not named or group in named]
    if named and not possible:
        raise UsageError(
            f"no document of {index.where} is in the language {', '.join(named)}: "
            f"it has {', '.join(groups) or 'no documents'}"
        )
    # Documents of other languages than those of `language:` are no alternative.
    known = possible if query.language is None else groups
    analyzers = {group: get_analyzer(BY_LANGUAGE).for_language(group) for group in known}
    read = {group: interpret(query, analyzer) for group, analyzer in analyzers.items()}
    by_group = {group: tuple(each.counts) for group, each in read.items()}
    every = list(dict.fromkeys(term for terms in by_group.values() for term in terms))
    holders = dict(index.count_holders(every)) if every else {}
    for prefix in next((each.prefixes for each in read.values()), ()):  # alike in all languages
        begun = HasPrefix(prefix, "sentence")
        counts = index.count([AllOf((begun, language_condition(languages, g))) for g in known], NO_FILTERS)
        for group, count in zip(known, counts, strict=True):
            by_group[group] = (*by_group[group], prefix + group)
            holders[prefix + group] = count
    # The languages of most documents are first, and sorting keeps their order.
    ranked = sorted(known, key=lambda group: _rank(by_group[group], holders), reverse=True)
    best = next((group for group in ranked if group in possible), UNKNOWN_LANGUAGE)
    if len(possible) > 1 and (detected := detect_language(ranked_texts(query))) is not None:
        best = next((group for group in possible if group == language_group(detected)), best)
    has_all = (group for group in ranked if by_group[group] and all(map(holders.get, by_group[group])))
    return QueryLanguage(best, tuple(group for group in has_all if group != best))


def _rank(terms: Sequence[str], holders: Mapping[str, int]) -> tuple[float, int]:
    """The share of a query's terms that a language has, and the number of sentences with the rarest."""
    counts = [holders[term] for term in terms if holders[term]]
    return len(counts) / max(len(terms), 1), min(counts, default=0)


def _named(query: ParsedQuery) -> list[str]:
    """The languages that a query names: its own, or else those that its documents must be in."""
    if query.language is not None:
        return [query.language]
    required = [group for group in query.groups if group.role == "required" and group.expression is None]
    clauses = [group.alternatives for group in required]
    return [c.text for each in clauses for c in each if all(one.field == "language" for one in each)]
