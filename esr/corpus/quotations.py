"""What somebody said: the quotations of a speaker, of all the collection or about a subject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters, resolve_speaker
from esr.index.hits import SearchResult, SentenceRecord
from esr.index.names import NameKey, name_key
from esr.plans.condition import HasQuote, SaidBy, all_of
from esr.query import ParsedQuery
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import Answer
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.text.document import Quote

QUOTATIONS = 20
"""How many quotations are shown."""


class Quotation(Struct, frozen=True):
    """A quotation in a sentence. `text` has its marks; `start` and `end` are its characters in `sentence`.

    `speaker` is as written in or near the sentence. `name` is the key of the name that it certainly stands
    for.
    """

    text: str
    speaker: str | None
    name: str | None
    cue: str | None
    sentence_id: str
    document_id: str
    sentence: str
    start: int
    end: int
    title: str | None
    source: str | None
    date: str | None
    url: str | None


class Quotations(Struct, frozen=True):
    """The quotations found, in order. `sentences` counts all sentences that match."""

    quotations: list[Quotation]
    sentences: int

    def as_dict(self) -> dict[str, Any]:
        """Return the quotations as JSON."""
        data: dict[str, Any] = to_builtins(self)
        return data


def find_quotations(
    searcher: Searcher,
    speaker: str | None,
    about: ParsedQuery | None,
    filters: Filters,
    *,
    ranking: Ranking | None = None,
    k: int = QUOTATIONS,
) -> Quotations:
    """The k first quotations of a speaker, or of anyone if None.

    Those about a subject are the candidates of the query `about`, the best by the ranking first; others are
    the newest first.
    """
    searcher = searcher.snapshot()
    index = searcher.index
    said = HasQuote() if speaker is None else SaidBy((speaker,))
    prepared = None
    if about is not None:
        prepared = searcher.prepare(about, ranking or Ranking())
        own = [] if prepared.plan.condition is None else [prepared.plan.condition]
        prepared = replace(prepared, plan=replace(prepared.plan, condition=all_of([said, *own])))
    size = k
    while True:
        answer: SearchResult | Answer
        answer = prepared.search(size, filters) if prepared else index.by_date(said, size, filters)
        records = list(map(require_record, answer.hits))
        found = index.quotes([record.sentence_id for record in records])
        is_own = _recognize(index, speaker)
        made = [
            _quotation(record, quote)
            for record, quotes in zip(records, found, strict=True)
            for quote in quotes
            if is_own(quote)
        ]
        if len(made) >= k or len(records) < size:
            return Quotations(made[:k], answer.total)
        size *= 4


def check_quotations(index: Index) -> None:
    """Raise UsageError if an index has no quotations at all."""
    if not any(index.count([HasQuote()], NO_FILTERS)):
        raise UsageError(f"{index.where} has no quotations: find them with esr enrich --only quotes")


def _recognize(index: Index, speaker: str | None) -> Callable[[Quote], bool]:
    """Whether a quotation is the speaker's: by the name that it is known to be of, or as it is written.

    A sentence may also quote others. "Flynn" is not Michael Flynn where the document has another Flynn. For
    the key of a name, what is written does not count.
    """
    if speaker is None:
        return lambda quote: True
    written = None if isinstance(speaker, NameKey) else name_key(speaker)
    keys = {*map(name_key, resolve_speaker(index, speaker))}
    return lambda quote: (
        name_key(quote.name or quote.speaker or "") in keys or name_key(quote.speaker or "") == written
    )


def _quotation(record: SentenceRecord, quote: Quote) -> Quotation:
    return Quotation(
        record.text[quote.start : quote.end],
        quote.speaker,
        quote.name,
        quote.cue,
        record.sentence_id,
        record.document_id,
        record.text,
        quote.start,
        quote.end,
        record.title,
        record.source,
        record.date,
        record.url,
    )
