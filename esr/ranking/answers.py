"""Answers: the passages that a list shows, and JSON and tables, the same for commands and pages.

A passage has the hits that are next to each other in their document. Further hits do not change the order of
passages: a hit joins a passage, is left out for its document, or begins a passage after all others.

A ranking with context also ranks sentences without a word of the query. A sentence that is ranked only for
its document does not answer the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from esr.index.hits import Hit, SentenceRecord
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.query_report import QueryReport
from esr.text.addresses import web_url
from esr.text.analyzer import Analyzer
from esr.text.document import LIST_FIELDS
from esr.text.scripts import text_direction

MOST_OF_DOCUMENT = 2
"""Maximum number of passages per document in a list of the best sentences."""
MOST_SENTENCES = 5
"""Maximum number of sentences in a passage. A longer run is better read in its document."""


class Passage(Struct):
    """An item of a list: its best hit, and all its sentences in the order of their document.

    `similar` are the later hits that repeat one of them. `more`, in the last passage that a document may
    have, counts the hits of the document that are in no passage. `reason` says why the best hit is listed
    without a word of the query, None if it has one.
    """

    best: Hit
    sentences: Sequence[Hit]
    similar: Sequence[Hit] = ()
    more: int = 0
    reason: str | None = None


def limit_passages(passages: Iterable[Passage], most: int) -> list[Passage]:
    """The first `most` passages of each document. The last of them counts the sentences of the others."""
    of_document: Counter[str] = Counter()
    last: dict[str, Passage] = {}
    listed: list[Passage] = []
    for passage in passages:
        document = require_record(passage.best).document_id
        of_document[document] += 1
        if of_document[document] <= most:
            last[document] = passage
            listed.append(passage)
        else:
            last[document].more += len(passage.sentences)
    return listed


def single(hits: Iterable[Sequence[Hit]]) -> list[Passage]:
    """One passage of one sentence for each group of a hit and its repeats."""
    return [Passage(best, [best], similar) for best, *similar in hits]


def build_passages(
    groups: Iterable[Sequence[Hit]],
    most: int | None = MOST_OF_DOCUMENT,
    wordless: Collection[str] = (),
) -> list[Passage]:
    """Join groups, each a hit with its repeats, to passages. The hits need records.

    `most` is the maximum number of passages per document, None for any number. A hit without a word of the
    query (its id is in `wordless`) does not join an adjacent passage, next to which readers see it anyway.
    """
    passages: list[Passage] = []
    at: dict[tuple[str, int], Passage] = {}
    of_document: Counter[str] = Counter()
    last: dict[str, Passage] = {}
    for first, *similar in groups:
        assert first.record is not None
        document, position = first.record.document_id, first.record.position
        beside = [at[place] for n in (-1, 1) if (place := (document, position + n)) in at]
        open_ones = [neighbour for neighbour in beside if len(neighbour.sentences) < MOST_SENTENCES]
        if open_ones:
            passage = min(open_ones, key=passages.index)
            passage.similar = [*passage.similar, *similar]
            if first.sentence_id in wordless:
                continue
            passage.sentences = sorted([*passage.sentences, first], key=_position)
        elif beside or (most is not None and of_document[document] >= most):
            last[document].more += 1
            continue
        else:
            passage = last[document] = Passage(first, [first], similar)
            of_document[document] += 1
            passages.append(passage)
        at[document, position] = passage
    return passages


def _position(hit: Hit) -> int:
    return hit.record.position if hit.record is not None else 0


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TIMES = {1: "once", 2: "twice"}
_ALL = {1: "the word itself", 2: "both words"}


class Match(NamedTuple):
    """How many words of a query are in a sentence, of how many in all; how often its neighbours have one; and
    whether the headline has one."""

    in_sentence: int
    total: int
    beside: int
    is_in_headline: bool


def count_matches(record: SentenceRecord, words: Collection[tuple[str, ...]], analyzer: Analyzer) -> Match:
    """How many words of a query, each given by the terms that it stands for, are in and around a sentence."""
    terms, of_sentence = frozenset(chain.from_iterable(words)), {*analyzer.terms(record.text)}
    return Match(
        _count_present(words, of_sentence),
        len(words),
        sum(map(terms.__contains__, _terms_beside(record, analyzer))),
        bool(terms.intersection(analyzer.terms(record.title or ""))),
    )


def _count_present(words: Iterable[tuple[str, ...]], terms: Set[str]) -> int:
    """How many words have a term among these."""
    return sum(not terms.isdisjoint(word) for word in words)


def describe_match(record: SentenceRecord, words: Collection[tuple[str, ...]], analyzer: Analyzer) -> str:
    """Why a sentence is in the list, as in "all four words; twice nearby; in the headline"."""
    return write_match(count_matches(record, words, analyzer))


def write_match(match: Match) -> str:
    """The same of words that are counted."""
    beside = match.beside
    parts = [_count_words(match.in_sentence, match.total)]
    parts += [f"{_TIMES.get(beside) or f'{_spell(beside)} times'} nearby"] if beside else []
    parts += ["in the headline"] if match.is_in_headline else []
    return "; ".join(parts)


def _count_words(number: int, total: int) -> str:
    if number == total:
        return _ALL.get(total) or f"all {_spell(total)} words"
    return f"{_spell(number)} of {_spell(total)} words" if number else "none of the words"


def _spell(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def _terms_beside(record: SentenceRecord, analyzer: Analyzer) -> Iterator[str]:
    for text in (record.previous, record.next):
        if text:
            yield from analyzer.terms(text)


_WINDOW_SHARE = 0.5
"""The share of a query's words that the neighbours of a wordless sentence must have for it to be listed."""


