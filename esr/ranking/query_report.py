"""Reports on a query for its author: how it was read, how many sentences match, corrections, completions.

Corrections ("did you mean") replace words that hardly any sentence has with similar words of the collection.
As in a noisy channel (Kernighan, Church & Gale 1990), a candidate's score is the logarithm of its number of
sentences minus a cost for each edit. Completions as you type are words, names, sources and attributes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from unicodedata import normalize

from msgspec import Struct, structs
from msgspec.structs import replace

from esr.errors import EsrError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters, resolve_speaker
from esr.index.names import name_key, short_key
from esr.index.questions import (
    Hits,
    Names,
    NamesWithPrefix,
    Quotes,
    SimilarWords,
    Values,
    WordsWithPrefix,
    WrittenForms,
)
from esr.index.view import chosen_language
from esr.plans.plan import Condition, HasWords, SaidBy
from esr.query import FIELDS, Field, NoteKind, ValueKind, literal, split_field, write_value
from esr.query.interpretation import ENTITY_FIELDS, ReadGroup, read_groups, terms_of_word
from esr.query.parser import SIGNS, Scanner
from esr.query.query import TEXT, Note
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery
from esr.stdlib import compile_lazily, import_lazily
from esr.text.analyzer import Analyzer, TermToken, get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER
from esr.text.attributes import META, META_PREFIX, is_attribute

if TYPE_CHECKING:
    from rapidfuzz.distance import OSA
else:
    OSA = import_lazily("rapidfuzz.distance.OSA")

# Corrections

RARE = 3
"""Maximum number of sentences of a word that is likely a slip, in the query or in the collection."""
MUCH_RARER = 300
"""The ratio of sentences that an alternative needs to a word of the query that is not rare."""
MAX_SUGGESTED, MAX_LISTED = 3, 4
"""Maximum number of alternatives of a word, and of words in a query that get alternatives."""
_RARER = 10
"""The minimum ratio of sentences that an alternative needs to a rare word."""
_CHANCE = 35.0
"""Divided by a word's length, the logarithm of the ratio of sentences that an alternative needs.

Short words resemble others by chance: with 5 letters the ratio is 1,100, with 9 letters 50.
"""
_MOST = 100
"""Number of sentences above which a word gets no suggestions."""
_SHORTEST = 3
"""Minimum number of letters of a word that gets suggestions."""
_SHORT = 4
"""Words of up to this many letters are corrected by one edit, since two could turn them into any word."""
_LONG = 7
"""Minimum number of letters of the longer of two words that are two edits apart."""
_EDIT_COST, _FIRST_LETTER_COST = 5.0, 1.5
"""Cost of an edit, and additional cost for the first letter, which is seldom wrong."""
_REMEMBERED, _LONGEST_REMEMBERED = 1 << 14, 40
"""Size of the cache of clauses' words, and the maximum length of its clauses: queries repeat words."""
_COUNTED = 12
"""Maximum number of alternatives whose exact number of sentences is counted."""


class WordCount(NamedTuple):
    """A word in its usual spelling, and its number of sentences."""

    text: str
    sentences: int


class Suggestion(Struct, frozen=True):
    """Words that may be meant by a word of a query, best first.

    The word is at `start` to `end` of the query; `queries` has the query with each of the alternatives.
    """

    word: str
    start: int
    end: int
    alternatives: tuple[WordCount, ...]
    queries: tuple[str, ...]

    def as_dict(self) -> Mapping[str, Any]:
        """The suggestion as JSON."""
        alternatives = [
            {**alternative._asdict(), "query": query}
            for alternative, query in zip(self.alternatives, self.queries, strict=True)
        ]
        return {"word": self.word, "start": self.start, "end": self.end, "alternatives": alternatives}


def suggest(prepared: PreparedQuery) -> tuple[Suggestion, ...]:
    """Suggest corrections for the words of a query that hardly any sentence has."""
    text = prepared.interpretation.parsed.text
    suggestions = []
    rare = list(_rare_words(prepared))
    accented = _find_accented(prepared, rare)
    for token, sentences in rare:
        similar = find_alternatives(prepared, token.term, sentences)
        same = accented.get(token)
        alternatives = similar if same is None else (same, *similar)[:MAX_SUGGESTED]
        if alternatives:
            queries = tuple(text[: token.start] + word.text + text[token.end :] for word in alternatives)
            word = text[token.start : token.end]
            suggestions.append(Suggestion(word, token.start, token.end, alternatives, queries))
        if len(suggestions) == MAX_LISTED:
            break
    return tuple(suggestions)


