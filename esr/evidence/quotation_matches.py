"""Compares a quotation with sentences of an index, and with the sentences around them, and judges matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from esr.evidence.alignment import Alignment, Difference, Token, align, read_words
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import Quote, Quotes, SentenceRecord, Windows, WindowSentence, split_sentences

Verdict = Literal["exact", "near", "none"]
NEAR, LEAST_WORDS = 0.55, 4
"""The least share of words of a near quotation that need no edit, and its least number of words. A misspelled
or moved word is half an edit here."""
NEAREST = 3
"""Maximum number of the sentences that are nearest to a quotation that was not found."""
_FEW, _SHORT = 2.5, 6
"""The number of edits beside one another, or in one half, that is always few; and the number of words from
which a quotation may have more than one edit."""
_ALIGNED, _WIDENED = 12, 4
"""How many candidates are compared, and how many of these with the sentences around them."""


def judge(alignment: Alignment) -> Verdict:
    """Whether a text has a quotation exactly or nearly."""
    if alignment.edits == 0:
        return "exact"
    return "near" if alignment.words >= LEAST_WORDS and is_near(alignment, NEAR) else "none"


def is_near(alignment: Alignment, least: float) -> bool:
    """Whether the differences can be slips: few words of the quotation, of each half, and beside one another.

    More of them in one place are the words of another sentence.
    """
    is_one_sided = alignment.in_half == alignment.cost
    if alignment.words < _SHORT and alignment.cost > 1:
        return False
    return (
        1 - alignment.cost / alignment.words >= least
        and alignment.longest <= min(max(alignment.words / 4, _FEW), 4)
        and alignment.in_half <= max((0.3 if is_one_sided else 0.35) * alignment.words, _FEW)
    )


class StoredSentences:
    """Reads the sentences around others, and the quotations in all of them, each once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._windows: dict[tuple[str, int], Sequence[WindowSentence]] = {}
        self._quotes: dict[str, Sequence[Quote]] = {}

    def read_windows(
        self, records: Sequence[SentenceRecord], around: int, others: Sequence[SentenceRecord]
    ) -> list[Sequence[WindowSentence]]:
        """The sentences around these records. Of the others, the quotations are read along."""
        widths = {record.sentence_id: (record, around) for record in records}
        wanted = [pair for id, pair in widths.items() if (id, around) not in self._windows]
        if wanted:
            beside = {r.sentence_id: (r, 0) for r in others if r.sentence_id not in self._quotes}
            wanted += [pair for id, pair in beside.items() if id not in widths]
            places = [(record.document_id, record.position) for record, _ in wanted]
            ids = [record.sentence_id for record, _ in wanted]
            windows = self._index.read(ids, Windows(places, [width for _, width in wanted]))
            for (record, width), window in zip(wanted, windows, strict=True):
                self._windows[record.sentence_id, width] = window
                self._quotes.update((sentence.sentence_id, sentence.quotes) for sentence in window)
        return [self._windows[record.sentence_id, around] for record in records]

    def read_quotes(self, ids: Sequence[str]) -> dict[str, Sequence[Quote]]:
        """The stored quotations of sentences, by id."""
        unread = [id for id in dict.fromkeys(ids) if id not in self._quotes]
        if unread:
            self._quotes.update(zip(unread, self._index.read(unread, Quotes()), strict=True))
        return {id: self._quotes[id] for id in ids}


class Window(NamedTuple):
    """Sentences beside one another, joined by blanks, with the starts of each in the text."""

    record: SentenceRecord
    ids: Sequence[str]
    starts: Sequence[int]
    text: str

    @classmethod
    def join(cls, record: SentenceRecord, sentences: Sequence[WindowSentence]) -> Window:
        starts, at = [], 0
        for sentence in sentences:
            starts.append(at)
            at += len(sentence.text) + 1
        return cls(
            record,
            [sentence.sentence_id for sentence in sentences],
            starts,
            " ".join(sentence.text for sentence in sentences),
        )


class Match(NamedTuple):
    """Sentences, and how a quotation is like their text."""

    window: Window
    alignment: Alignment


def compare(
    stored: StoredSentences, text: str, tokens: Sequence[Token], records: Sequence[SentenceRecord]
) -> list[Match]:
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
            matches.append(Match(Window(record, [record.sentence_id], [0], record.text), alignment))
    matches.sort(key=_closeness)
    if len(split_sentences(text)) > 1 or not matches or matches[0].alignment.edits:
        matches = _widen(stored, text, tokens, matches)
    return matches


def _closeness(match: Match) -> tuple[int, int]:
    return match.alignment.edits, len(match.window.ids)


def _widen(
    stored: StoredSentences, text: str, tokens: Sequence[Token], matches: Sequence[Match]
) -> list[Match]:
    """The matches with those that also take words of the sentences around them, if these have fewer edits."""
    chosen = [match for match in matches if match.alignment.edits][:_WIDENED]
    around = 1 + len(split_sentences(text)) + sum(token.kind == "ellipsis" for token in tokens)
    records = [match.window.record for match in chosen]
    shown = [match for n, match in enumerate(matches) if n < NEAREST or judge(match.alignment) != "none"]
    windows = stored.read_windows(records, around, [match.window.record for match in shown])
    widened: dict[tuple[str, int, int], Match] = {}
    for match, record, sentences in zip(chosen, records, windows, strict=True):
        window = Window.join(record, sentences)
        alignment = align(tokens, read_words(window.text), text, window.text)
        if alignment and alignment.edits < match.alignment.edits:
            cut = _cut(window, alignment, sentences)
            widened.setdefault((record.document_id, cut.window.record.position, len(cut.window.ids)), cut)
    replaced = {id for match in widened.values() for id in match.window.ids}
    unchanged = [match for match in matches if match.window.ids[0] not in replaced]
    return sorted([*widened.values(), *unchanged], key=_closeness)


def _cut(window: Window, alignment: Alignment, sentences: Sequence[WindowSentence]) -> Match:
    """The sentences of a window that a quotation spans."""
    places = [n for n, start in enumerate(window.starts) if start < alignment.end]
    last = places[-1]
    first = max(n for n in places if window.starts[n] <= alignment.start)
    record = window.record._replace(
        sentence_id=sentences[first].sentence_id,
        position=sentences[first].position,
        text=sentences[first].text,
    )
    cut = Window.join(record, sentences[first : last + 1])
    shift = window.starts[first]
    differences = tuple(
        Difference(d.text, d.original, d.start, d.end, d.original_start - shift, d.original_end - shift)
        for d in alignment.differences
    )
    moved = replace(
        alignment, start=alignment.start - shift, end=alignment.end - shift, differences=differences
    )
    return Match(cut, moved)
