"""Concordances: the occurrences of a word, a phrase or a prefix, one per line, with the text on both sides.

The node of a concordance is the expression in the middle of its lines: the first phrase, prefix or group of
alternatives of the query, else its first run of words, read as a phrase. The rest of the query and the
filters select the sentences. Words are compared as written, in lower case and without accents.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Literal
from unicodedata import normalize

import numpy as np
from msgspec import Struct, structs

from esr.corpus.choices import LINES, SORTS, WIDTH
from esr.corpus.lexicon import Node, Numbers, Occurrences, Pattern, Words, get_lexicon, read_words
from esr.plugin import UsageError
from esr.plugin.provisional import (
    TEXT,
    WORDS_ANALYZER,
    Clause,
    Filters,
    Group,
    Hits,
    ParsedQuery,
    PreparedQuery,
    Ranking,
    Records,
    Searcher,
    SentenceRecord,
    Table,
    Texts,
    UnsearchableQuery,
    count_matches,
    get_analyzer,
    require_record,
    to_columns,
    word_span,
)

MAX_SENTENCES = 100_000
"""Maximum sentences that one concordance reads, which it holds in memory."""
_SORTED_WORDS = 3

Unit = Literal["characters", "words"]


def split_node(query: ParsedQuery) -> tuple[Node, ParsedQuery]:
    """The node of a query, and the query that requires the node. Raises UsageError if there is none."""
    of_text = [
        group
        for group in query.groups
        if group.role == "required" and all(clause.field == TEXT for clause in group.alternatives)
    ]
    marked = (g for g in of_text if len(g.alternatives) > 1 or g.alternatives[0].form != "word")
    if (group := next(marked, None)) is None:
        if query.wanted_runs:
            start, end = query.wanted_runs[0]
            group = Group("required", (Clause(TEXT, "word", query.text[start:end], start, end),), start, end)
        elif of_text:
            group = of_text[0]
        else:
            raise UsageError("give a word, a phrase in quotes or the beginning of a word with a star")
    patterns = [_read_pattern(clause) for clause in group.alternatives]
    if not all(pattern.words for pattern in patterns):
        raise UsageError(f"there is no letter or digit in {query.text[group.start : group.end]!r}")
    # As a single word, it would also match its other forms.
    as_written = tuple(c if c.form == "prefix" else c._replace(form="phrase") for c in group.alternatives)
    others = [g for g in query.groups if g.end <= group.start or group.end <= g.start]
    groups = sorted([*others, group._replace(alternatives=as_written)], key=lambda g: g.start)
    return patterns, structs.replace(query, groups=tuple(groups))


def _read_pattern(clause: Clause) -> Pattern:
    words = get_analyzer(WORDS_ANALYZER).terms(normalize("NFC", clause.text))
    return Pattern(tuple(words), clause.form == "prefix")


class Line(Struct, frozen=True):
    """An occurrence with the text on both sides, which may reach into the neighbouring sentences.

    `group`: in an order by the words of a side, the first word that it is sorted by, in lower case.
    Punctuation is skipped. It is empty where the sentence begins or ends there, and None in other orders.
    """

    sentence_id: str
    document_id: str
    left: str
    node: str
    right: str
    title: str | None
    source: str | None
    date: str | None
    url: str | None
    language: str | None = None
    group: str | None = None


class Concordance(Table, Struct, frozen=True):
    """Lines in order, from the first `read` of the `sentences` that match, or from a sample.

    `sentences` have the node exactly as the query writes it. `all_words` counts those with all words of the
    query in any form, as a search does; None for a query of stop words alone.
    """

    lines: Sequence[Line]
    sentences: int
    read: int
    all_words: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """`{"sentences", "all_words", "read", "lines": [{"sentence_id", "left", "node", "right", ...}]}`"""
        lines = [structs.asdict(line) for line in self.lines]
        return {"sentences": self.sentences, "all_words": self.all_words, "read": self.read, "lines": lines}

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each line."""
        return to_columns(Line.__struct_fields__, [structs.asdict(line) for line in self.lines])


