"""Checks a draft: the evidence for each sentence, its numbers beside theirs, its quotations, and its names.

It finds what an index has on a text, and says nothing about whether the text is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct, to_builtins

from esr.evidence.contrast import Statement
from esr.evidence.quotation_check import (
    MAX_TEXT_CHARS,
    CheckedQuotation,
    CitedSentence,
    check_quotation,
    check_text,
    list_quotations,
)
from esr.evidence.quotation_marks import find_quotations
from esr.plugin import UsageError
from esr.plugin.provisional import (
    NO_FILTERS,
    WORDS_ANALYZER,
    HasWords,
    Ranking,
    Searcher,
    SentenceRecord,
    SimilarWords,
    UnsearchableQuery,
    WordCounts,
    WrittenForms,
    get_analyzer,
    is_title,
    require_record,
    split_sentences,
)
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import literal_query as literal

MAX_SENTENCES = 500
"""Maximum number of sentences of a draft."""
EVIDENCE, LEAST_SHARE = 3, 0.3
"""The most sentences of evidence for a sentence, and the share of its words, by rarity, that each has."""
_RANKING = Ranking(model="bm25")
_READ, _LEAST_WORDS, _MAX_WORDS = 10, 3, 80
_ONE_QUOTATION = 3
"""A draft of so many sentences without quotation marks is checked as one quotation too."""


class EvidenceFor(CitedSentence, frozen=True):
    """A sentence of the index with words of a sentence of the draft. `share`: how many, by their rarity."""

    share: float


class NumberBeside(Struct, frozen=True):
    """A number of the evidence, with the sentence that has it."""

    text: str
    sentence_id: str


class CheckedNumber(Struct, frozen=True):
    """A number of the draft, and the numbers of the evidence for the same unit.

    `verdict`: "same" if one of them is equal, "other" if all differ, and "none" without any.
    """

    text: str
    start: int
    end: int
    verdict: Literal["same", "other", "none"]
    beside: tuple[NumberBeside, ...]


class CheckedSentence(Struct, frozen=True):
    """A sentence of the draft with its characters there, its best evidence, and its numbers."""

    text: str
    start: int
    end: int
    evidence: tuple[EvidenceFor, ...]
    numbers: tuple[CheckedNumber, ...]


class NearName(Struct, frozen=True):
    """A form of a name, and the number of sentences that have it."""

    name: str
    sentences: int


class CheckedName(Struct, frozen=True):
    """A name of the draft at its first place, the sentences that have it, and more frequent similar forms."""

    text: str
    start: int
    end: int
    sentences: int
    nearest: tuple[NearName, ...]


class DraftCheck(Struct, frozen=True):
    """What an index has on a draft. `start` and `end` are characters of its `text`."""

    text: str
    quotations: tuple[CheckedQuotation, ...]
    sentences: tuple[CheckedSentence, ...]
    names: tuple[CheckedName, ...]

    def as_dict(self) -> dict[str, Any]:
        """`{"text", "quotations": […], "sentences": [{"evidence", "numbers", …}], "names": […]}`"""
        data: dict[str, Any] = to_builtins(self)
        return data


def check_draft(searcher: Searcher, text: str) -> DraftCheck:
    """Check a draft. Raises UsageError for a text that is empty or too long."""
    if not text.strip():
        raise UsageError("there is no text to check")
    if len(text) > MAX_TEXT_CHARS:
        raise UsageError(f"the text has {len(text):,} characters: at most {MAX_TEXT_CHARS:,} are checked")
    sentences = split_draft(text)
    if len(sentences) > MAX_SENTENCES:
        raise UsageError(
            f"there are {len(sentences):,} sentences: divide the draft, at most {MAX_SENTENCES} are checked"
        )
    searcher = searcher.snapshot()
    quotations: tuple[CheckedQuotation, ...] = ()
    if find_quotations(text):
        quotations = check_text(searcher, text).quotations
    elif len(sentences) <= _ONE_QUOTATION:
        quotations = tuple(check_quotation(searcher, text[at:end], at) for at, end in list_quotations(text))
    read = {start: Statement(text[start:end]) for start, end in sentences}
    return DraftCheck(
        text,
        quotations,
        tuple(_check_sentences(searcher, text, sentences, read)),
        tuple(_check_names(searcher.index, text, sentences, read)),
    )


def split_draft(text: str) -> list[tuple[int, int]]:
    """The characters of each sentence of a text. Sentences are split in their paragraphs."""
    places = [n for n, character in enumerate(text) if not character.isspace()]
    spans, at = [], 0
    for sentence in split_sentences(text):
        size = sum(not character.isspace() for character in sentence)
        spans.append((places[at], places[at + size - 1] + 1))
        at += size
    return spans


# Evidence and numbers


def _check_sentences(
    searcher: Searcher, text: str, sentences: Sequence[tuple[int, int]], read: Mapping[int, Statement]
) -> Iterator[CheckedSentence]:
    records_by_sentence = [_search(searcher, text[start:end]) for start, end in sentences]
    analyzer = searcher.index.analyzer.for_language(None)
    terms = [frozenset(analyzer.terms(text[start:end])) for start, end in sentences]
    weights = _weigh(searcher.index, terms)
    for (start, end), sentence_terms, records in zip(sentences, terms, records_by_sentence, strict=True):
        shared = [
            (record, _share(sentence_terms, frozenset(analyzer.terms(record.text)), weights))
            for record in records
        ]
        best = sorted(shared, key=lambda pair: -pair[1])[:EVIDENCE]
        evidence = tuple(
            EvidenceFor(
                record.sentence_id,
                record.document_id,
                record.date,
                record.source,
                record.title,
                record.text,
                round(share, 4),
            )
            for record, share in best
            if share >= LEAST_SHARE
        )
        numbers = tuple(_check_numbers(read[start], start, evidence))
        yield CheckedSentence(text[start:end], start, end, evidence, numbers)


def _search(searcher: Searcher, sentence: str) -> list[SentenceRecord]:
    words = sentence.split()
    if len(words) < _LEAST_WORDS:
        return []
    try:
        answer = searcher.search(literal(" ".join(words[:_MAX_WORDS])), _READ, ranking=_RANKING)
    except UnsearchableQuery:
        return []
    return list(map(require_record, answer.hits))


def _weigh(index: Index, terms: Iterable[frozenset[str]]) -> dict[str, float]:
    """The rarity of each term: the logarithm of the share of sentences without it."""
    statistics = index.statistics(sorted(frozenset().union(*terms)))
    size = max(statistics.collection.sentences, 1)
    return {term: math.log(1 + size / max(counts.sf, 1)) for term, counts in statistics.terms.items()}


def _share(terms: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    total = math.fsum(weights.get(term, 0.0) for term in terms)
    return math.fsum(weights.get(term, 0.0) for term in terms & other) / total if total else 0.0


_TOLERANCE = 1e-9


def _check_numbers(
    sentence: Statement, offset: int, evidence: Sequence[EvidenceFor]
) -> Iterator[CheckedNumber]:
    others = [(sentence_beside.sentence_id, Statement(sentence_beside.text)) for sentence_beside in evidence]
    for number in sentence.numbers:
        beside, is_same = [], False
        for id, other in others:
            for candidate in other.numbers:
                is_equal = math.isclose(candidate.value, number.value, rel_tol=_TOLERANCE)
                has_no_unit = not (candidate.units and number.units)
                if candidate.units & number.units or (is_equal and has_no_unit):
                    beside.append(NumberBeside(other.text[candidate.start : candidate.end], id))
                    is_same = is_same or is_equal
        yield CheckedNumber(
            sentence.text[number.start : number.end],
            offset + number.start,
            offset + number.end,
            "same" if is_same else "other" if beside else "none",
            tuple(dict.fromkeys(beside)),
        )


# Names

_CAPITALISED = re.compile(r"[^\W\d_][\w’'.-]*")
_MAX_NAME_WORDS = 5
_FREQUENT, _TIMES, _LEAST = 20, 10, 3
"""A name of fewer sentences than this may be misspelt. Forms near it are in so many times as many sentences,
and in so many at least."""
_LEAST_FIRST = 5
"""Occurrences of a word from which its spelling says whether it is a name."""
_SIMILAR, _LONG = 4, 8
"""Similar words to try for each word, and letters of a word that may have two wrong ones."""


class _WrittenName(NamedTuple):
    """A run of capitalised words. `is_first`: whether it begins a sentence."""

    start: int
    end: int
    words: tuple[str, ...]
    is_first: bool


def _check_names(
    index: Index, text: str, sentences: Sequence[tuple[int, int]], read: Mapping[int, Statement]
) -> Iterator[CheckedName]:
    written = _choose_names(index, text, sentences, read)
    counts = index.count([HasWords(name.words) for name in written], NO_FILTERS) if written else []
    similar: dict[str, list[str]] = {}
    for name, number in zip(written, counts, strict=True):
        forms: list[tuple[str, ...]] = []
        if number < _FREQUENT:
            forms = _find_forms(index, name.words, similar)
        near = index.count([HasWords(words) for words in forms], NO_FILTERS) if forms else []
        least = max(_TIMES * number, _LEAST)
        frequent = [(words, n) for words, n in zip(forms, near, strict=True) if n >= least]
        frequent.sort(key=lambda pair: (-pair[1], pair[0]))
        yield CheckedName(
            text[name.start : name.end],
            name.start,
            name.end,
            number,
            tuple(NearName(_spell(index, words), n) for words, n in frequent[:_SIMILAR]),
        )


def _choose_names(
    index: Index, text: str, sentences: Sequence[tuple[int, int]], read: Mapping[int, Statement]
) -> list[_WrittenName]:
    """The names of a text, each once.

    The first word of a sentence belongs to a name unless the collection writes it with a small letter. A word
    alone is a name only if the collection writes it with a capital, and it is no title, such as CEO.
    """
    runs = [name for start, end in sentences for name in _find_runs(text, start, end, read[start])]
    runs = [name for name in runs if len(name.words) > 1 or not is_title(name.words[0], None)]
    firsts = list(dict.fromkeys(name.words[0] for name in runs if name.is_first or len(name.words) == 1))
    counts = index.vocabulary(WordCounts(firsts)) if firsts else {}
    spelled = dict(zip(firsts, index.vocabulary(WrittenForms(firsts)), strict=True)) if firsts else {}
    names: dict[tuple[str, ...], _WrittenName] = {}
    for name in runs:
        is_single = len(name.words) == 1
        if not (name.is_first or is_single):
            names.setdefault(name.words, name)
            continue
        number, spelling = counts.get(name.words[0], 0), spelled[name.words[0]]
        if is_single and ((name.is_first and number < _LEAST_FIRST) or (number and spelling.islower())):
            continue
        if number and spelling.islower():
            start = next((match.end() for match in _FIRST_WORD.finditer(text, name.start)), name.end)
            words = tuple(get_analyzer(WORDS_ANALYZER).terms(text[start : name.end]))
            if not words:  # a single word with hyphens
                continue
            name = name._replace(start=start, words=words)
        names.setdefault(name.words, name)
    return list(names.values())


_FIRST_WORD = re.compile(r"\S+\s+")


def _find_runs(text: str, start: int, end: int, statement: Statement) -> Iterator[_WrittenName]:
    """The runs of capitalised words of a sentence, without stop words before them, months and letters."""
    stop, months = statement.words.stop, statement.words.months
    run: list[re.Match[str]] = []

    def finish() -> Iterator[_WrittenName]:
        words = run
        while words and words[0][0].lower() in stop:
            words = words[1:]
        if words and len(words) <= _MAX_NAME_WORDS:
            written = text[words[0].start() : words[-1].end()].rstrip(".")
            written = written.removesuffix("’s").removesuffix("'s")
            terms = tuple(get_analyzer(WORDS_ANALYZER).terms(written))
            if terms and not (len(terms) == 1 and (terms[0] in months or len(terms[0]) == 1)):
                at = words[0].start()
                yield _WrittenName(at, at + len(written), terms, at == first)

    first = next((match.start() for match in _CAPITALISED.finditer(text, start, end)), start)
    for match in _CAPITALISED.finditer(text, start, end):
        is_beside = bool(run) and text[run[-1].end() : match.start()] == " " and run[-1][0][-1] not in ".,"
        if run and not (is_beside and match[0][0].isupper()):
            yield from finish()
            run = []
        if match[0][0].isupper():
            run.append(match)
    yield from finish()


def _spell(index: Index, words: tuple[str, ...]) -> str:
    """The words as the collection spells them most, each with a capital."""
    return " ".join(word[:1].upper() + word[1:] for word in index.vocabulary(WrittenForms(words)))


def _find_forms(index: Index, words: tuple[str, ...], similar: dict[str, list[str]]) -> list[tuple[str, ...]]:
    """The name with one word replaced by a similar one of the collection, for each such word."""
    forms = []
    for n, word in enumerate(words):
        if word not in similar:
            similar[word] = _find_similar(index, word) if len(word) > 2 else []
        forms += [(*words[:n], other, *words[n + 1 :]) for other in similar[word]]
    return forms


def _find_similar(index: Index, word: str) -> list[str]:
    edits = 2 if len(word) >= _LONG else 1
    similar = index.vocabulary(SimilarWords(word, edits, _LEAST))
    return sorted(similar, key=lambda other: (-similar[other], other))[:_SIMILAR]
