"""Searches an index for the Python API, the command line and the page.

`Searcher` interprets, plans and runs queries. `find_language` finds the language of a query in an index by
language.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from msgspec import Struct

from esr.errors import UsageError, unknown
from esr.index.contract import Index
from esr.index.factory import Where, open_index, read_where
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.index.language import find_group, groups_of, language_condition
from esr.index.questions import Features, Languages, TermHolders, TermsWithPrefix
from esr.index.view import in_language
from esr.models.adjustments import BUILTIN_FEATURES
from esr.plans.plan import AllOf, HasPrefix
from esr.query.interpretation import Interpretation, interpret, ranked_texts, text_clauses
from esr.query.parser import literal as read_literal
from esr.query.parser import may_have_syntax, parse, parse_syntax
from esr.query.query import TEXT, ParsedQuery, has_relative_dates, resolve_dates
from esr.ranking import boosts
from esr.ranking.accents import find_readings
from esr.ranking.prepared_query import Answer, PreparedQuery, elapsed_ms, plan_query
from esr.ranking.ranking import NO_EXPANSIONS, Ranking
from esr.ranking.second_stage.query_encoder import encoder_name
from esr.ranking.second_stage.rerank_context import read_newest_day
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import BY_LANGUAGE, UNKNOWN_LANGUAGE, language_group
from esr.text.languages import detect_language
from esr.text.sentence_enrichment import PARSE
from esr.text.term_spans import words_of_terms

PREFIX_TERMS, PREFIX_CANDIDATES = 3, 20
"""Maximum number of terms that prefixes add to the ranking, and of terms per prefix they are chosen from."""
MAX_TERMS = 1000
"""Maximum number of distinct terms of a query. More would be a mistake, and slow."""


class UnsearchableQuery(UsageError):
    """A query that no ranking can search for: empty, only stop words, or too long."""


_DEFAULT = Ranking()


class Searcher:
    """Ranks the sentences of one index. Use it as a context manager, or close it.

    A closed searcher and the queries that it prepared raise IndexClosed. Answers stay readable.
    """

    def __init__(self, index: Index, *, owns_index: bool = True, last_day: date | None = None) -> None:
        """`owns_index`: closing the searcher closes the index.

        Relative dates count from `last_day`, by default the day of the newest document.
        """
        self.index = index
        self._owns_index = owns_index
        self._given_last_day = last_day

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index, if the searcher owns it."""
        if self._owns_index:
            self.index.close()

    def search(
        self,
        query: str | ParsedQuery,
        k: int = 10,
        *,
        ranking: Ranking | Mapping[str, Any] | str | Path | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        records: bool = True,
        require_all: bool = False,
        literal: bool = False,
        **settings: Any,
    ) -> Answer:
        """Return the best k sentences for a query in the query language.

        - `ranking` may be a mapping, or the name of a ranking file or of a shipped ranking.
        - `filters` may be a mapping with the names of the command line: `{"source": "BBC", "after": "2024"}`.
        - `require_all`: a sentence needs every word.
        - `literal`: the whole string is words, without syntax.
        - `settings` are keys of a ranking (`model`, `context`, `params`, `priors`, `candidates`, `features`,
        `boosts`, `rerank`, `trees`, `depth`), instead of `ranking`.

        Raises UsageError for an empty query or a bad setting.
        """
        if ranking is not None and settings:
            raise UsageError("give a ranking or its settings, not both")
        planned = _DEFAULT if ranking is None and not settings else Ranking.of(ranking or settings)
        started = time.perf_counter()

        def search(index: Index) -> Answer:
            prepared = Searcher(index)._prepare(query, planned, require_all, literal, started)
            return prepared.search(k, filters, records=records)

        return self.index.on_latest(search)

    def snapshot(self) -> Searcher:
        """A searcher of the current snapshot, for several steps that must see the same state.

        Closing this searcher closes it.
        """
        return Searcher(self.index.snapshot(), owns_index=False)

    def prepare(
        self,
        query: str | ParsedQuery,
        ranking: Ranking | Mapping[str, Any] | str | Path,
        *,
        require_all: bool = False,
        literal: bool = False,
    ) -> PreparedQuery:
        """Interpret a query and plan it on the current snapshot. `literal`: the whole string is words.

        Raises UsageError if the query has no terms, or the index lacks a feature of the ranking.
        """
        started = time.perf_counter()
        return self.snapshot()._prepare(query, Ranking.of(ranking), require_all, literal, started)

    def _prepare(
        self, query: str | ParsedQuery, ranking: Ranking, require_all: bool, literal: bool, started: float
    ) -> PreparedQuery:
        searcher = self.for_query(query, literal=literal)
        interpretation = searcher.interpret(query, require_all=require_all, literal=literal)
        return searcher.prepare_interpretation(interpretation, ranking, started)

    def for_query(
        self, query: str | ParsedQuery, *, literal: bool = False, needs_terms: bool = False
    ) -> Searcher:
        """This searcher or, for an index by language, one in the query's language.

        `literal`: the whole string is words. `needs_terms`: a query of fields alone, which is searched in all
        languages, is in the one language that its fields name.

        Raises UsageError if the index has no document in the language that the query names.
        """
        if self.index.analyzer.name != BY_LANGUAGE:
            return self
        parsed = query if isinstance(query, ParsedQuery) else (read_literal if literal else parse)(query)
        last_day = None
        if has_relative_dates(parsed):
            last_day = self._last_day()  # of documents in all languages
            parsed = resolve_dates(parsed, last_day)
        language = find_language(self.index, parsed)
        if needs_terms and language.language is None and (codes := _named(parsed)):
            groups = groups_of(self.index.status(Languages()))
            named = {find_group(code, groups) for code in codes}
            language = QueryLanguage(named.pop()) if len(named) == 1 else language
        index = in_language(self.index, language.language, language.others)
        return Searcher(index, owns_index=False, last_day=last_day)

    def for_document(self, language: str | None) -> Searcher:
        """This searcher or, for an index by language, one in a document's language."""
        if self.index.analyzer.name != BY_LANGUAGE:
            return self
        return Searcher(in_language(self.index, language_group(language)), owns_index=False)

    def prepare_interpretation(
        self, interpretation: Interpretation, ranking: Ranking, started: float | None = None
    ) -> PreparedQuery:
        """Plan an interpreted query on this snapshot. `started` is when its preparation began."""
        started = time.perf_counter() if started is None else started
        requested = ranking
        if ranking.rerank:  # else the text need not be parsed
            ranking = self.fill_defaults(ranking, interpretation.ranked_text)
        self.check_features(ranking.feature_names())
        self.check_signals(ranking)
        counts = interpretation.counts
        if interpretation.prefixes:
            added_terms = self._prefix_terms(interpretation)
            counts = {**counts, **{term: 1 for term in added_terms if term not in counts}}
        terms, expansions, incomplete = [*counts], NO_EXPANSIONS, None
        if ranking.boosts:
            expansions, incomplete = self._expand(interpretation.ranked_text, counts, ranking)
            added = (term for expansion in expansions.values() for term in expansion.terms)
            terms = [*dict.fromkeys([*counts, *added])]
        statistics = self.index.statistics(terms)
        unseen = {term for term in counts if not statistics.terms[term].is_seen}
        words = words_of_terms(self.index.analyzer, interpretation.ranked_text, unseen) if unseen else ()
        plan = plan_query(ranking, interpretation, counts, statistics, expansions)
        return PreparedQuery(
            self.index,
            ranking,
            requested,
            interpretation,
            counts,
            statistics,
            expansions,
            plan,
            words,
            took_ms=elapsed_ms(started),
            incomplete=incomplete,
        )

    def fill_defaults(self, ranking: Ranking, text: str) -> Ranking:
        """The ranking with the defaults that depend on the text of a query and on the index's encoder."""
        return ranking.for_query(text, encoder_name(self.index))

    def _expand(
        self, query: str, counts: Mapping[str, int], ranking: Ranking
    ) -> tuple[Mapping[str, boosts.Expansion], str | None]:
        """Expand a query by each boost of a ranking. Also returns what the first search lacked, or None."""
        incomplete: str | None = None

        def top_hits(n: int) -> Sequence[Hit]:
            nonlocal incomplete
            plan = ranking.plan(counts, self.index.statistics(list(counts)))
            if not plan.terms:
                return ()
            result = self.index.search(plan, n, NO_FILTERS)
            incomplete = result.incomplete
            return result.hits

        boost_query = boosts.BoostQuery(query, counts, self.index, top_hits)
        expansions = {
            name: (boost := boosts.get(name)).expand(boost.settings(values), boost_query)
            for name, values in ranking.boosts.items()
        }
        return expansions, incomplete

    def check_features(self, features: Iterable[str]) -> None:
        """Raise UsageError for a feature that no sentence of the index has, with the nearest name."""
        needed = [feature for feature in features if feature not in BUILTIN_FEATURES]
        stored = self.index.status(Features()) if needed else ()
        for feature in needed:
            if feature not in stored:
                raise unknown(f"feature of {self.index.where}", feature, [*BUILTIN_FEATURES, *stored])

    def check_signals(self, ranking: Ranking) -> None:
        """Raise UsageError for a signal that needs a part of enrichment that the index lacks."""
        reranker = ranking.reranker()
        for signal in () if reranker is None else reranker.inputs:
            if not signal.type.has_values(self.index):
                part = signal.type.needs
                noun = "parses" if part == PARSE else part
                raise UsageError(
                    f"{self.index.where} has no {noun}: run esr enrich --only {part}, "
                    f"or rank without {signal.signal}"
                )

    def _prefix_terms(self, interpretation: Interpretation) -> list[str]:
        """The terms that the prefixes of a query add to the ranked ones, most frequent first."""
        index = self.index
        terms: set[str] = set()
        for prefix in interpretation.prefixes:
            terms.update(
                index.analyzer.terms(prefix), index.vocabulary(TermsWithPrefix(prefix, PREFIX_CANDIDATES))
            )
        expansions = {
            term: of_term for term, of_term in index.statistics(sorted(terms)).terms.items() if of_term.sf
        }
        return sorted(expansions, key=lambda term: (-expansions[term].sf, term))[:PREFIX_TERMS]

    def terms(self, query: str | ParsedQuery) -> Mapping[str, int]:
        """The query's terms in order, with their counts. Raises UsageError for an empty query."""
        return self.interpret(query).counts

    def interpret(
        self, query: str | ParsedQuery, *, require_all: bool = False, literal: bool = False
    ) -> Interpretation:
        """Interpret a query for this index. `literal`: the whole string is words.

        Raises UsageError for an empty query or one with too many terms.
        """
        if not isinstance(query, str | ParsedQuery):
            raise UsageError(f"a query is a text or the result of esr.parse_query, not {query!r}")
        if self.index.analyzer.name == BY_LANGUAGE:
            searcher = self.for_query(query, literal=literal)
            return searcher.interpret(query, require_all=require_all, literal=literal)
        if isinstance(query, str) and not literal and may_have_syntax(query):
            query = parse_syntax(query)
        if isinstance(query, ParsedQuery) and has_relative_dates(query):
            query = resolve_dates(query, self._last_day())
        interpretation = interpret(query, self.index.analyzer, require_all)
        if self.index.analyzer.accents and (readings := find_readings(self.index, text_clauses(query))):
            interpretation = interpret(query, self.index.analyzer, require_all, readings)
        counts = interpretation.counts
        if not counts and not interpretation.decides_candidates:
            raise _explain_empty(interpretation.parsed)
        if len(counts) > MAX_TERMS:
            raise UnsearchableQuery(
                f"the query has {len(counts)} distinct terms: at most {MAX_TERMS} are allowed"
            )
        return interpretation

    def _last_day(self) -> date:
        """The day of the newest document, in UTC; `date.min` if none has a date."""
        if self._given_last_day is not None:
            return self._given_last_day
        days = read_newest_day(self.index)
        return date.min if math.isnan(days) else date(1970, 1, 1) + timedelta(math.floor(days))


