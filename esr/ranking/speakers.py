"""Speakers: the person whom a query asks about, if sentences quote them, and the names that may be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import combinations, product
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters, resolve_speaker
from esr.index.names import name_key, short_key
from esr.index.questions import (
    Hits,
    Names,
    Quotes,
    SimilarWords,
)
from esr.plans.plan import Condition, SaidBy
from esr.query import literal
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery
from esr.ranking.spelling import MAX_SUGGESTED, SHORT_WORD, is_near, score_alternative
from esr.stdlib import compile_lazily
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER

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
    questions = {match["speaker"]: match for form in _ASKS if (match := form.fullmatch(parsed.text))}
    for text, match in questions.items():
        speaker = find_speaker(index, text)
        if speaker is None:
            continue
        condition, about = SaidBy((speaker.key,), probable=True), match["about"] or ""
        if any(index.count([condition], filters)):
            about = about if about and _is_quoted_about(index, condition, about, filters) else ""
            return QuotedSpeaker(*speaker, *match.span("speaker"), about)
    return None


def _is_quoted_about(index: Index, condition: Condition, about: str, filters: Filters) -> bool:
    """Whether the candidates of the default ranking for some words have such a quotation."""
    try:
        prepared = Searcher(index, owns_index=False).prepare(literal(about), Ranking())
    except UnsearchableQuery:
        return False
    plan = replace(prepared.plan, condition=condition)
    return index.search(plan, 1, filters, records=False).total > 0


def find_speaker(index: Index, text: str) -> Speaker | None:
    """The name of those quoted under a text such as "Mrs May"; None without quotations whose speaker has one.

    If there are several names, it is that of most of the newest quotations.
    """
    newest = index.select(SaidBy((text,), probable=True), _QUOTED, NO_FILTERS, Hits(records=False)).hits
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
    return Speaker(best, form or find_form(best, forms[best]))


def find_form(key: str, speakers: Iterable[str]) -> str:
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
    candidates = [
        " ".join(words[number] for words, number in zip(spellings, way, strict=True))
        for way in best[1 : _MOST_SPEAKERS + 1]
    ]
    known, *counts = index.count([SaidBy((form,), probable=True) for form in (text, *candidates)], NO_FILTERS)
    if known:
        return ()
    quoted = (form for form, count in zip(candidates, counts, strict=True) if count)
    speakers = (speaker for form in quoted if (speaker := find_speaker(index, form)))
    return tuple(dict.fromkeys(speakers))[:MAX_SUGGESTED]


def _similar_words(index: Index, word: str) -> list[str]:
    """The words of the collection that may be meant by a misspelt word of a name, best first."""
    similar = index.vocabulary(SimilarWords(word, 2 if len(word) > SHORT_WORD else 1, 1))
    near = [other for other in similar if other != word and is_near(word, other)]
    return sorted(near, key=lambda other: (-score_alternative(word, other, similar[other]), other))[:_SIMILAR]


MAX_NAME_WORDS = 3
"""Maximum number of words at the end of a query that may begin one name."""
