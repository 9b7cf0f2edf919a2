"""What the page of a document shows beside its text: the names in it, and articles like it."""

from __future__ import annotations

from collections.abc import Sequence

from esr.corpus.name_lists import ListedName, Selection, list_names
from esr.errors import EsrError
from esr.index.filters import Filters
from esr.index.hits import SentenceRecord
from esr.query import literal
from esr.ranking.answers import require_record
from esr.ranking.searcher import Searcher
from esr.text.document import Document

NAMES, SIMILAR = 16, 5
"""Most names and articles that are listed."""
_READ = 60
"""The best sentences for the title, among whose articles the most similar ones are."""


def list_article_names(searcher: Searcher, document: Document) -> list[ListedName]:
    """The names in most sentences of a document; empty if the engine does not answer."""
    try:
        return list_names(Selection(searcher.index, Filters(documents=(document.id,)), None), k=NAMES)
    except EsrError:  # a page without a part is better than an error
        return []


def find_similar_articles(searcher: Searcher, document: Document) -> Sequence[SentenceRecord]:
    """The best sentence of each other article for the title of a document, or for its first sentence."""
    text = document.title or (document.sentences[0].text if document.sentences else "")
    try:
        hits = searcher.search(literal(text), _READ).hits
    except EsrError:  # also if no word of it can be searched for
        return []
    by_document: dict[str, SentenceRecord] = {}
    for record in map(require_record, hits):
        if record.document_id != document.id:
            by_document.setdefault(record.document_id, record)
    return list(by_document.values())[:SIMILAR]
