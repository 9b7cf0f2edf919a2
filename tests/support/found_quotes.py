"""The quotations that the rules find in a text."""

from __future__ import annotations

from esr.enrichment.quotations.quotes import find_quotes
from esr.text.document import Document, Quote
from esr.text.validate import build_document


def find_in_text(text: str, language: str) -> list[tuple[str, Quote]]:
    """Each quotation of a text in order, as written and as found."""
    return find_in_document(build_document({"id": "a", "text": text, "language": language}), language)


def find_in_document(document: Document, language: str) -> list[tuple[str, Quote]]:
    """Each quotation of a document in order, as written and as found."""
    return [
        (sentence.text[quote.start : quote.end], quote)
        for sentence, quotes in zip(document.sentences, find_quotes(document, language), strict=True)
        for quote in quotes
    ]
