"""Concordances: the occurrences of a word, a phrase or a prefix, one a line, with the text on both sides.

The node of a concordance is what its lines are about: the first phrase, prefix or group of alternatives of
the query, else its first run of words, read as a phrase. The rest of the query and the filters choose the
sentences. Words are compared as they are written, in lower case and without accents.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

from msgspec import Struct, structs

from esr.errors import UsageError
from esr.index.filters import Filters
from esr.index.hits import SentenceRecord
from esr.query import TEXT, Clause, Group, ParsedQuery
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.text.analyzer import WORDS_ANALYZER, get_analyzer
from esr.text.spans import ChunkCache, word_span

LINES, WIDTH = 100, 50
"""Lines of a concordance by default, and characters on each side of the node."""
MAX_SENTENCES = 100_000
"""Most sentences that one concordance reads, all of which it keeps in memory."""
_SORTED_WORDS = 3

Unit = Literal["characters", "words"]


class Pattern(NamedTuple):
    """Adjacent words. The last of them may be a prefix."""

    words: tuple[str, ...]
    is_prefix: bool = False

    def match(self, words: Sequence[str], at: int) -> int:
        """The number of words of the pattern if they stand at this position, else 0."""
        end = at + len(self.words)
        if end > len(words) or tuple(words[at : end - 1]) != self.words[:-1]:
            return 0
        last, own = words[end - 1], self.words[-1]
        return end - at if last == own or (self.is_prefix and last.startswith(own)) else 0


Node = Sequence[Pattern]
"""Alternatives, of which the longest that matches is taken."""


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
    # A word by itself would find other forms of it.
    as_written = tuple(c if c.form == "prefix" else c._replace(form="phrase") for c in group.alternatives)
    others = [g for g in query.groups if g.end <= group.start or group.end <= g.start]
    groups = sorted([*others, group._replace(alternatives=as_written)], key=lambda g: g.start)
    return patterns, structs.replace(query, groups=tuple(groups))


def _read_pattern(clause: Clause) -> Pattern:
    words = get_analyzer(WORDS_ANALYZER).terms(normalize("NFC", clause.text))
    return Pattern(tuple(words), clause.form == "prefix")


class Occurrence(NamedTuple):
    """The node in a sentence: the words of the sentence, and which of them are the node's, `first` to `last`,
    the last not included.
    """

    record: SentenceRecord
    words: Sequence[str]
    first: int
    last: int

    @property
    def span(self) -> tuple[int, int]:
        """The characters of the node in the sentence."""
        text = self.record.text
        tokens = list(islice(get_analyzer(WORDS_ANALYZER).tokens(text), self.first, self.last))
        return word_span(text, tokens[0]).start, word_span(text, tokens[-1]).end


def find_occurrences(node: Node, record: SentenceRecord) -> Iterator[Occurrence]:
    """Yield the occurrences of a node in a sentence, from left to right. They do not overlap."""
    words = list(chain.from_iterable(map(_WORDS.__getitem__, record.text.split(" "))))
    first_words = {pattern.words[0] for pattern in node}
    if any(pattern.is_prefix for pattern in node):
        starts: Iterable[int] = range(len(words))
    else:
        starts = [at for at, word in enumerate(words) if word in first_words]
    end = 0
    for at in starts:
        if at >= end and (length := max(pattern.match(words, at) for pattern in node)):
            end = at + length
            yield Occurrence(record, words, at, end)


_WORDS = ChunkCache(lambda chunk: get_analyzer(WORDS_ANALYZER).terms(chunk))


class Line(Struct, frozen=True):
    """An occurrence with the text on both sides, which may reach into the neighbouring sentences."""

    sentence_id: str
    document_id: str
    left: str
    node: str
    right: str
    title: str | None
    source: str | None
    date: str | None
    url: str | None


class Concordance(Struct, frozen=True):
    """Lines in order. `sentences` match; the lines were chosen from the first `read` of them, or a sample."""

    lines: Sequence[Line]
    sentences: int
    read: int

    def as_dict(self) -> dict[str, Any]:
        """`{"sentences", "read", "lines": [{"sentence_id", "left", "node", "right", ...}]}`"""
        lines = [structs.asdict(line) for line in self.lines]
        return {"sentences": self.sentences, "read": self.read, "lines": lines}


def _sort_words(is_right: bool, first: int) -> Callable[[Occurrence], Any]:
    """A key: the words on one side, from the n-th word from the node outwards."""

    def key(occurrence: Occurrence) -> Sequence[str]:
        words = occurrence.words
        side = words[occurrence.last :] if is_right else words[: occurrence.first][::-1]
        return side[first - 1 : _SORTED_WORDS]

    return key


_KEYS: Mapping[str, Callable[[Occurrence], Any]] = {
    **{f"left{n}": _sort_words(False, n) for n in range(1, _SORTED_WORDS + 1)},
    **{f"right{n}": _sort_words(True, n) for n in range(1, _SORTED_WORDS + 1)},
    "node": lambda found: found.words[found.first : found.last],
    "source": lambda found: (found.record.source or "").casefold(),
}
_ORDINALS = {1: "first", 2: "second", 3: "third"}
SORTS: Mapping[str, str] = {
    "newest": "newest first",
    "oldest": "oldest first",
    "best": "best first, by the ranking",
    "source": "by source",
    "node": "by the words that were found",
    **{f"left{n}": f"by the words to the left, from the {which}" for n, which in _ORDINALS.items()},
    **{f"right{n}": f"by the words to the right, from the {which}" for n, which in _ORDINALS.items()},
}
"""The orders of lines. Lines that are equal in an order are newest first."""


def build_concordance(
    searcher: Searcher,
    query: ParsedQuery,
    filters: Filters,
    *,
    ranking: Ranking | None = None,
    k: int = LINES,
    sort: str = "newest",
    width: int = WIDTH,
    unit: Unit = "characters",
    sample: int | None = None,
    seed: int = 0,
    most: int = MAX_SENTENCES,
) -> Concordance:
    """The first k lines of a concordance, with `width` characters or words on each side.

    An order by words or by source reads at most `most` sentences, the newest. `sample`: read this many
    sentences, drawn at random; the same `seed` draws the same sentences from the same collection. Raises
    UsageError for a query without a node.
    """
    if sample is not None and sort == "best":
        raise UsageError("a sample is not ranked: choose another order")
    node, required = split_node(query)
    prepared = searcher.prepare(required, ranking or Ranking())
    key = _KEYS.get(sort)
    limit = min(k, most) if key is None else most
    if sample is not None:
        records, sentences = _sample(prepared, filters, sort == "oldest", min(sample, most), seed)
    elif sort == "best":
        answer = prepared.with_all_words().search(limit, filters)
        records, sentences = list(map(require_record, answer.hits)), answer.total
    else:
        oldest_first = sort == "oldest"
        result = prepared.index.by_date(prepared.all_words, limit, filters, oldest_first=oldest_first)
        records, sentences = list(map(require_record, result.hits)), result.total
    found = [each for record in records for each in find_occurrences(node, record)]
    if key is not None:
        found.sort(key=key)
    lines = [_make_line(occurrence, width, unit) for occurrence in found[:k]]
    return Concordance(lines, sentences, len(records))


def _sample(
    prepared: PreparedQuery, filters: Filters, oldest_first: bool, size: int, seed: int
) -> tuple[list[SentenceRecord], int]:
    """Sentences drawn at random, in the order of their dates, and how many match."""
    index = prepared.index
    result = index.by_date(
        prepared.all_words, MAX_SENTENCES, filters, oldest_first=oldest_first, records=False
    )
    places = range(len(result.hits))
    chosen = sorted(random.Random(seed).sample(places, min(size, len(places))))
    return index.sentences([result.hits[place].sentence_id for place in chosen]), result.total


def _make_line(occurrence: Occurrence, width: int, unit: Unit) -> Line:
    record, (start, end) = occurrence.record, occurrence.span
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
    )


def _cut_words(text: str, number: int) -> str:
    """The text up to the end of this many pieces between blanks."""
    pieces = list(islice(_PIECE.finditer(text), number))
    return text[: pieces[-1].end()] if pieces else ""


_PIECE = re.compile(r"\S+")
_BREAKS = dict.fromkeys(map(ord, "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"), " ")
