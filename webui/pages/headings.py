"""What heads a document without a title, and why a sentence is in a list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from esr.corpus.names_and_quotes import Quotation
from esr.index.contract import Index, find_documents
from esr.index.hits import Hit, SentenceRecord
from esr.ranking.answers import count_matches, require_record
from esr.text.analyzer import Analyzer
from webui.pages.wording import write_match

Reasons = Mapping[str, str]
"""Reasons by sentence id."""


def describe_hits(hits: Sequence[Hit], terms: Collection[str], analyzer: Analyzer) -> Reasons:
    """The reason for each hit; empty without terms. `terms` are those of the query's words."""
    return {
        hit.sentence_id: write_match(count_matches(require_record(hit), terms, analyzer))
        for hit in hits
        if terms
    }


HEADING_CHARS = 80
"""Length at which the first words of an article without a title are cut."""


def shorten_heading(text: str) -> str:
    """The first words of an article, which head it if it has no title."""
    text = " ".join(text.split())
    return text if len(text) <= HEADING_CHARS else text[:HEADING_CHARS].rsplit(" ", 1)[0] + " …"


def find_headings(index: Index, records: Iterable[SentenceRecord | Quotation]) -> dict[str, str]:
    """The first words of each document without a title, by document id. Reads only these documents."""
    untitled = {record.document_id for record in records if not record.title}
    documents = find_documents(index, untitled) if untitled else {}
    return {
        id: shorten_heading(document.sentences[0].text)
        for id, document in documents.items()
        if document.sentences
    }
