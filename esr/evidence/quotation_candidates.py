"""Finds sentences that may have a quotation: those with its words as a phrase, the best, and rare runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
    runs = [text[part[0].start : part[-1].end] for part in parts[:_MAX_PARTS]]
    for run in runs[:1]:
        if words := tuple(analyzer.terms(run)):
            # In an index by language, the terms of a search depend on the language that it finds.
            searched = runs if index.analyzer.name != BY_LANGUAGE else []
            hits = Hits(terms=[term for run in searched for term in index.analyzer.terms(run)])
            selected = index.select(HasWords(words), _PHRASES, NO_FILTERS, hits, oldest_first=True)
            yield from map(require_record, selected.hits)
    for run in runs:
        try:
            answer = searcher.search(literal(run), _RANKED, ranking=_RANKING)
        except UnsearchableQuery:
            continue
        yield from map(require_record, answer.hits)


def read_rare_phrases(index: Index, text: str, part: Sequence[Token]) -> list[SentenceRecord]:
    """Sentences with a rare run of words of a quotation, for one whose words are all frequent."""
    words = get_analyzer(WORDS_ANALYZER).terms(text[part[0].start : part[-1].end])[:_MAX_RUN_WORDS]
    runs = [HasWords(tuple(words[n : n + _RUN])) for n in range(len(words) - _RUN + 1)]
    numbers = index.count(runs, NO_FILTERS) if runs else []
    rare = [run for run, number in zip(runs, numbers, strict=True) if 0 < number <= _RARE]
    if not rare:
        return []
    return list(map(require_record, index.select(any_of(rare), _PHRASES, NO_FILTERS, Hits()).hits))