def _find_accented(
    prepared: PreparedQuery, rare: Sequence[tuple[TermToken, int]]
) -> Mapping[TermToken, WordCount]:
    """Find the rare words that sentences have with other accents, in their usual spelling: sequía.

    Stemmers cut words by their accents, so these forms have other terms. The analyzer `words` ignores them.
    """
    if not rare:
        return {}
    index = prepared.index
    counts = index.count([HasWords((token.term,)) for token, _ in rare], NO_FILTERS)
    frequent = {
        token: count
        for (token, sentences), count in zip(rare, counts, strict=True)
        if count > sentences and count >= _RARER * sentences
    }
    forms = index.vocabulary(WrittenForms([token.term for token in frequent]))
    return {
        token: WordCount(form, count)
        for (token, count), form in zip(frequent.items(), forms, strict=True)
        if terms_of_word(form, index.analyzer) != terms_of_word(_typed(prepared, token), index.analyzer)
    }


def _typed(prepared: PreparedQuery, token: TermToken) -> str:
    return normalize("NFC", prepared.interpretation.parsed.text[token.start : token.end])


def correct(text: str, suggestions: Sequence[Suggestion]) -> str | None:
    """The query with the best alternative of each suggestion, or None without suggestions."""
    if not suggestions:
        return None
    for suggestion in sorted(suggestions, key=lambda suggestion: suggestion.start, reverse=True):
        text = text[: suggestion.start] + suggestion.alternatives[0].text + text[suggestion.end :]
    return text


def find_alternatives(prepared: PreparedQuery, word: str, sentences: int) -> tuple[WordCount, ...]:
    """Find words that may be meant by `word`, which occurs in this number of sentences.

    Both are words as the analyzer `words` returns them.
    """
    index = prepared.index
    least = _least_sentences(word, sentences)
    # A word has at least as many occurrences as sentences.
    similar = index.vocabulary(SimilarWords(word, 2 if not sentences and len(word) > _SHORT else 1, least))
    own_terms = terms_of_word(word, index.analyzer)
    similar = {o: n for o, n in similar.items() if _may_be_meant(word, o, own_terms, index.analyzer)}
    if not similar:
        return ()
    likeliest = sorted(similar, key=lambda other: (-_score(word, other, similar[other]), other))[:_COUNTED]
    counts = index.count([HasWords((other,)) for other in likeliest], NO_FILTERS)
    exact = {other: count for other, count in zip(likeliest, counts, strict=True) if count >= least}
    best = sorted(exact, key=lambda other: (-_score(word, other, exact[other]), other))[:MAX_SUGGESTED]
    if not best:
        return ()
    forms = index.vocabulary(WrittenForms(best))
    return tuple(WordCount(form, exact[other]) for form, other in zip(forms, best, strict=True))


def _rare_words(prepared: PreparedQuery) -> Iterator[tuple[TermToken, int]]:
    """Yield the words of a query that may be slips, and their numbers of sentences."""
    parsed, analyzer = prepared.interpretation.parsed, prepared.index.analyzer
    statistics = prepared.statistics.terms
    for group in parsed.groups:
        for clause in group.alternatives:
            if group.role == "excluded" or clause.field != TEXT or clause.form == "prefix":
                continue
            typed = parsed.text[clause.start : clause.end]
            for start, end, word in _locate_words(typed):
                as_typed = terms_of_word(normalize("NFC", typed[start:end]), analyzer)
                terms = next(
                    (t for t in (as_typed, terms_of_word(word, analyzer)) if {*t} & {*statistics}), ()
                )
                sentences = statistics[terms[0]].sf if len(terms) == 1 else None
                if len(word) >= _SHORTEST and sentences is not None and sentences <= _MOST:
                    yield TermToken(start + clause.start, end + clause.start, word), sentences


def _locate_words(text: str) -> Sequence[TermToken]:
    """The words of a clause, with positions in the clause."""
    return (
        _recall_words(text)
        if len(text) <= _LONGEST_REMEMBERED
        else list(get_analyzer(WORDS_ANALYZER).tokens(text))
    )


@lru_cache(_REMEMBERED)
def _recall_words(text: str) -> Sequence[TermToken]:
    return tuple(get_analyzer(WORDS_ANALYZER).tokens(text))


