"""Answers about words and names, for the API and for the pages.

Each function reads the arguments of the operation that it is named after. All raise RequestError.
"""

from __future__ import annotations

from typing import Any

from esr.corpus import names_and_quotes
from esr.corpus.collocations import (
    Collocations,
    ContrastedCollocations,
    Reach,
    contrast_both_ways,
    contrast_collocations,
    find_collocations,
)
from esr.corpus.frequencies import (
    Frequencies,
    KeyWords,
    count_frequencies,
    find_key_words,
    find_key_words_both_ways,
)
from esr.corpus.statements import Statements, find_statements
from esr.query import ParsedQuery, parse
from esr.ranking.searcher import Searcher
from webui.answers.lists import SERVED_SENTENCES
from webui.arguments.request import (
    Arguments,
    SearchRequest,
    check_query,
    parse_filters,
    parse_search,
    parse_searches,
)
from webui.running.problems import blame_argument
from webui.running.settings import Settings

# Words


def read_collocations(searcher: Searcher, arguments: Arguments, settings: Settings) -> Collocations:
    """The words near those of the query."""
    search = _read_search(searcher, arguments, settings)
    with blame_argument(None):
        return find_collocations(
            searcher,
            search.parsed,
            search.filters,
            reach=_read_reach(arguments),
            **{name: arguments.value(name) for name in ("k", "measure", "min_count")},
        )


def read_contrast(
    searcher: Searcher,
    arguments: Arguments,
    settings: Settings,
    part: ParsedQuery,
    against: ParsedQuery | None,
) -> ContrastedCollocations:
    """The words that are more frequent near those of the query in `part` than in `against`, or the rest."""
    search = _read_search(searcher, arguments, settings)
    with blame_argument(None):
        return contrast_collocations(
            searcher, search.parsed, search.filters, part, against, **_read_contrast_settings(arguments)
        )


def read_contrast_both_ways(
    searcher: Searcher,
    arguments: Arguments,
    settings: Settings,
    part: ParsedQuery,
    against: ParsedQuery | None,
) -> list[ContrastedCollocations]:
    """The same for `part` and, if given, for `against`."""
    search = _read_search(searcher, arguments, settings)
    with blame_argument(None):
        return contrast_both_ways(
            searcher, search.parsed, search.filters, part, against, **_read_contrast_settings(arguments)
        )


def _read_contrast_settings(arguments: Arguments) -> dict[str, Any]:
    settings = {name: arguments.value(name) for name in ("k", "min_count")}
    return {"reach": _read_reach(arguments), **settings}


def read_frequencies(searcher: Searcher, arguments: Arguments, settings: Settings) -> Frequencies:
    """The occurrences of the words of each query by period or source."""
    searches, by = parse_searches(arguments), arguments.value("by")
    queries = [search.parsed for search in searches]
    for n, query in enumerate(queries):
        check_query(searcher, query, settings, "also" if n else "q")
    with blame_argument(None):
        return count_frequencies(searcher, queries, searches[0].filters, by, SERVED_SENTENCES)


def read_keyness(searcher: Searcher, arguments: Arguments, settings: Settings) -> KeyWords:
    """The words that are more frequent in the sentences of the query than in another part, or the rest."""
    search = _read_search(searcher, arguments, settings)
    against = read_part(searcher, arguments, settings, "against")
    with blame_argument(None):
        return find_key_words(searcher, search.parsed, against, **_read_key_word_settings(arguments))


def read_key_words_both_ways(
    searcher: Searcher, arguments: Arguments, part: ParsedQuery, against: ParsedQuery | None
) -> list[KeyWords]:
    """The key words of `part` and, if given, of `against`, each compared with the other or the rest."""
    with blame_argument(None):
        return find_key_words_both_ways(searcher, part, against, **_read_key_word_settings(arguments))


def _read_key_word_settings(arguments: Arguments) -> dict[str, Any]:
    return {"most": SERVED_SENTENCES, **{name: arguments.value(name) for name in ("k", "order", "min_count")}}


def read_part(searcher: Searcher, arguments: Arguments, settings: Settings, name: str) -> ParsedQuery | None:
    """The query in an argument that selects a part of the sentences; None if it is not given."""
    text = arguments.first(name)
    if not text:
        return None
    parsed = parse(text)
    check_query(searcher, parsed, settings, name)
    return parsed


def _read_search(searcher: Searcher, arguments: Arguments, settings: Settings) -> SearchRequest:
    search = parse_search(arguments)
    check_query(searcher, search.parsed, settings)
    return search


def _read_reach(arguments: Arguments) -> Reach:
    value = arguments.value
    return Reach(value("window") or None, value("by"), value("stop_words"), SERVED_SENTENCES)


# Names and what people said


def read_names(
    searcher: Searcher, arguments: Arguments, settings: Settings
) -> tuple[names_and_quotes.Selection, list[names_and_quotes.ListedName]]:
    """The most frequent names of the sentences of a request, and the selection of these sentences."""
    value, search = arguments.value, parse_search(arguments)
    query = search.parsed if search.query.strip() else ""
    if query:
        check_query(searcher, search.parsed, settings)
    with blame_argument("q"):
        selection = names_and_quotes.select(searcher, query, search.filters)
    prefix = arguments.first("prefix")
    listed = names_and_quotes.list_names(selection, type=value("type"), prefix=prefix, k=value("k"))
    if not listed:
        with blame_argument(None):
            names_and_quotes.check_names(searcher.index)
    return selection, listed


def read_name_page(searcher: Searcher, arguments: Arguments) -> names_and_quotes.NamePage:
    """The counts, dates, forms, sources, companions and sentences of a name."""
    value = arguments.value
    with blame_argument("name"):
        return names_and_quotes.read_name(
            searcher, arguments.first("name"), companions=value("companions"), sentences=value("k")
        )


def read_statements(searcher: Searcher, arguments: Arguments, settings: Settings, k: int) -> Statements:
    """What somebody said over time, of at most k quotations."""
    about = parse(arguments.first("about")) if arguments.first("about") else None
    if about is not None:
        check_query(searcher, about, settings, "about")
    filters = parse_filters(arguments)
    with blame_argument("name"):
        return find_statements(searcher, arguments.first("name"), about, filters, k=k)


def read_quotations(
    searcher: Searcher, arguments: Arguments, settings: Settings, k: int
) -> names_and_quotes.Quotations:
    """The first k quotations of a speaker or about the query."""
    search = parse_search(arguments)
    about = search.parsed if search.query.strip() else None
    if about is not None:
        check_query(searcher, about, settings)
    with blame_argument(None):
        quotations = names_and_quotes.find_quotations(
            searcher,
            arguments.first("speaker") or None,
            about,
            search.filters,
            ranking=search.ranking,
            k=k,
        )
        if not quotations.quotations:
            names_and_quotes.check_quotations(searcher.index)
    return quotations


def count_quoted(searcher: Searcher, arguments: Arguments) -> int | None:
    """How many sentences with all words of the query have such a quotation; None without a query."""
    search = parse_search(arguments)
    if not search.query.strip():
        return None
    speaker = arguments.first("speaker") or None
    return names_and_quotes.count_quoted(searcher, speaker, search.parsed, search.filters)
