"""The articles of a list: how many match, what entries leave out, and headings without a title."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from esr.corpus.names_and_quotes import Quotation
from esr.errors import EsrError
from esr.index.contract import Index, find_documents
from esr.index.filters import Filters
from esr.index.hits import Hit, SentenceRecord
from esr.index.questions import ByDocument, DocumentCounts
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import PreparedQuery
from webui.answers.entries import Entry


class Rest(NamedTuple):
    """The other matching sentences of an entry's article: how many, and which words they have.

    `has_all_words`: all of several; `some_words`: any of several.
    """

    sentences: int
    has_all_words: bool = False
    some_words: bool = False


class Articles(NamedTuple):
    """The number of articles with a sentence with all words, and with a matching one; what entries leave out.

    The numbers are None if the engine gives no counts. `rest` is by the id of an entry's best sentence.
    """

    with_all_words: int | None = None
    matching: int | None = None
    rest: Mapping[str, Rest] = {}


def count_articles(prepared: PreparedQuery, entries: Sequence[Entry], filters: Filters) -> Articles:
    """The articles of a search, and what the entries leave out of theirs.

    An entry whose best sentence has all words leaves out others with all words, any other one those that
    match. So a list of these, with the sentences that the entry shows, has as many as the engine counts.
    """
    if prepared.matching is None:
        return Articles()
    ids = list(dict.fromkeys(require_record(entry.best).document_id for entry in entries))
    try:
        with_all, matching = prepared.index.count(
            [prepared.all_words, prepared.matching], filters, ByDocument(ids)
        )
    except EsrError:  # an answer without counts is better than an error
        return Articles()
    if filters.documents:  # the list has them all
        return Articles(with_all.documents, matching.documents)
    rest = {entry.best.sentence_id: _count_rest(prepared, entry, with_all, matching) for entry in entries}
    return Articles(
        with_all.documents, matching.documents, {id: of for id, of in rest.items() if of.sentences}
    )


def _count_rest(
    prepared: PreparedQuery, entry: Entry, with_all: DocumentCounts, matching: DocumentCounts
) -> Rest:
    id = require_record(entry.best).document_id
    terms = frozenset(prepared.interpretation.counts)
    analyze = prepared.index.analyzer.terms
    shown = [terms.intersection(analyze(require_record(hit).text)) for hit in _hits_shown(entry)]
    if prepared.interpretation.decides_candidates:
        count = matching.sentences.get(id, 0) - len(shown)
        return Rest(max(0, count))
    if len(shown[0]) == len(terms):
        count = with_all.sentences.get(id, 0) - sum(len(terms_of_hit) == len(terms) for terms_of_hit in shown)
        if count > 0:
            return Rest(count, len(terms) > 1)
    count = matching.sentences.get(id, 0) - sum(map(bool, shown))
    return Rest(max(0, count), some_words=len(terms) > 1)


def _hits_shown(entry: Entry) -> list[Hit]:
    """The sentences that an entry shows, the best one first. Repeats in the same article are shown, too."""
    best, first = entry.best, entry.passages[0]
    id = require_record(best).document_id
    others = [hit for hit in first.sentences if hit.sentence_id != best.sentence_id]
    alike = [hit for hit in first.similar if require_record(hit).document_id == id]
    return [best, *others, *alike]


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