def _least_sentences(word: str, sentences: int) -> int:
    """The minimum number of sentences of an alternative to a word with this number of sentences."""
    if not sentences:
        return RARE
    times = max(_RARER if sentences <= RARE else MUCH_RARER, math.exp(_CHANCE / len(word)))
    return math.ceil(times * sentences)


def _may_be_meant(word: str, other: str, own_terms: Sequence[str], analyzer: Analyzer) -> bool:
    """Whether another word may be meant: not a stop word, not a form of the same word, not too different."""
    terms = terms_of_word(other, analyzer)
    return bool(terms) and terms != own_terms and _is_near(word, other)


def _is_near(word: str, other: str) -> bool:
    return max(len(word), len(other)) >= _LONG or _count_edits(word, other) < 2


def _score(word: str, other: str, count: int) -> float:
    cost = _EDIT_COST * _count_edits(word, other) + _FIRST_LETTER_COST * (word[0] != other[0])
    return math.log(max(count, 1)) - cost


def _count_edits(word: str, other: str) -> int:
    return OSA.distance(word, other)


# Speakers

ASKS_ABOUT: Mapping[str, tuple[str, ...]] = {
    "en": (
        "what (did|does|do|has|have|had) SPEAKER (say|said|tell|told us)( (about|on|of|regarding) ABOUT)?",
        "what SPEAKER (has |have )?(said|says|say)( (about|on|of|regarding) ABOUT)?",
        "SPEAKER (has |have )?(said|says|say) (about|on|of|regarding) ABOUT",
        "(quotes|quotations|statements|remarks|comments) (by|from|of) SPEAKER( (about|on|regarding) ABOUT)?",
        "SPEAKER (quotes|quotations)( (about|on|regarding) ABOUT)?",
        "SPEAKER (about|on) ABOUT",
    ),
    "de": (
        "was (hat|haben) SPEAKER( (über|zu|zum|zur) ABOUT)? gesagt",
        "was (sagte|sagten|sagt|sagen) SPEAKER( (über|zu|zum|zur) ABOUT)?",
        "SPEAKER (sagte|sagten|sagt|sagen) (über|zu|zum|zur) ABOUT",
        "(zitate|aussagen|äußerungen) von SPEAKER( (über|zu|zum|zur) ABOUT)?",
        "SPEAKER (über|zu|zum|zur) ABOUT",
    ),
}
"""Forms of queries for what somebody said, by language: SPEAKER has up to five words."""
_PIECES = {
    "SPEAKER": r"(?P<speaker>\w[\w.'’-]*(?: [\w.'’-]+){0,4}?)",
    "ABOUT": r"(?P<about>\w.*?)",
    "(": "(?:",
    " ": r"\s+",
}
_ASKS = tuple(
    compile_lazily(
        rf"\W*{re.sub('SPEAKER|ABOUT|[( ]', lambda piece: _PIECES[piece[0]], form)}\W*", re.IGNORECASE
    )
    for forms in ASKS_ABOUT.values()
    for form in forms
)
_LONGEST_ASKED = 200
"""Maximum number of characters of a query that may ask what somebody said."""
_MAX_SPEAKER_WORDS = 30
"""Number of words of a speaker in which a name is looked for: a document may bring a whole text."""
_QUOTED = 20
"""Number of the newest sentences with a quotation by which a speaker is known."""
_SIMILAR, _MOST_SPEAKERS = 8, 100
"""Numbers of similar words of each word of a mistyped speaker, and of speakers that are looked up."""


class Speaker(NamedTuple):
    """A name that the index quotes: its key, by which quotations are found, and its usual form."""

    key: str
    name: str


class QuotedSpeaker(Struct, frozen=True):
    """Somebody who is quoted, named by a query at `start` to `end`, and what they are asked about.

    `about` is empty if the query does not say it, or if no quotation has a word of it.
    """

    speaker: str
    name: str
    start: int
    end: int
    about: str


def find_quoted(prepared: PreparedQuery, filters: Filters) -> QuotedSpeaker | None:
    """The known speaker of a query such as "what did Theresa May say about Brexit"; None of other queries."""
    parsed, index = prepared.interpretation.parsed, prepared.index
    if len(parsed.text) > _LONGEST_ASKED or not parsed.is_plain:
        return None
    asked = {match["speaker"]: match for form in _ASKS if (match := form.fullmatch(parsed.text))}
    for text, match in asked.items():
        speaker = find_speaker(index, text)
        if speaker is None:
            continue
        said, about = SaidBy((speaker.key,)), match["about"] or ""
        if any(index.count([said], filters)):
            about = about if about and _is_quoted_about(index, said, about, filters) else ""
            return QuotedSpeaker(*speaker, *match.span("speaker"), about)
    return None


