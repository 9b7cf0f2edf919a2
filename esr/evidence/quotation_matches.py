"""Compares a quotation with sentences of an index, and with the sentences around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from esr.evidence.alignment import Alignment, Difference, Token, align, read_words
from esr.plugin import Sentence
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import SentenceRecord, split_sentences

_ALIGNED, _WIDENED = 12, 4
"""How many candidates are compared, and how many of these with the sentences around them."""


class Window(NamedTuple):
    """Sentences beside one another, joined by blanks, with the starts of each in the text."""

    record: SentenceRecord
    ids: Sequence[str]
    starts: Sequence[int]
    text: str

    @classmethod
    def join(cls, record: SentenceRecord, sentences: Sequence[Sentence]) -> Window:
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


class Match(NamedTuple):
    """Sentences, and how a quotation is like their text."""

    window: Window
    alignment: Alignment


def compare(
    index: Index, text: str, tokens: Sequence[Token], records: Sequence[SentenceRecord]
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
        matches = _widen(index, text, tokens, matches)
    return matches


def _closeness(match: Match) -> tuple[int, int]:
    return match.alignment.edits, len(match.window.ids)


def _widen(index: Index, text: str, tokens: Sequence[Token], matches: Sequence[Match]) -> list[Match]:
    """The matches with those that also take words of the sentences around them, if these have fewer edits."""
    chosen = [match for match in matches if match.alignment.edits][:_WIDENED]
    around = 1 + len(split_sentences(text)) + sum(token.kind == "ellipsis" for token in tokens)
    ids = {match.window.record.document_id for match in chosen}
    documents = {document.id: document for document in index.documents(ids)} if ids else {}
    widened: dict[tuple[str, int, int], Match] = {}
    for match in chosen:
        record = match.window.record
        sentences = documents[record.document_id].sentences
        start = max(0, record.position - around)
        window = Window.join(record, sentences[start : record.position + around + 1])
        alignment = align(tokens, read_words(window.text), text, window.text)
        if alignment and alignment.edits < match.alignment.edits:
            cut = _cut(window, alignment, sentences[start:], start)
            widened.setdefault((record.document_id, cut.window.record.position, len(cut.window.ids)), cut)
    replaced = {id for match in widened.values() for id in match.window.ids}
    kept = [match for match in matches if match.window.ids[0] not in replaced]
    return sorted([*widened.values(), *kept], key=_closeness)


def _cut(window: Window, alignment: Alignment, sentences: Sequence[Sentence], offset: int) -> Match:
    """The sentences of a window that a quotation spans."""
    places = [n for n, start in enumerate(window.starts) if start < alignment.end]
    last = places[-1]
    first = max(n for n in places if window.starts[n] <= alignment.start)
    record = window.record._replace(
        sentence_id=sentences[first].id, position=offset + first, text=sentences[first].text
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
