"""Finds quotations in a document, each with its speaker, by the rules of its language.

`marks` pairs the marks, `finder` finds quotations with their sources, and `certainty` says which speakers are
certain. The names that speakers as written stand for are resolved here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from esr.enrichment.quotations.certainty import find_certain
from esr.enrichment.quotations.document_names import DocumentNames, names_speaker
from esr.enrichment.quotations.finder import find_quotations
from esr.enrichment.quotations.marks import JoinedText
from esr.enrichment.quotations.quotation import Quotation
from esr.enrichment.quotations.speakers import Grammar, grammar
from esr.text.document import CERTAIN, PROBABLE, Document, Quote

__all__ = ["VERSION", "JoinedText", "find_quotations", "find_quotes"]

VERSION = 21
"""Increment it when the rules change."""
_WINDOW = 3
"""Number of sentences before a pronoun that may have its name, if paragraphs are unknown."""


def find_quotes(document: Document, language: str) -> list[tuple[Quote, ...]]:
    """The quotations in each sentence of a document, whose language is given by its code."""
    text = JoinedText(document)
    quotes: list[list[Quote]] = [[] for _ in document.sentences]
    quotations = find_quotations(text, language)
    if quotations:
        known = _read_names(document, language)
        names = _resolve(text, known, language, quotations)
        certain = find_certain(text, grammar(language), known, quotations, names)
        for (pieces, source, _), name, is_certain in zip(quotations, names, certain, strict=True):
            speaker, cue = (source.speaker, source.cue or None) if source else (None, None)
            certainty = None if name is None else CERTAIN if is_certain else PROBABLE
            for number, start, end in text.spans_by_sentence(pieces):
                quotes[number].append(Quote(start, end, speaker, name, cue, certainty))
    return list(map(tuple, quotes))


def _read_names(document: Document, language: str) -> DocumentNames:
    """The names in a document. A Title of Capitals has none that can be told."""
    title = document.title or ""
    is_text = any(word[0].islower() and len(word) > 3 for word in title.split())
    texts = [sentence.text for sentence in document.sentences]
    return DocumentNames(grammar(language), [title, *texts] if is_text else texts)


def _resolve(
    text: JoinedText, names: DocumentNames, language: str, quotations: Sequence[Quotation]
) -> list[str | None]:
    """The key of the name of each quotation's speaker; None if uncertain."""
    rules = grammar(language)
    resolved: dict[int, str | None] = {}  # by the position of the speaker
    spoken = {q.source.at: q.source.speaker for q in quotations if q.source and q.source.speaker}
    for at, speaker in spoken.items():
        if speaker.lower() not in rules.all_pronouns:
            resolved[at] = names.resolve(speaker)
    persons = {name for name in resolved.values() if name}
    for at, speaker in sorted(spoken.items()):
        if speaker.lower() in rules.pronouns:
            name = _name_before(text, at, rules, names, resolved, quotations)
            resolved[at] = name if name and (name in persons or names.is_titled(name)) else None
    return [_name_in(text, rules, quotation, resolved) for quotation in quotations]


def _name_in(
    text: JoinedText, rules: Grammar, quotation: Quotation, names: Mapping[int, str | None]
) -> str | None:
    """The name of a quotation's speaker. A pronoun does not stand for a name that the quotation has."""
    source = quotation.source
    if source is None or source.speaker is None:
        return None
    name = names.get(source.at)
    if name is not None and source.speaker.lower() in rules.pronouns:
        quoted = " ".join(text.text[start:end] for start, end in quotation.pieces)
        return None if names_speaker(rules, quoted, name) else name
    return name


def _name_before(
    text: JoinedText,
    at: int,
    rules: Grammar,
    names: DocumentNames,
    resolved: Mapping[int, str | None],
    quotations: Sequence[Quotation],
) -> str | None:
    """The only full name that speaks or begins a sentence in this paragraph or the previous one, or None."""
    if text.has_paragraphs:
        begin = text.text.rfind("\n", 0, max(text.text.rfind("\n", 0, at), 0)) + 1
    else:
        begin = text.starts[max(0, text.sentence_at(at) - _WINDOW)]
    candidates = {name for place, name in resolved.items() if begin <= place < at}
    for number in range(text.sentence_at(begin), text.sentence_at(at) + 1):
        first = text.starts[number]
        if any(start <= first < end for quotation in quotations for start, end in quotation.pieces):
            continue
        subject = rules.subject(text.text[first : min(at, text.sentence_end(first))])
        if subject and subject.text.lower() not in rules.all_pronouns:
            candidates.add(names.resolve(subject.text))
    name = candidates.pop() if len(candidates) == 1 else None
    return name if name and " " in name else None