def _is_quoted_about(index: Index, said: Condition, about: str, filters: Filters) -> bool:
    """Whether the candidates of the default ranking for some words have such a quotation."""
    try:
        prepared = Searcher(index, owns_index=False).prepare(literal(about), Ranking())
    except UnsearchableQuery:
        return False
    plan = replace(prepared.plan, condition=said)
    return index.search(plan, 1, filters, records=False).total > 0


def find_speaker(index: Index, text: str) -> Speaker | None:
    """The name of those quoted under a text such as "Mrs May"; None without quotations whose speaker has one.

    If there are several names, it is that of most of the newest quotations.
    """
    newest = index.select(SaidBy((text,)), _QUOTED, NO_FILTERS, Hits(records=False)).hits
    if not newest:
        return None
    written, keys = name_key(text), set(map(name_key, resolve_speaker(index, text)))
    forms: dict[str, list[str]] = {}
    for quotes in index.read([hit.sentence_id for hit in newest], Quotes()):
        for quote in quotes:
            key, speaker = name_key(quote.name or ""), quote.speaker or ""
            is_own = name_key(speaker) == written and {*short_key(written).split()} <= {*key.split()}
            if key and (key in keys or is_own):
                forms.setdefault(key, []).append(speaker)
    names = index.vocabulary(Names(list(forms)))
    counts: dict[str, int] = {}
    for key, of_key in forms.items():
        group = names[key].key if key in names else key
        counts[group] = counts.get(group, 0) + len(of_key)
    if not counts:
        return None
    best = min(counts, key=lambda key: (-counts[key], key))
    form = next((name.form for name in names.values() if name.key == best), None)
    return Speaker(best, form or _find_form(best, forms[best]))


def _find_form(key: str, speakers: Iterable[str]) -> str:
    """The form of a name in one of the speakers as written, or else its key with capitals."""
    written = (words for speaker in speakers if (words := find_written(key, speaker)))
    return next(written, key.title())


def find_written(key: str, speaker: str) -> str:
    """The words of a speaker, such as Prime Minister Theresa May, that have the key; empty without any."""
    words = speaker.split()[:_MAX_SPEAKER_WORDS]
    for start, end in combinations(range(len(words) + 1), 2):
        if name_key(text := " ".join(words[start:end])) == key:
            return text
    return ""


def suggest_speakers(index: Index, text: str) -> tuple[Speaker, ...]:
    """Quoted names that may be meant by a speaker whom no sentence quotes, best first.

    They are names with similar words of the collection.
    """
    tokens = list(get_analyzer(WORDS_ANALYZER).tokens(text))
    if len(tokens) > MAX_NAME_WORDS:
        return ()
    spellings = [[token.term, *_similar_words(index, token.term)] for token in tokens]
    # Ways to spell each word: 0 as it is, then from the best.
    ways = product(*(range(len(words)) for words in spellings))
    best = sorted(ways, key=lambda way: (sum(number > 0 for number in way), sum(way), way))
    asked = [
        " ".join(words[number] for words, number in zip(spellings, way, strict=True))
        for way in best[1 : _MOST_SPEAKERS + 1]
    ]
    known, *counts = index.count([SaidBy((each,)) for each in (text, *asked)], NO_FILTERS)
    if known:
        return ()
    quoted = (each for each, count in zip(asked, counts, strict=True) if count)
    found = (speaker for each in quoted if (speaker := find_speaker(index, each)))
    return tuple(dict.fromkeys(found))[:MAX_SUGGESTED]


def _similar_words(index: Index, word: str) -> list[str]:
    """The words of the collection that may be meant by a misspelt word of a name, best first."""
    similar = index.vocabulary(SimilarWords(word, 2 if len(word) > _SHORT else 1, 1))
    near = [other for other in similar if other != word and _is_near(word, other)]
    return sorted(near, key=lambda other: (-_score(word, other, similar[other]), other))[:_SIMILAR]


# Reports


class MatchCounts(NamedTuple):
    """How many sentences match the query, and how many of them have all wanted words.

    They also pass the filters. Both numbers are None if they are unknown, and for a query of stop words
    alone. `PreparedQuery.matching` says which sentences match.
    """

    matching: int | None
    all_words: int | None


