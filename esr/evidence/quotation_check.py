"""Checks quotations: whether they are in an index word by word or nearly, who said them, and where first.

Candidates come from the index: sentences with the words of the quotation as a phrase, oldest first, and the
best ones for its words. `esr.evidence.alignment` compares each with the quotation. A quotation of several
sentences, or one that a candidate has only in part, is also compared with the sentences around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from esr.evidence.alignment import Alignment, Difference, Token, align, read_quotation, read_words
from esr.plugin import Document, Sentence, UsageError
from esr.plugin.provisional import (
    CERTAIN,
    NO_FILTERS,
    PROBABLE,
    WORDS_ANALYZER,
    HasWords,
    Hits,
    JoinedText,
    Names,
    Quote,
    Quotes,
    Ranking,
    Searcher,
    SentenceRecord,
    UnsearchableQuery,
    any_of,
    find_written,
    get_analyzer,
    pair_marks,
    require_record,
    split_sentences,
)
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import literal_query as literal

Verdict = Literal["exact", "near", "none"]
MAX_TEXT_CHARS = 200_000
"""Maximum length of a text to check."""
MAX_QUOTATIONS = 200
"""Maximum number of quotations of a text."""
NEAR, LEAST_WORDS = 0.55, 4
"""The least share of words of a near quotation that need no edit, and its least number of words."""
LATER, NEAREST = 50, 3
"""Maximum numbers of later appearances, and of nearest sentences."""

_RANKING = Ranking(model="bm25")
_PHRASES, _RANKED, _ALIGNED, _WIDENED = 60, 40, 12, 4
_MAX_PARTS = 4
_GOOD = 0.8
"""Similarity from which no further candidates are read."""
_RUN, _RARE, _MAX_RUN_WORDS = 4, 30, 24
"""Words of a run, the sentences that have a rare one at most, and the words from which runs are taken."""
_MAX_WORDS = 600


class Appearance(Struct, frozen=True):
    """Where an index has a quotation, or words like it.

    `text` is the sentence, or the sentences if the quotation spans several; `start` and `end` are the
    characters of the quotation in it. `speaker` is a name if it is known, or else as written, and `certainty`
    "certain" or "probable" for a name. `differences` are from the quotation that was checked.
    """

    sentence_id: str
    document_id: str
    date: str | None
    source: str | None
    title: str | None
    text: str
    start: int
    end: int
    verdict: Verdict
    similarity: float
    speaker: str | None
    certainty: str | None
    differences: tuple[Difference, ...]


class CheckedQuotation(Struct, frozen=True):
    """A quotation, its characters `start` to `end` in the checked text, and what the index has of it.

    `first` is the oldest appearance with the fewest differences, which `differences` lists. `later` are the
    others, oldest first; those in other words may be older than `first`. `nearest` are the most similar
    sentences if the verdict is "none". `speaker` and `certainty` are those of the first appearance with this
    verdict that has a speaker: certain ones first, then probable ones.
    """

    text: str
    start: int
    end: int
    verdict: Verdict
    speaker: str | None
    certainty: str | None
    first: Appearance | None
    later: tuple[Appearance, ...]
    differences: tuple[Difference, ...]
    nearest: tuple[Appearance, ...]


class QuotationCheck(Struct, frozen=True):
    """The quotations of a text in their order."""

    quotations: tuple[CheckedQuotation, ...]

    def as_dict(self) -> dict[str, Any]:
        """`{"quotations": [{"text", "verdict", "speaker", "first", "later", "differences", "nearest"}]}`"""
        data: dict[str, Any] = to_builtins(self)
        return data


def check_text(searcher: Searcher, text: str) -> QuotationCheck:
    """Check the quotations of a text, or all of it if it has no quotation marks.

    Raises UsageError for a text without words, a text that is too long, or too many quotations.
    """
    if not text.strip():
        raise UsageError("there is no quotation: give its words")
    if len(text) > MAX_TEXT_CHARS:
        raise UsageError(f"the text has {len(text):,} characters: at most {MAX_TEXT_CHARS:,} are checked")
    spans = find_quotations(text)
    if len(spans) > MAX_QUOTATIONS:
        raise UsageError(f"there are {len(spans):,} quotations: at most {MAX_QUOTATIONS} are checked")
    if not spans:
        start = len(text) - len(text.lstrip())
        spans = [(start, start + len(text.strip()))]
    if not any(read_words(text[start:end]) for start, end in spans):
        raise UsageError("the quotation has no word")
    searcher = searcher.snapshot()
    return QuotationCheck(tuple(check_quotation(searcher, text[start:end], start) for start, end in spans))


# The quotations of a text

_SINGLE = re.compile(
    r"(?<![\w’'])['‘’‚‹›](?=\w)[^'‘’‚‹›\n]{0,300}(?:['’](?=\w)[^'‘’‚‹›\n]{0,300}){0,8}['’‘‹›](?!\w)"
)


def find_quotations(text: str) -> list[tuple[int, int]]:
    """The characters of each quotation of a text, without its marks.

    Single marks count if there are no others. Quotations without a word are left out.
    """
    joined = JoinedText(_as_document(text))
    spans = [(pieces[0][0], pieces[-1][1]) for pieces in pair_marks(joined)]
    if not spans:
        spans = [match.span() for match in _SINGLE.finditer(text)]
    stripped = (_strip_marks(text, *span) for span in spans)
    return [(start, end) for start, end in stripped if read_words(text[start:end])]


def _as_document(text: str) -> Document:
    """The text as a document whose sentences are its lines, so that characters keep their places."""
    lines = text.split("\n")
    return Document("", tuple(Sentence(str(n), line, paragraph=n) for n, line in enumerate(lines)))


_MARKS = "\"“”„«»‹›‘’‚'`「」『』＂ \n\t"


def _strip_marks(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _MARKS:
        start += 1
    while start < end and text[end - 1] in _MARKS:
        end -= 1
    return start, end


# One quotation


class _Window(NamedTuple):
    """Sentences beside one another, joined by blanks, with the starts of each in the text."""

    record: SentenceRecord
    ids: Sequence[str]
    starts: Sequence[int]
    text: str

    @classmethod
    def join(cls, record: SentenceRecord, sentences: Sequence[Sentence]) -> _Window:
        starts, at = [], 0
        for sentence in sentences:
            starts.append(at)
            at += len(sentence.text) + 1
        return cls(
            record,
            [sentence.id for sentence in sentences],
            starts,
            " ".join(sentence.text for sentence in sentences),
        )


class _Match(NamedTuple):
    window: _Window
    alignment: Alignment


def check_quotation(searcher: Searcher, text: str, start: int = 0) -> CheckedQuotation:
    """Check one quotation, without its marks, on a snapshot. `start` is where it begins in a text."""
    index, tokens = searcher.index, read_quotation(text)[:_MAX_WORDS]
    parts = _split_parts(text, tokens)
    records = {record.sentence_id: record for record in _read_candidates(searcher, text, parts)}
    matches = _compare(index, text, tokens, list(records.values()))
    if parts and (not matches or matches[0].alignment.similarity < _GOOD):
        others = {record.sentence_id: record for record in _read_rare_phrases(index, text, parts[0])}
        if others.keys() - records.keys():
            matches = _compare(index, text, tokens, list((records | others).values()))
    best = [match for match in matches if _judge(match.alignment) != "none"]
    appearances = list(_describe(index, best or matches[:NEAREST]))
    end = start + len(text)
    if not best:
        return CheckedQuotation(text, start, end, "none", None, None, None, (), (), tuple(appearances))
    least = min(match.alignment.edits for match in best)
    order = sorted(range(len(best)), key=lambda n: _order(best[n].window.record))
    first = next(n for n in order if best[n].alignment.edits == least)
    later = tuple(appearances[n] for n in order if n != first)[:LATER]
    spoken = [
        each
        for each in (appearances[first], *later)
        if each.speaker and each.verdict == appearances[first].verdict
    ]
    surely = min(spoken, key=lambda each: _CERTAINTIES.index(each.certainty), default=None)
    return CheckedQuotation(
        text,
        start,
        end,
        appearances[first].verdict,
        surely.speaker if surely else None,
        surely.certainty if surely else None,
        appearances[first],
        later,
        appearances[first].differences,
        (),
    )


_CERTAINTIES = (CERTAIN, PROBABLE, None)


def _judge(alignment: Alignment) -> Verdict:
    if alignment.edits == 0:
        return "exact"
    return "near" if alignment.words >= LEAST_WORDS and is_near(alignment, NEAR) else "none"


def is_near(alignment: Alignment, least: float) -> bool:
    """Whether the differences can be slips: few words of the quotation, of each half, and beside one another.

    More of them in one place are the words of another sentence.
    """
    is_one_sided = alignment.in_half == alignment.edits
    return (
        alignment.similarity >= least
        and alignment.longest <= min(max(alignment.words // 4, 2), 4)
        and alignment.in_half <= max((0.3 if is_one_sided else 0.35) * alignment.words, 2)
    )


def _order(record: SentenceRecord) -> tuple[bool, str, str, int]:
    return not record.date, record.date or "", record.document_id, record.position


# Candidates


def _split_parts(text: str, tokens: Sequence[Token]) -> list[list[Token]]:
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


def _read_candidates(
    searcher: Searcher, text: str, parts: Sequence[Sequence[Token]]
) -> Iterator[SentenceRecord]:
    """Sentences that may have the quotation or a part of it; some are there twice."""
    index, analyzer = searcher.index, get_analyzer(WORDS_ANALYZER)
    for part in parts[:1]:
        if words := tuple(analyzer.terms(text[part[0].start : part[-1].end])):
            phrase = HasWords(words)
            yield from map(
                require_record,
                index.select(phrase, _PHRASES, NO_FILTERS, Hits(), oldest_first=True).hits,
            )
    for part in parts[:_MAX_PARTS]:
        try:
            answer = searcher.search(literal(text[part[0].start : part[-1].end]), _RANKED, ranking=_RANKING)
        except UnsearchableQuery:
            continue
        yield from map(require_record, answer.hits)


def _read_rare_phrases(index: Index, text: str, part: Sequence[Token]) -> list[SentenceRecord]:
    """Sentences with a rare run of words of a quotation, for one whose words are all frequent."""
    words = get_analyzer(WORDS_ANALYZER).terms(text[part[0].start : part[-1].end])[:_MAX_RUN_WORDS]
    runs = [HasWords(tuple(words[n : n + _RUN])) for n in range(len(words) - _RUN + 1)]
    numbers = index.count(runs, NO_FILTERS) if runs else []
    rare = [run for run, number in zip(runs, numbers, strict=True) if 0 < number <= _RARE]
    if not rare:
        return []
    return list(map(require_record, index.select(any_of(rare), _PHRASES, NO_FILTERS, Hits()).hits))


# Comparison


def _compare(
    index: Index, text: str, tokens: Sequence[Token], records: Sequence[SentenceRecord]
) -> list[_Match]:
    """The candidates with their alignments, fewest edits first. A window is there once."""
    keys = " " + " ".join(token.key for token in tokens if token.kind == "word") + " "
    wanted = {token.key for token in tokens if token.kind == "word"}
    read = [(record, read_words(record.text)) for record in records]
    shares = [len(wanted.intersection(token.key for token in words)) for _, words in read]
    # Those with the quotation as it is need no choice; of the others, those with the most of its words.
    has_all = [keys in f" {' '.join(token.key for token in words)} " for _, words in read]
    order = sorted(range(len(read)), key=lambda n: (not has_all[n], -shares[n], n))
    matches = []
    for n in order[: sum(has_all) + _ALIGNED]:
        record, words = read[n]
        if alignment := align(tokens, words, text, record.text):
            matches.append(_Match(_Window(record, [record.sentence_id], [0], record.text), alignment))
    matches.sort(key=_closeness)
    if len(split_sentences(text)) > 1 or not matches or matches[0].alignment.edits:
        matches = _widen(index, text, tokens, matches)
    return matches


def _closeness(match: _Match) -> tuple[int, int]:
    return match.alignment.edits, len(match.window.ids)


def _widen(index: Index, text: str, tokens: Sequence[Token], matches: Sequence[_Match]) -> list[_Match]:
    """The matches with those that also take words of the sentences around them, if these have fewer edits."""
    chosen = [match for match in matches if match.alignment.edits][:_WIDENED]
    around = 1 + len(split_sentences(text)) + sum(token.kind == "ellipsis" for token in tokens)
    ids = {match.window.record.document_id for match in chosen}
    documents = {document.id: document for document in index.documents(ids)} if ids else {}
    widened: dict[tuple[str, int, int], _Match] = {}
    for match in chosen:
        record = match.window.record
        sentences = documents[record.document_id].sentences
        start = max(0, record.position - around)
        window = _Window.join(record, sentences[start : record.position + around + 1])
        alignment = align(tokens, read_words(window.text), text, window.text)
        if alignment and alignment.edits < match.alignment.edits:
            cut = _cut(window, alignment, sentences[start:], start)
            widened.setdefault((record.document_id, cut.window.record.position, len(cut.window.ids)), cut)
    replaced = {id for match in widened.values() for id in match.window.ids}
    kept = [match for match in matches if match.window.ids[0] not in replaced]
    return sorted([*widened.values(), *kept], key=_closeness)


def _cut(window: _Window, alignment: Alignment, sentences: Sequence[Sentence], offset: int) -> _Match:
    """The sentences of a window that a quotation spans."""
    places = [n for n, start in enumerate(window.starts) if start < alignment.end]
    last = places[-1]
    first = max(n for n in places if window.starts[n] <= alignment.start)
    record = window.record._replace(
        sentence_id=sentences[first].id, position=offset + first, text=sentences[first].text
    )
    cut = _Window.join(record, sentences[first : last + 1])
    shift = window.starts[first]
    differences = tuple(
        Difference(d.text, d.original, d.start, d.end, d.original_start - shift, d.original_end - shift)
        for d in alignment.differences
    )
    moved = replace(
        alignment, start=alignment.start - shift, end=alignment.end - shift, differences=differences
    )
    return _Match(cut, moved)


# Speakers


def _describe(index: Index, matches: Sequence[_Match]) -> Iterator[Appearance]:
    quotes = _read_quotes(index, matches)
    keys = [quote.name for quote in quotes if quote and quote.name]
    names = index.vocabulary(Names(list(dict.fromkeys(keys)))) if keys else {}
    for (window, alignment), quote in zip(matches, quotes, strict=True):
        record, speaker, certainty = window.record, None, None
        if quote is not None:
            speaker, certainty = quote.speaker, quote.certainty
            if quote.name:
                known = names.get(quote.name)
                speaker = (
                    known.form if known else find_written(quote.name, speaker or "") or quote.name.title()
                )
        yield Appearance(
            window.ids[0],
            record.document_id,
            record.date,
            record.source,
            record.title,
            window.text,
            alignment.start,
            alignment.end,
            _judge(alignment),
            round(alignment.similarity, 4),
            speaker,
            certainty,
            alignment.differences,
        )


def _read_quotes(index: Index, matches: Iterable[_Match]) -> list[Quote | None]:
    """The stored quotation that has most of each match; None without one."""
    matches = list(matches)
    ids = list(dict.fromkeys(id for match in matches for id in match.window.ids))
    stored: Mapping[str, Sequence[Quote]] = (
        dict(zip(ids, index.read(ids, Quotes()), strict=True)) if ids else {}
    )
    found = []
    for window, alignment in matches:
        best, most = None, 0
        for id, start in zip(window.ids, window.starts, strict=True):
            for quote in stored[id]:
                shared = min(alignment.end, start + quote.end) - max(alignment.start, start + quote.start)
                if shared > most:
                    best, most = quote, shared
        found.append(best if 2 * most >= alignment.end - alignment.start else None)
    return found
