"""Interprets a parsed query for an analyzer: terms to rank by, and a condition that sentences must satisfy.

A sentence is a candidate if it satisfies all required groups and no excluded one. If a query has only wanted
words, the ranking decides on candidates. Fields next to wanted words only filter. `read_groups` reports how
each group was read, and why some are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

from msgspec import Struct

from esr.plans.plan import (
    AllOf,
    Condition,
    DateRange,
    HasAttribute,
    HasEntity,
    HasLanguage,
    HasPrefix,
    HasQuote,
    HasSource,
    HasTerm,
    HasWords,
    Not,
    SaidBy,
    TextField,
    all_of,
    any_of,
)
from esr.query.parser import literal
from esr.query.query import (
    TEXT,
    Clause,
    Conjunction,
    Disjunction,
    Expression,
    Group,
    Negation,
    ParsedQuery,
    date_start,
)
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER
from esr.text.attributes import is_attribute
from esr.text.languages import standardise_language
from esr.text.sentence_enrichment import LOCATION, ORGANIZATION, PERSON

ENTITY_FIELDS: dict[str, str | None] = {
    "person": PERSON,
    "place": LOCATION,
    "organization": ORGANIZATION,
    "name": None,
}
"""The type of names that each field of names requires; None for any."""
_REMEMBERED, _LONGEST_REMEMBERED = 1 << 14, 40
"""Size of the cache of analysed words, and the maximum length of its texts: queries repeat words."""
_SINGLE_VALUED = ("source", "section", "language")
"""Fields with one value per document: several clauses of one field are alternatives."""


_NO_READINGS: Mapping[str, tuple[str, ...]] = {}


class Interpretation(Struct, frozen=True):
    """A query as an index understands it.

    `query` is a string if it consists of words alone. `counts` has c(t,q) of its terms, in order; the ranking
    adds terms that begin with `prefixes`. `wanted` are the terms of the wanted words alone.
    `decides_candidates`: the condition, not the ranking, decides which sentences are candidates.
    `require_all`: a sentence needs every wanted word. `readings` are the terms that a term stands for, if not
    for itself alone.
    """

    query: str | ParsedQuery
    counts: Mapping[str, int]
    wanted: tuple[str, ...]
    condition: Condition | None
    prefixes: tuple[str, ...]
    decides_candidates: bool
    require_all: bool = False
    readings: Mapping[str, tuple[str, ...]] = _NO_READINGS

    @property
    def parsed(self) -> ParsedQuery:
        """The query in groups, parsed on demand: a search for the words of a string needs no groups."""
        return literal(self.query) if isinstance(self.query, str) else self.query

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The terms of `counts`, those together that a word stands for."""
        return self.group(self.counts)

    def group(self, terms: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        """Terms of the ranking, those together that a word stands for."""
        together = {term: read for read in self.readings.values() for term in read}
        return tuple(dict.fromkeys(together.get(term, (term,)) for term in terms))

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages of sentences to find, as `ParsedQuery` has them."""
        return () if isinstance(self.query, str) else self.query.languages

    @property
    def ranked_text(self) -> str:
        """The ranked words, as typed."""
        return " ".join(_ranked_texts(self.parsed))

    @property
    def matching(self) -> Condition | None:
        """The condition of a sentence that matches the query; None for a query of stop words alone.

        The sentence satisfies the conditions of the query. Unless these alone decide on candidates, it also
        has a word of the query itself, not only in its context.
        """
        conditions = () if self.condition is None else (self.condition,)
        if self.decides_candidates:
            return self.condition
        words = tuple(map(HasTerm, self.counts))
        return all_of([any_of(words), *conditions]) if words else None

    @property
    def all_words(self) -> Condition | None:
        """The condition that a sentence has every wanted word and satisfies the rest of the query.

        None for a query that asks for nothing.
        """
        condition = () if self.condition is None else (self.condition,)
        return all_of([*_term_conditions(self.wanted, self.readings), *condition])


def interpret(
    query: str | ParsedQuery,
    analyzer: Analyzer,
    require_all: bool = False,
    readings: Mapping[str, tuple[str, ...]] = _NO_READINGS,
) -> Interpretation:
    """Interpret a query with the index's analyzer. A string consists of words alone.

    `require_all`: a sentence needs every wanted word. `readings` are the terms that a term stands for, if not
    for itself alone.
    """
    counts: dict[str, int] = {}
    texts = ranked_texts(query)
    is_shouted = are_shouted(texts, analyzer)
    typed = _terms_of(texts, analyzer, is_shouted)
    for term in typed:
        for read in readings.get(term, (term,)):
            counts[read] = counts.get(read, 0) + 1
    if not require_all and (isinstance(query, str) or query.is_plain):
        wanted = tuple(dict.fromkeys(typed)) if readings else tuple(counts)
        return Interpretation(query, counts, wanted, None, (), False, readings=readings)
    parsed = literal(query) if isinstance(query, str) else query
    wanted = tuple(
        dict.fromkeys(_terms_of([text for _, text in _wanted_texts(parsed)], analyzer, is_shouted))
    )
    required = [g for g in parsed.groups if g.role == "required" and is_searchable(g)]
    excluded = [g for g in parsed.groups if g.role == "excluded" and is_searchable(g)]
    reader = _ClauseReader(analyzer, readings)
    conditions = list(_required_conditions(required, reader))
    if require_all:
        conditions += _term_conditions(wanted, readings)
    conditions += [Not(_group_condition(group, reader)) for group in excluded]
    of_text = [group for group in required if TEXT in _fields_of(group)]
    prefixes = dict.fromkeys(
        _words(clause.text)[-1]
        for group in of_text
        for clause in group.alternatives
        if clause.field == TEXT and clause.form == "prefix"
    )
    decides_candidates = bool(of_text) or require_all or (bool(required) and not counts)
    condition = all_of(conditions)
    return Interpretation(
        parsed, counts, wanted, condition, tuple(prefixes), decides_candidates, require_all, readings
    )


class _ClauseReader(NamedTuple):
    """What the terms of a clause depend on."""

    analyzer: Analyzer
    readings: Mapping[str, tuple[str, ...]]


def _term_conditions(terms: Iterable[str], readings: Mapping[str, tuple[str, ...]]) -> Iterator[Condition]:
    """Yield the condition for each term: that a sentence has any of the terms that it stands for."""
    for term in terms:
        read = readings.get(term, (term,))
        if read:
            yield any_of(map(HasTerm, read))


def _required_conditions(required: Sequence[Group], reader: _ClauseReader) -> Iterator[Condition]:
    """Yield the conditions of required groups; clauses of a single-valued field are alternatives."""
    single: dict[str, list[Condition]] = {field: [] for field in _SINGLE_VALUED}
    for group in required:
        condition = _group_condition(group, reader)
        (field, *others) = _fields_of(group)
        if field in single and not others and group.expression is None:
            single[field].append(condition)
        else:
            yield condition
    yield from (any_of(conditions) for conditions in single.values() if conditions)


def _ranked_texts(parsed: ParsedQuery) -> list[str]:
    """The parts of the query with ranked terms: runs of wanted words, and required words and phrases."""
    pieces = _wanted_texts(parsed)
    if parsed.is_plain:
        return [text for _, text in pieces]
    pieces += [
        (clause.start, clause.text)
        for group in parsed.groups
        if group.role == "required"
        for clause in group.alternatives
        if clause.field == TEXT and clause.form != "prefix"
    ]
    return [text for _, text in sorted(pieces)]


def _wanted_texts(parsed: ParsedQuery) -> list[tuple[int, str]]:
    """The runs of wanted words, with their positions."""
    return [(start, parsed.text[start:end]) for start, end in parsed.wanted_runs]


def are_shouted(texts: Iterable[str], analyzer: Analyzer) -> bool:
    """Whether all words of a query are in capitals, which then mean nothing: `WHO IS TRUMP`.

    False if all are stop words, as in `WHO` alone: there is nothing else to search for.
    """
    if not analyzer.keeps_capitals:
        return False
    text = " ".join(texts)
    return text.isupper() and bool(analyzer.terms(text.lower()))


def _terms_of(texts: Iterable[str], analyzer: Analyzer, is_shouted: bool) -> list[str]:
    normal = (normalize("NFC", text) for text in texts)
    # Letter by letter, as analyzers do: Python lowers a final sigma differently.
    lowered = (text.lower().replace("ς", "σ") if is_shouted else text for text in normal)
    return [term for text in lowered for term in analyzer.terms(text)]


def ranked_texts(query: str | ParsedQuery) -> list[str]:
    """The parts of a query whose terms are ranked."""
    return [query] if isinstance(query, str) else _ranked_texts(query)


def text_clauses(query: str | ParsedQuery) -> list[str]:
    """The texts of a query that have terms: words and phrases that are wanted, required or excluded."""
    if isinstance(query, str):
        return [normalize("NFC", query)]
    clauses = (clause for group in query.groups for clause in group.clauses)
    return [normalize("NFC", c.text) for c in clauses if c.field == TEXT and c.form != "prefix"]


def is_searchable(group: Group) -> bool:
    """Whether every clause can be searched for: a text needs words."""
    return all(clause.field not in (TEXT, "title") or _words(clause.text) for clause in group.clauses)


def _fields_of(group: Group) -> set[str]:
    return {clause.field for clause in group.alternatives}


def _group_condition(group: Group, reader: _ClauseReader) -> Condition:
    if group.expression is not None:
        return _condition(group.expression, reader)
    return any_of(_clause_condition(clause, reader) for clause in group.alternatives)


def _condition(expression: Expression, reader: _ClauseReader) -> Condition:
    match expression:
        case Conjunction(parts):
            condition = all_of(_condition(part, reader) for part in parts)
            assert condition is not None  # parts is not empty
            return condition
        case Disjunction(parts):
            return any_of(_condition(part, reader) for part in parts)
        case Negation(part):
            return Not(_condition(part, reader))
        case clause:
            return _clause_condition(clause, reader)


def _clause_condition(clause: Clause, reader: _ClauseReader) -> Condition:
    match clause.field:
        case "source":
            return HasSource((normalize("NFC", clause.text),))
        case "language":
            written = clause.text.lower().replace("_", "-")
            # An index may have been loaded before codes of three letters were replaced.
            return any_of(map(HasLanguage, (written, standardise_language(written))))
        case "before":
            return DateRange(None, date_start(clause) - 1)
        case "after":
            return DateRange(date_start(clause), None)
        case "title":
            return _words_condition(clause, "title")
        case "text":
            return _text_condition(clause, reader)
        case "is":
            return HasQuote()
        case "speaker":
            return SaidBy((normalize("NFC", clause.text),))
        case "speaker~":
            return SaidBy((normalize("NFC", clause.text),), probable=True)
        case name if is_attribute(name):
            return HasAttribute((name,), (normalize("NFC", clause.text),))
        case name:
            type, text = ENTITY_FIELDS[name], normalize("NFC", clause.text)
            return HasEntity((f"{type}:{text}" if type else text,))


def _text_condition(clause: Clause, reader: _ClauseReader) -> Condition:
    """The condition for one word, by its term as in the ranking, or for several words as a phrase."""
    if clause.form == "word":
        terms = reader.analyzer.terms(normalize("NFC", clause.text))
        if len(terms) == 1:
            return next(_term_conditions(terms, reader.readings), _words_condition(clause, "sentence"))
    return _words_condition(clause, "sentence")


def _words_condition(clause: Clause, field: TextField) -> Condition:
    words = _words(clause.text)
    if clause.form != "prefix":
        return HasWords(words, field)
    before, prefix = words[:-1], HasPrefix(words[-1], field)
    return AllOf((HasWords(before, field), prefix)) if before else prefix


def _words(text: str) -> tuple[str, ...]:
    """The words as written, in lower case and without accents."""
    return terms_of_word(normalize("NFC", text), get_analyzer(WORDS_ANALYZER))


def terms_of_word(text: str, analyzer: Analyzer) -> tuple[str, ...]:
    """The terms of a text that is probably a single word."""
    return _recall_terms(text, analyzer) if len(text) <= _LONGEST_REMEMBERED else tuple(analyzer.terms(text))


@lru_cache(_REMEMBERED)
def _recall_terms(text: str, analyzer: Analyzer) -> tuple[str, ...]:
    return tuple(analyzer.terms(text))


Reading = Literal["wanted", "required", "excluded", "ignored"]


class ReadGroup(NamedTuple):
    """A group of a query, how it is read, and the reason if it is ignored."""

    group: Group
    reading: Reading
    reason: str | None = None

    @property
    def label(self) -> str:
        """The group for people: without its sign, with phrases in quotes."""
        if self.group.expression is None:
            return " or ".join(map(_label, self.group.alternatives))
        return _describe(self.group.expression)

    def as_dict(self) -> dict[str, Any]:
        """The group as JSON, with its position in the query.

        `"expression"` is None if the clauses are alternatives. Otherwise it consists of nested lists that
        begin with "and", "or" or "not", with clauses given by their number in the group.
        """
        group = self.group
        clauses = [{"field": c.field, "form": c.form, "text": c.text} for c in group.clauses]
        numbers = iter(range(len(clauses)))
        nested = None if group.expression is None else _nest(group.expression, numbers)
        place = {"start": group.start, "end": group.end}
        return {
            "reading": self.reading,
            **place,
            "clauses": clauses,
            "expression": nested,
            "reason": self.reason,
        }


def _nest(expression: Expression, numbers: Iterator[int]) -> Any:
    match expression:
        case Conjunction(parts):
            return ["and", *(_nest(part, numbers) for part in parts)]
        case Disjunction(parts):
            return ["or", *(_nest(part, numbers) for part in parts)]
        case Negation(part):
            return ["not", _nest(part, numbers)]
        case _:
            return next(numbers)


def _describe(expression: Expression, is_part: bool = False) -> str:
    match expression:
        case Conjunction(parts):
            text = " and ".join(_describe(part, True) for part in parts)
        case Disjunction(parts):
            text = " or ".join(_describe(part, True) for part in parts)
        case Negation(part):
            return f"not {_describe(part, True)}"
        case clause:
            return _label(clause)
    return f"({text})" if is_part else text


def _label(clause: Clause) -> str:
    field = "" if clause.field == TEXT else f"{clause.field}: "
    match clause.form:
        case "phrase":
            return f"{field}“{clause.text.strip()}”"
        case "prefix":
            return f"{field}{clause.text}*"
        case _:
            return field + clause.text


def read_groups(parsed: ParsedQuery, analyzer: Analyzer, require_all: bool = False) -> Iterator[ReadGroup]:
    """Yield how each group of a query is read. `require_all`: a sentence needs every wanted word."""
    is_shouted = are_shouted(ranked_texts(parsed), analyzer)
    for group in parsed.groups:
        text = normalize("NFC", group.alternatives[0].text)
        # Signs such as emoji are terms, but a phrase or title needs words.
        if group.role == "wanted" and terms_of_word(text.lower() if is_shouted else text, analyzer):
            yield ReadGroup(group, "required" if require_all else "wanted")
        elif not is_searchable(group):
            yield ReadGroup(group, "ignored", "there is no letter or digit in it")
        elif group.role != "wanted":
            yield ReadGroup(group, group.role)
        else:
            yield ReadGroup(group, "ignored", "it is a stop word")