class QueryReport(Struct, frozen=True):
    """How a query was read, and what it matches.

    `terms` are the terms of its words. `corrected` is the query with the best suggestions, None without any.
    `quoted` is the speaker that it asks about, if the index quotes them.
    `language` is the language in which an index by language was searched, None in any other index or for a
    query without words. `other_languages` are others that have all of its words.
    """

    terms: tuple[str, ...]
    groups: tuple[ReadGroup, ...]
    notes: tuple[Note, ...]
    counts: MatchCounts
    suggestions: tuple[Suggestion, ...]
    corrected: str | None
    quoted: QuotedSpeaker | None = None
    language: str | None = None
    other_languages: tuple[str, ...] = ()

    def as_dict(self) -> Mapping[str, Any]:
        """The report as JSON: `{"groups", "notes", "matching", "all_words", "any_word", "suggestions",
        "corrected", "quoted"}`, and `"language"` and `"other_languages"` of an index by language.

        Positions are offsets into the query, in characters (code points). `any_word` is the former name of
        `matching`.
        """
        return {
            "groups": [group.as_dict() for group in self.groups],
            "notes": [{"start": n.start, "end": n.end, "message": n.message} for n in self.notes],
            **self.counts._asdict(),
            "any_word": self.counts.matching,
            "suggestions": [suggestion.as_dict() for suggestion in self.suggestions],
            "corrected": self.corrected,
            "quoted": None if self.quoted is None else structs.asdict(self.quoted),
            "language": self.language,
            "other_languages": list(self.other_languages),
        }


def report_query(prepared: PreparedQuery, filters: Filters) -> QueryReport:
    """Report on a prepared query. If the engine fails, the report has no counts and no suggestions."""
    report = report_reading(prepared)
    try:
        counts, suggestions = count_matches(prepared, filters), suggest(prepared)
        quoted = find_quoted(prepared, filters)
    except EsrError:  # the answer is still useful without them
        return report
    corrected = correct(prepared.interpretation.parsed.text, suggestions)
    return replace(report, counts=counts, suggestions=suggestions, corrected=corrected, quoted=quoted)


def report_reading(prepared: PreparedQuery) -> QueryReport:
    """The part of the report that needs no engine: no counts, no suggestions."""
    parsed, analyzer = prepared.interpretation.parsed, prepared.index.analyzer
    groups = tuple(read_groups(parsed, analyzer, prepared.interpretation.require_all))
    terms = tuple(prepared.interpretation.counts)
    report = QueryReport(terms, groups, parsed.notes, MatchCounts(None, None), (), None)
    if not analyzer.mark:
        return report
    language, others = chosen_language(prepared.index)
    return replace(report, language=language, other_languages=others)


def count_matches(prepared: PreparedQuery, filters: Filters) -> MatchCounts:
    """Count the sentences that match a query, and those of them with all of its words."""
    if prepared.matching is None:
        return MatchCounts(None, None)
    return MatchCounts(*prepared.index.count([prepared.matching, prepared.all_words], filters))


# Completions

MAX_NAME_WORDS = 3
"""Maximum number of words at the end of a query that may begin one name."""
SHORTEST = 2
"""Minimum number of letters of a prefix to be completed."""
_FAIR_SHARE = 0.01
"""Minimum frequency of a completion, as a share of the typed word's frequency, if that is a word itself."""
_OF_ALL_TYPES = 8
"""Factor of the number of names fetched if only names of one type are wanted."""
_QUOTES = '"“”„＂'

Kind = Literal["word", "name", "source", "attribute", "field"]


class Completion(NamedTuple):
    """A completion of the end of a typed query.

    `query` is the whole text with the completion. `frequency` is approximate: sentences, or for a source or
    an attribute documents, or for a field its values.
    """

    text: str
    kind: Kind
    frequency: int
    query: str