OUTSIDE: Mapping[str, str] = {"left": "beginning of the sentence", "right": "end of the sentence"}
"""What to call the group of lines without a word to sort by, by side."""


class LineOptions(Struct, frozen=True):
    """Which lines a concordance has: the first k after `offset` lines, in an order of SORTS.

    `width`: the number of characters or words on each side. An order by words or by source reads only the
    newest `most` sentences. `sample`: the number of sentences to draw at random; the same `seed` draws the
    same sentences from the same collection.
    """

    k: int = LINES
    sort: str = "newest"
    width: int = WIDTH
    unit: Unit = "characters"
    sample: int | None = None
    seed: int = 0
    most: int = MAX_SENTENCES
    offset: int = 0


def build_concordance(
    searcher: Searcher,
    query: ParsedQuery,
    filters: Filters,
    options: LineOptions = LineOptions(),  # noqa: B008 # frozen
    ranking: Ranking | None = None,
) -> Concordance:
    """The lines of the occurrences of a query's node. Raises UsageError for a query without a node."""
    sort, sample, most, offset = options.sort, options.sample, options.most, options.offset
    if sample is not None and sort == "best":
        raise UsageError("a sample is not ranked: choose another order")
    node, required = split_node(query)
    prepared = searcher.prepare(required, ranking or Ranking())
    index, condition = prepared.index, prepared.all_words
    end = offset + options.k
    if sample is None and (sort in _SORTED or (offset and sort != "best")):
        size = most if sort in _SORTED else min(end, most)
        read = index.select(condition, size, filters, Texts(), oldest_first=sort == "oldest")
        words = read_words(index.analyzer, read)
        occurrences = _sort(words, words.find(node), read.sources, sort, end).after(offset)
        places = np.unique(occurrences.texts)
        records = dict(zip(places.tolist(), index.read(read.read_ids(places), Records()), strict=True))
        sentences, number = read.total, len(read.sources)
    else:
        listed, sentences = _read_records(prepared, filters, sort, min(end, most), sample, options.seed, most)
        words = get_lexicon(index.analyzer).read([sentence.text for sentence in listed])
        records, number = dict(enumerate(listed)), len(listed)
        sources = [sentence.source for sentence in listed]
        occurrences = _sort(words, words.find(node), sources, sort, end).after(offset)
    lines = [
        _make_line(records[text], first - start, last - start, options.width, options.unit, group)
        for first, last, text, start, group in zip(
            *(column.tolist() for column in (*occurrences, words.starts[occurrences.texts])),
            _name_groups(words, occurrences, sort),
            strict=True,
        )
    ]
    return Concordance(lines, sentences, number, _count_all_words(searcher, query, filters))


def _count_all_words(searcher: Searcher, query: ParsedQuery, filters: Filters) -> int | None:
    """The number of sentences with all words of the query in any form; None if it has only stop words."""
    try:
        prepared = searcher.prepare(query, Ranking())
    except UnsearchableQuery:
        return None
    return count_matches(prepared, filters).all_words


_SORTED = frozenset(SORTS) - {"newest", "oldest", "best"}
"""The orders that need all occurrences."""