def find_wordless(
    prepared: PreparedQuery, hits: Sequence[Hit], terms: Sequence[Collection[str]]
) -> frozenset[str]:
    """The ids of the hits without a word of the query. `terms` are those of the hits."""
    of_query = {term.term for term in prepared.plan.terms}
    if not of_query or prepared.interpretation.decides_candidates:
        return frozenset()
    return frozenset(
        hit.sentence_id
        for hit, terms_of_hit in zip(hits, terms, strict=True)
        if of_query.isdisjoint(terms_of_hit)
    )


def select_answering(prepared: PreparedQuery, hits: Sequence[Hit], wordless: Collection[str]) -> list[bool]:
    """Which hits to list: those with a word of the query, or with enough of them in neighbouring sentences.

    With vectors, all are listed, since a sentence may use other words. So are all if no hit has a word.
    """
    if _uses_vectors(prepared) or not wordless or len(wordless) == len(hits):
        return [True] * len(hits)
    words = prepared.interpretation.group(prepared.plan.candidate_terms)
    least = max(1.0, _WINDOW_SHARE * len(words))

    def answers(hit: Hit) -> bool:
        assert hit.record is not None
        beside = {*_terms_beside(hit.record, prepared.index.analyzer)}
        return _count_present(words, beside) >= least

    return [hit.sentence_id not in wordless or answers(hit) for hit in hits]


def explain_wordless(prepared: PreparedQuery, hit: Hit) -> str:
    """Why a hit without a word of the query is listed."""
    assert hit.record is not None
    words = prepared.interpretation.group(prepared.plan.candidate_terms)
    match = describe_match(hit.record, words, prepared.index.analyzer)
    return f"close in meaning; {match}" if _uses_vectors(prepared) else match


def _uses_vectors(prepared: PreparedQuery) -> bool:
    reranker = prepared.ranking.reranker()
    return reranker is not None and reranker.uses_vectors


# JSON and tables


H = TypeVar("H")
_RECORD_FIELDS = SentenceRecord._fields


def answer_dict(
    answer: Answer, report: QueryReport | None = None, passages: Sequence[Passage] | None = None
) -> dict[str, Any]:
    """The answer as JSON, with the names of `Answer`: `{"hits": [...], "total", "took_ms", ...}`.

    With a report, it also has `"query"`, as in `QueryReport`. With passages, its hits are their best ones,
    each with `"passage"`, `"folded"`, `"more"` and `"reason"`. The search must have included records.
    """
    if passages is None:
        hits = [hit_dict(hit) for hit in answer.hits]
    else:
        hits = [passage_dict(passage) for passage in passages]
    return {
        "hits": hits,
        "total": answer.total,
        "took_ms": round(answer.took_ms, 3),
        "unseen": list(answer.unseen),
        "incomplete": answer.incomplete,
        "scored": answer.scored,
        "exhaustive": answer.exhaustive,
        "unknown_filters": [value._asdict() for value in answer.unknown_filters],
        "without_vector": answer.without_vector,
        "without_parse": answer.without_parse,
        "unread": answer.unread,
        "by_default": answer.by_default,
        "no_meaning": answer.no_meaning,
        **({} if report is None else {"query": report.as_dict()}),
    }


