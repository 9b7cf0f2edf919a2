"""Finds the documents to remove by a query or by their age, for the command line and the Python API."""

from __future__ import annotations

import time
from typing import NamedTuple

from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import ByDocument, DocumentsBefore
from esr.query import parse
from esr.ranking.searcher import Searcher
from esr.text.dates import DAY, parse_date_start


class Selection(NamedTuple):
    """Documents to remove, and the number of their sentences that were asked for.

    Each sentence counts, also those that lists fold as repeats. `before` is the moment before which all
    documents are selected, in milliseconds since the epoch; None if a query chooses among them.
    """

    ids: list[str]
    sentences: int
    before: int | None


def parse_before(text: str) -> int:
    """The beginning of a date that has begun. Raises UsageError for anything else.

    The day is kept in the list of what was removed, so a future one would withhold all that is to come.
    """
    try:
        moment = parse_date_start(text)
    except ValueError:
        raise UsageError(f"before must be a date such as 2017-02-28, not {text!r}") from None
    if moment > time.time() * 1000 + DAY:  # it may be tomorrow in UTC where today has not ended
        raise UsageError(
            f"before must be a date that has begun, not {text}: all documents to come would be removed too. "
            f"To remove by a later date, give a query such as before:{text}"
        )
    return moment


def select_documents(index: Index, query: str | None, before: str | None) -> Selection:
    """The documents dated before a day, with a sentence that has every word of a query, or both.

    Raises UsageError if neither is given, or the query has nothing to search for.
    """
    if query is None and before is None:
        raise UsageError("nothing says which documents to remove: give ids, a query or a date")
    moment = None if before is None else parse_before(before)
    if query is None and moment is not None:
        sizes = index.status(DocumentsBefore(moment))
        return Selection(list(sizes), sum(sizes.values()), moment)
    filters = NO_FILTERS if moment is None else Filters(date_to=moment - 1)
    parsed = parse(query or "")
    searcher = Searcher(index, owns_index=False).for_query(parsed)
    condition = searcher.interpret(parsed).all_words
    assert condition is not None  # an interpreted query is never empty
    (counted,) = searcher.index.count([condition], filters, ByDocument(None))
    return Selection(list(counted.sentences), sum(counted.sentences.values()), None)
