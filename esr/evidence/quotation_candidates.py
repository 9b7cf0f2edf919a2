"""Finds sentences that may have a quotation: those with its words as a phrase, the best, and rare runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from esr.evidence.alignment import Token
from esr.plugin.provisional import (
    BY_LANGUAGE,
    NO_FILTERS,
    WORDS_ANALYZER,
    HasWords,
    Hits,
    Ranking,
    Searcher,
    SentenceRecord,
    UnsearchableQuery,
    any_of,
    get_analyzer,
    require_record,
)
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import literal_query as literal

_RANKING = Ranking(model="bm25")
_PHRASES, _RANKED = 60, 40
_MAX_PARTS = 4
_SCORED, _LEAST_RARE = 6_000, 2
"""The number of sentences that have one of the ranked words, and of ranked words, at least."""
_RUN, _RARE, _MAX_RUN_WORDS = 4, 30, 24
"""Words of a run, the sentences that have a rare one at most, and the words from which runs are taken."""


def split_parts(text: str, tokens: Sequence[Token]) -> list[list[Token]]:
    """The runs of words that stand in one sentence of the original, longest first."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind != "word":
            parts.append([])
            continue
        if parts[-1] and any(parts[-1][-1].end <= end <= token.start for end in ends):
            parts.append([])
        parts[-1].append(token)
    return sorted(filter(None, parts), key=len, reverse=True)


_SENTENCE_END = re.compile(r"[.!?]+[\"”’')\]]*\s+(?=\W*[^\W\d_a-z])")


def read_candidates(
    searcher: Searcher, text: str, parts: Sequence[Sequence[Token]]
) -> Iterator[SentenceRecord]:
    """Sentences that may have the quotation or a part of it; some are there twice."""
    index, analyzer = searcher.index, get_analyzer(WORDS_ANALYZER)
    parts = parts[:_MAX_PARTS]
    runs = [text[part[0].start : part[-1].end] for part in parts]
    # In an index by language, the terms of a search depend on the language that it finds.
    is_by_language = index.analyzer.name == BY_LANGUAGE
    terms_by_part = [{} if is_by_language else _read_terms(index, text, part) for part in parts]
    for run in runs[:1]:
        if words := tuple(analyzer.terms(run)):
            hits = Hits(
                terms=[term for by_word in terms_by_part for terms in by_word.values() for term in terms]
            )
            selected = index.select(HasWords(words), _PHRASES, NO_FILTERS, hits, oldest_first=True)
            yield from map(require_record, selected.hits)
    for run, by_word in zip(runs, terms_by_part, strict=True):
        rare = (by_word and _choose_rare_words(index, by_word)) or run
        try:
            answer = searcher.search(literal(rare), _RANKED, ranking=_RANKING)
        except UnsearchableQuery:
            continue
        yield from map(require_record, answer.hits)


def _choose_rare_words(index: Index, terms: Mapping[str, Sequence[str]]) -> str:
    """The rarest of these words, so many that an engine scores all sentences with one of them at once.

    `terms`: those of each word in the index. Empty if no sentence has a word.
    """
    statistics = index.statistics([term for of_word in terms.values() for term in of_word]).terms
    holders = {word: sum(statistics[term].sf for term in of_word) for word, of_word in terms.items()}
    chosen, scored = set(), 0
    for number, word in enumerate(sorted(filter(holders.get, terms), key=lambda word: holders[word])):
        scored += holders[word]
        if scored > _SCORED and number >= _LEAST_RARE:
            break
        chosen.add(word)
    return " ".join(word for word in terms if word in chosen)


def _read_terms(index: Index, text: str, part: Sequence[Token]) -> dict[str, list[str]]:
    """The words of a part, each with its terms in the index."""
    words = dict.fromkeys(text[token.start : token.end] for token in part)
    return {word: list(index.analyzer.terms(word)) for word in words}


def read_rare_phrases(index: Index, text: str, part: Sequence[Token]) -> list[SentenceRecord]:
    """Sentences with a rare run of words of a quotation, for one whose words are all frequent."""
    words = get_analyzer(WORDS_ANALYZER).terms(text[part[0].start : part[-1].end])[:_MAX_RUN_WORDS]
    runs = [HasWords(tuple(words[n : n + _RUN])) for n in range(len(words) - _RUN + 1)]
    numbers = index.count(runs, NO_FILTERS) if runs else []
    rare = [run for run, number in zip(runs, numbers, strict=True) if 0 < number <= _RARE]
    if not rare:
        return []
    return list(map(require_record, index.select(any_of(rare), _PHRASES, NO_FILTERS, Hits()).hits))