def complete(searcher: Searcher, text: str, limit: int) -> Sequence[Completion]:
    """Complete the end of a query with the most frequent names and words, names first.

    After `source:` these are sources, after a field of attributes its values, after `meta.` keys, and after a
    field of names only names. Names of fields with values in the index come last.
    """
    index = searcher.index
    chunk = text[_find_last_chunk(text) :]
    name = chunk.lstrip(SIGNS + "(")
    field, value = split_field(name) or (None, "")
    if field is None and name.lower().startswith(META_PREFIX):
        start, begun = len(text) - len(name), name[len(META_PREFIX) :].removeprefix('"')
        return [
            Completion(
                key.form, "attribute", key.documents, f"{text[:start]}{META_PREFIX}{_quote_key(key.form)}:"
            )
            for key in index.vocabulary(Values(META)).with_prefix(begun, limit)
            if not set(key.form) & set('"\n')
        ]
    if field and field.kind is ValueKind.NAME:
        before, named = text.removesuffix(value), name.removesuffix(value)
        kind, found = _values(index, field, value.lstrip(_QUOTES), limit)
        written = ((form, count, write_value(named, form)) for form, count in found)
        return [Completion(form, kind, count, before + own) for form, count, own in written if own]
    if field and field.kind is not ValueKind.WORDS:
        return []
    fields = list(_complete_field(index, text, name)) if field is None else []
    others = [*_complete_name(index, text, limit // 2), *_complete_word(index, text, limit)]
    return [*others[: max(limit - len(fields), 1)], *fields][:limit]


def _complete_field(index: Index, text: str, begun: str) -> Iterator[Completion]:
    """Yield the fields whose name begins with the last chunk and for which the index has values."""
    begun = begun.lower()
    for field in FIELDS if len(begun) >= SHORTEST else ():
        if field.name.startswith(begun) and (count := count_values_of(index, field)):
            written = f"{field.name}:"
            yield Completion(written, "field", count, text[: len(text) - len(begun)] + written)


_SOME_NAMES = 200
"""Number of the most frequent names that are examined for names of a type."""


def count_values_of(index: Index, field: Field) -> int:
    """About how many values a field has in an index. Of names, some are counted; else, all documents."""
    if field.name == "source" or is_attribute(field.name):
        return len(index.vocabulary(Values(field.name)))
    if field.name in ENTITY_FIELDS:
        return sum(1 for _ in _names(index, "", _SOME_NAMES // _OF_ALL_TYPES, ENTITY_FIELDS[field.name]))
    return index.statistics([]).collection.documents


def _find_last_chunk(text: str) -> int:
    """The start of the last chunk: of a field with an open quote, else after the last white space."""
    scanner = Scanner(text, None)
    scanner.scan()
    for note in scanner.notes:
        if note.kind is NoteKind.QUOTE and split_field(text[note.start :].lstrip(SIGNS)):
            return note.start
    return max(text.rfind(space) for space in " \t\n") + 1


def _values(index: Index, field: Field, begun: str, limit: int) -> tuple[Kind, list[tuple[str, int]]]:
    """The kind of the values of a field, and the values with this prefix, each with its frequency."""
    if field.name == "source" or is_attribute(field.name):
        values = index.vocabulary(Values(field.name)).with_prefix(begun, limit)
        kind: Kind = "source" if field.name == "source" else "attribute"
        return kind, [(value.form, value.documents) for value in values]
    return "name", list(islice(_names(index, begun, limit, ENTITY_FIELDS.get(field.name)), limit))


def _complete_name(index: Index, text: str, limit: int) -> Iterator[Completion]:
    """Yield names that begin with as many of the last words as possible."""
    words = list(get_analyzer(WORDS_ANALYZER).tokens(text))[-MAX_NAME_WORDS:]
    if not words or words[-1].end < len(text):
        return
    for first in range(len(words)):
        start = words[first].start
        if len(text) - start > SHORTEST:
            found = list(islice(_names(index, text[start:], limit), limit))
            yield from (Completion(form, "name", count, text[:start] + form) for form, count in found)
            if found:
                return


def _names(index: Index, begun: str, limit: int, type: str | None = None) -> Iterator[tuple[str, int]]:
    """Yield names with a prefix, of one type or of any, with their numbers of sentences."""
    keys = index.vocabulary(
        NamesWithPrefix(name_key(begun), limit if type is None else limit * _OF_ALL_TYPES)
    )
    for name in index.vocabulary(Names(keys)).values():
        if name.has_type(type):
            yield name.form, name.sentences


def _complete_word(index: Index, text: str, limit: int) -> Iterator[Completion]:
    """Yield words with the last word as prefix, except those that are rare compared with it."""
    tokens = list(get_analyzer(WORDS_ANALYZER).tokens(text))
    if not tokens or tokens[-1].end < len(text) or len(tokens[-1].term) < SHORTEST:
        return
    start, _, prefix = tokens[-1]
    words = index.vocabulary(WordsWithPrefix(prefix, limit))
    least = _FAIR_SHARE * dict(words).get(prefix, 0)
    for word, count in words:
        if count >= least:
            yield Completion(word, "word", count, text[:start] + word)


def _quote_key(key: str) -> str:
    """The key as it is written in a field name, quoted if needed."""
    return f'"{key}"' if re.search(r"[\s:]", key) else key
