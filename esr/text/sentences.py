"""Splits text into paragraphs and sentences, by the rules of its language or else of its script.

`splitting/` has the rules: of paragraphs, of scripts with blanks between words, of Chinese and Japanese, and
of Thai and Lao.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from esr.text.languages import find_language, find_script_language
from esr.text.splitting.paragraphs import split_paragraphs
from esr.text.splitting.rules import load_rules
from esr.text.splitting.spaced import split_spaced_paragraph
from esr.text.splitting.thai import THAI_LANGUAGES, split_thai_paragraph
from esr.text.splitting.unspaced import UNSPACED_LANGUAGES, split_unspaced_paragraph

DEFAULT = "en"
"""The language for Latin script of unknown language, and for scripts without rules."""

ParagraphSplitter = Callable[[str], Iterable[str]]


class NumberedSentence(NamedTuple):
    """A sentence, and the zero-based index of its paragraph in the source text."""

    paragraph: int
    text: str


def split_sentences(text: str, language: str | None = None) -> list[str]:
    """Split a text into sentences, in order. No sentence is empty or crosses the end of a paragraph.

    `language` is a document's: a code, with or without a region ("de", "de-AT", "deu"), or an English name.
    If it is missing or has no rules, the script of the text decides.

    Each run of white space within a sentence becomes one blank, so wrapped text becomes one line. Nothing
    else is changed or lost.
    """
    return [sentence.text for sentence in split_numbered_sentences(text, language)]


def split_numbered_sentences(text: str, language: str | None = None) -> list[NumberedSentence]:
    """Split a text into sentences, each with the index of its paragraph."""
    split_paragraph = _splitter(choose_rules(text, language))
    return [
        NumberedSentence(number, sentence)
        for number, paragraph in enumerate(split_paragraphs(text))
        for sentence in split_paragraph(paragraph)
    ]


def choose_rules(text: str, language: str | None) -> str:
    """The language whose rules apply. Scripts without blanks take precedence over the document's language."""
    named, script = find_language(language), find_script_language(text)
    if named is None or _is_unspaced(named) or (script is not None and _is_unspaced(script)):
        return script or DEFAULT
    return named


def _is_unspaced(language: str) -> bool:
    return language in UNSPACED_LANGUAGES or language in THAI_LANGUAGES


def _splitter(language: str) -> ParagraphSplitter:
    if language in UNSPACED_LANGUAGES:
        return split_unspaced_paragraph
    if language in THAI_LANGUAGES:
        return split_thai_paragraph
    rules = load_rules(language)
    return lambda paragraph: split_spaced_paragraph(paragraph, rules)