def _sort(
    words: Words, occurrences: Occurrences, sources: Sequence[str | None], sort: str, k: int
) -> Occurrences:
    """The first k occurrences in this order. Ties keep the order of the texts, as do orders of sentences."""
    starts, ends = words.starts[occurrences.texts], words.starts[occurrences.texts + 1]
    side, first = sort.rstrip("123"), sort[-1]
    steps = range(int(first), _SORTED_WORDS + 1) if side in ("left", "right") else range(0)
    rows, keys = np.arange(len(occurrences.first)), list[Numbers]()
    if side == "left":
        places = [(occurrences.first - n, starts, occurrences.first) for n in steps]
    elif side == "right":
        places = [(occurrences.last - 1 + n, occurrences.last, ends) for n in steps]
    elif sort == "node":
        longest = int((occurrences.last - occurrences.first).max(initial=0))
        places = [(occurrences.first + n, occurrences.first, occurrences.last) for n in range(longest)]
    else:
        places = []
    if sort == "source":
        folded = [(source or "").casefold() for source in sources]
        rank = {source: n for n, source in enumerate(sorted(set(folded)))}
        keys = [np.array([rank[source] for source in folded], np.int64)[occurrences.texts]]
    for columns in places:
        ranks = words.ranks(*(column[rows] for column in columns))
        keys.append(
            np.where(ranks < 0, len(occurrences.first) + 1, ranks) if side in ("left", "right") else ranks
        )
        if k < len(rows):  # the others are after the first k, for any further words
            near = keys[0] <= np.partition(keys[0], k - 1)[k - 1]
            rows, keys = rows[near], [key[near] for key in keys]
    order = rows[np.lexsort(keys[::-1])] if keys else rows
    return Occurrences(*(column[order[:k]] for column in occurrences))


def _name_groups(words: Words, occurrences: Occurrences, sort: str) -> Sequence[str | None]:
    """The first word that each line is sorted by, empty outside of its sentence; None in other orders."""
    side, first = sort.rstrip("123"), sort[-1]
    if side not in ("left", "right"):
        return [None] * len(occurrences.first)
    places = occurrences.first - int(first) if side == "left" else occurrences.last - 1 + int(first)
    return words.names_at(places, words.starts[occurrences.texts], words.starts[occurrences.texts + 1])


def _read_records(
    prepared: PreparedQuery, filters: Filters, sort: str, k: int, sample: int | None, seed: int, most: int
) -> tuple[Sequence[SentenceRecord], int]:
    """The sentences from which lines are taken, in the order of the lines, and the number that match."""
    index, condition, oldest_first = prepared.index, prepared.all_words, sort == "oldest"
    if sample is not None:
        listed = index.select(condition, most, filters, Hits(records=False), oldest_first=oldest_first)
        places = range(len(listed.hits))
        chosen = sorted(random.Random(seed).sample(places, min(sample, len(places))))
        return index.read([listed.hits[place].sentence_id for place in chosen], Records()), listed.total
    if sort == "best":
        answer = prepared.with_all_words().search(k, filters)
        return list(map(require_record, answer.hits)), answer.total
    result = index.select(condition, k, filters, Hits(), oldest_first=oldest_first)
    return list(map(require_record, result.hits)), result.total


def _make_line(
    record: SentenceRecord, first: int, last: int, width: int, unit: Unit, group: str | None
) -> Line:
    """The line whose node is the words from `first` to before `last` of a sentence."""
    tokens = list(islice(get_analyzer(WORDS_ANALYZER).tokens(record.text), first, last))
    start, end = word_span(record.text, tokens[0]).start, word_span(record.text, tokens[-1]).end
    left, node, right = (
        text.translate(_BREAKS)
        for text in (
            " ".join(filter(None, (record.previous, record.text[:start]))),
            record.text[start:end],
            " ".join(filter(None, (record.text[end:], record.next))),
        )
    )
    if unit == "words":
        left, right = _cut_words(left[::-1], width)[::-1], _cut_words(right, width)
    else:
        left, right = left[max(len(left) - width, 0) :], right[:width]
    return Line(
        record.sentence_id,
        record.document_id,
        left,
        node,
        right,
        record.title,
        record.source,
        record.date,
        record.url,
        record.language,
        group,
    )


def _cut_words(text: str, number: int) -> str:
    """The text up to the end of its first `number` pieces between blanks."""
    pieces = list(islice(_PIECE.finditer(text), number))
    return text[: pieces[-1].end()] if pieces else ""


_PIECE = re.compile(r"\S+")
_BREAKS = dict.fromkeys(map(ord, "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"), " ")
