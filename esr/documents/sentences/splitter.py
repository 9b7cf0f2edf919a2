"""Splits text into paragraphs and sentences, by the rules of its language or of its script."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from esr.documents.sentences import spaced, thai, unspaced
from esr.documents.sentences.languages import find_language
from esr.documents.sentences.paragraphs import split_paragraphs
from esr.documents.sentences.rules import load_rules
from esr.documents.sentences.scripts import find_script_language

DEFAULT = "en"
"""The language of texts in Latin script without a language, and of scripts without rules of their own."""

ParagraphSplitter = Callable[[str], Iterable[str]]


class NumberedSentence(NamedTuple):
    """A sentence and the number of its paragraph in the source text, from 0."""

    paragraph: int
    text: str


def split_sentences(text: str, language: str | None = None) -> list[str]:
    """The sentences of a text, in order. None of them is empty or crosses the end of a paragraph.

    `language` is a document's: a code, with or without a region ("de", "de-AT", "deu"), or an English name.
    Without a language that has rules, the script of the text decides.

    Each run of whitespace within a sentence becomes one blank, so wrapped text becomes one line. Nothing
    else is changed or lost.
    """
    return [sentence.text for sentence in split_numbered_sentences(text, language)]


def split_numbered_sentences(text: str, language: str | None = None) -> list[NumberedSentence]:
    """The same sentences, each with the number of its paragraph."""
    split_paragraph = _splitter(_rules_language(text, language))
    return [
        NumberedSentence(number, sentence)
        for number, paragraph in enumerate(split_paragraphs(text))
        for sentence in split_paragraph(paragraph)
    ]


def _rules_language(text: str, language: str | None) -> str:
    """The language whose rules apply. Scripts without blanks take precedence over what a document says."""
    named, script = find_language(language), find_script_language(text)
    if named is None or _is_unspaced(named) or (script is not None and _is_unspaced(script)):
        return script or DEFAULT
    return named


def _is_unspaced(language: str) -> bool:
    return language in unspaced.LANGUAGES or language in thai.LANGUAGES


def _splitter(language: str) -> ParagraphSplitter:
    if language in unspaced.LANGUAGES:
        return unspaced.split_paragraph
    if language in thai.LANGUAGES:
        return thai.split_paragraph
    rules = load_rules(language)
    return lambda paragraph: spaced.split_paragraph(paragraph, rules)
