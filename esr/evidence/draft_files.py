"""Reads the text of a draft from a file: plain text, Markdown, or a format of `esr load`, such as DOCX."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from esr.plugin import Document, UsageError
from esr.plugin.provisional import read_documents

PLAIN = frozenset({"", ".txt", ".text", ".md", ".markdown"})
MARKDOWN = frozenset({".md", ".markdown"})
"""Endings of files that are read as they are, in UTF-8, and those with the marks of Markdown."""
_MARKS = (
    (re.compile(r"^ {0,3}(?:#{1,6} +|> ?|[-*+] +|\d+[.)] +)", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}(?: \"[^\"\n]{0,300}\")?\)"), r"\1"),
    (re.compile(r"(\*{1,3}|_{2,3}|`{1,3})(?=\S)([^\n]{1,500}?)(?<=\S)\1"), r"\2"),
)
"""Marks of headings, quotations and lists, links, and emphasis, each with what stays."""


def read_draft(path: Path) -> str:
    """The text of a file, with an empty line between paragraphs. Raises UsageError and InputError."""
    suffix = path.suffix.lower()
    if suffix in PLAIN:
        text = _read_text(path)
        return strip_markdown(text) if suffix in MARKDOWN else text
    documents = [located.document for located in read_documents([str(path)])]
    if not documents:
        raise UsageError(f"{path} has no text")
    return "\n\n".join(map(_join, documents))


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text: save it as UTF-8") from None


def strip_markdown(text: str) -> str:
    """The text without the marks of headings, lists, quotations, links and emphasis."""
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return text


def _join(document: Document) -> str:
    paragraphs = groupby(document.sentences, key=lambda sentence: sentence.paragraph)
    texts = [" ".join(sentence.text for sentence in sentences) for _, sentences in paragraphs]
    return "\n\n".join([document.title, *texts] if document.title else texts)