def open_searcher(where: Where) -> Searcher:
    """Open the index at a location for search. Raises as `esr.open`."""
    return Searcher(open_index(read_where(where)))


def _explain_empty(parsed: ParsedQuery) -> UnsearchableQuery:
    if any(group.role == "excluded" for group in parsed.groups):
        return UnsearchableQuery("the query only excludes: give at least one word to search for")
    if not parsed.text.strip():
        return UnsearchableQuery("the query is empty: give at least one word to search for")
    if re.search(r"\w", parsed.text):
        return UnsearchableQuery("the query has only stop words: give at least one word to search for")
    return UnsearchableQuery("the query has no words: give at least one word to search for")


class QueryLanguage(Struct, frozen=True):
    """The language that a query is searched in, None for all; and the others that have all of its words."""

    language: str | None
    others: tuple[str, ...] = ()


def find_language(index: Index, query: ParsedQuery) -> QueryLanguage:
    """The language of a query in an index by language. Raises UsageError for one that no document is in.

    The query has no relative dates. Its language is the one that it names, or else the detected one. Most
    queries are too short to detect it. Then it is the language that has most of the query's words and, of
    several such languages, the one with the most sentences with its rarest word. A query without words has
    no language.
    """
    has_words = any(clause.field == TEXT for group in query.groups for clause in group.clauses)
    if not has_words and query.language is None:
        return QueryLanguage(None)
    languages = index.status(Languages())
    groups = groups_of(languages)
    named = dict.fromkeys(find_group(code, groups) for code in _named(query))
    possible = [group for group in groups if not named or group in named]
    if named and not possible:
        raise UsageError(
            f"no document of {index.where} is in the language {', '.join(named)}: "
            f"it has {', '.join(groups) or 'no documents'}"
        )
    # Languages that `language:` excludes are no alternative.
    known = possible if query.language is None else groups
    analyzers = {group: get_analyzer(BY_LANGUAGE).for_language(group) for group in known}
    read = {group: interpret(query, analyzer) for group, analyzer in analyzers.items()}
    by_group = {group: tuple(answer.counts) for group, answer in read.items()}
    terms_of_all = list(dict.fromkeys(term for terms in by_group.values() for term in terms))
    holders = dict(index.vocabulary(TermHolders(terms_of_all))) if terms_of_all else {}
    if not any(map(holders.get, terms_of_all)):  # no language has a word as typed
        for group in known:
            readings = find_readings(in_language(index, group), text_clauses(query))
            by_group[group] = tuple(as_read for t in by_group[group] for as_read in readings.get(t, (t,)))
            holders |= index.vocabulary(TermHolders(by_group[group])) if readings else {}
    for prefix in next((answer.prefixes for answer in read.values()), ()):  # equal in all languages
        begun = HasPrefix(prefix, "sentence")
        counts = index.count([AllOf((begun, language_condition(languages, g))) for g in known], NO_FILTERS)
        for group, count in zip(known, counts, strict=True):
            by_group[group] = (*by_group[group], prefix + group)
            holders[prefix + group] = count
    # Languages with most documents come first, and sorting is stable.
    ranked = sorted(known, key=lambda group: _rank(by_group[group], holders), reverse=True)
    best = next((group for group in ranked if group in possible), UNKNOWN_LANGUAGE)
    if len(possible) > 1 and (detected := detect_language(ranked_texts(query))) is not None:
        best = next((group for group in possible if group == language_group(detected)), best)
    has_all = (group for group in ranked if by_group[group] and all(map(holders.get, by_group[group])))
    return QueryLanguage(best, tuple(group for group in has_all if group != best))


def _rank(terms: Sequence[str], holders: Mapping[str, int]) -> tuple[float, int]:
    """The share of a query's terms in a language, and the number of sentences with the rarest of them."""
    counts = [holders[term] for term in terms if holders[term]]
    return len(counts) / max(len(terms), 1), min(counts, default=0)


def _named(query: ParsedQuery) -> list[str]:
    """The languages that a query names: its own, or else those of its `language:` fields."""
    if query.language is not None:
        return [query.language]
    required = [group for group in query.groups if group.role == "required" and group.expression is None]
    clauses = [group.alternatives for group in required]
    return [
        c.text
        for clause in clauses
        for c in clause
        if all(condition.field == "language" for condition in clause)
    ]