def hit_dict(hit: Hit) -> dict[str, Any]:
    """A hit as JSON: its score, its neighbours, its document, and the direction of its script."""
    record = require_record(hit)
    fields: dict[str, Any] = {
        "sentence_id": record.sentence_id,
        "document_id": record.document_id,
        "score": hit.score,
    }
    fields.update(zip(_RECORD_FIELDS, record, strict=True))
    for name in LIST_FIELDS:
        fields[name] = list(fields[name])
    fields["direction"] = text_direction(record.language)
    return fields


def passage_dict(passage: Passage) -> dict[str, Any]:
    """The best hit of a passage as JSON. `"passage"` has all its sentences, if there are several."""
    return {**hit_dict(passage.best), **passage_fields(passage, hit_dict)}


PASSAGE_FIELDS = ("passage", "folded", "more", "reason")


def passage_fields(passage: Passage, write: Callable[[Hit], dict[str, Any]]) -> dict[str, Any]:
    """The PASSAGE_FIELDS, which a passage adds to its best hit. `write` converts its other hits to JSON."""
    several = passage.sentences if len(passage.sentences) > 1 else ()
    return {
        "passage": [write(hit) for hit in several],
        "folded": [write(hit) for hit in passage.similar],
        "more": passage.more,
        "reason": passage.reason,
    }


def analysis_dict(analyzer: Analyzer, text: str) -> dict[str, Any]:
    """`{"analyzer", "version", "text", "tokens": [{"start", "end", "term"}]}`: the terms of a text in order.

    Each has the position of its word, in characters (code points) of the text. Bigrams overlap.
    """
    return {
        "analyzer": analyzer.name,
        "version": analyzer.version,
        "text": text,
        "tokens": [token._asdict() for token in analyzer.tokens(text)],
    }


def require_record(hit: Hit) -> SentenceRecord:
    """The hit's sentence record. Raises TypeError if the search left out records."""
    if hit.record is None:
        raise TypeError(f"hit {hit.sentence_id!r} has no record: search with records")
    return hit.record


def best_of_documents(find: Callable[[int], Sequence[H]], k: int, document_of: Callable[[H], str]) -> list[H]:
    """The best sentence of each of the k documents with the best sentences.

    `find(n)` returns the best n sentences, or all if there are fewer.
    """
    n = 4 * k
    while True:
        hits = find(n)
        best: dict[str, H] = {}
        for hit in hits:
            best.setdefault(document_of(hit), hit)
        if len(best) >= k or len(hits) < n:
            return list(best.values())[:k]
        n *= 4


COLUMNS = (
    "rank",
    "score",
    "sentence_id",
    "document_id",
    "position",
    "text",
    "title",
    "date",
    "source",
    "url",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters that may begin a formula. Some spreadsheets treat full-width forms like the usual ones."""


def build_rows(hits: Sequence[Hit]) -> Iterator[list[str]]:
    """Yield the cells of each hit, in the order of COLUMNS; unknown values are empty."""
    for rank, hit in enumerate(hits, 1):
        record = require_record(hit)
        texts = (record.text, record.title, record.date, record.source, record.url)
        yield [
            *(str(rank), repr(hit.score), record.sentence_id, record.document_id, str(record.position)),
            *(text or "" for text in texts),
        ]


def build_spreadsheet_rows(hits: Sequence[Hit]) -> Iterator[list[str]]:
    """Yield the rows of `build_rows`, with texts guarded against being read as formulas."""
    for rank, score, sentence_id, document_id, position, *texts in build_rows(hits):
        ids = (guard_formula(sentence_id), guard_formula(document_id))
        *others, url = map(guard_formula, texts)
        yield [rank, score, *ids, position, *others, web_url(url) or ""]


def guard_formula(text: str) -> str:
    """Prefix an apostrophe if a spreadsheet could read the text as a formula."""
    return "'" + text if text.startswith(_FORMULA_STARTS) else text
