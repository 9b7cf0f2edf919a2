"""The methods of an index about its words, names and quotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from esr.corpus.choices import (
    COLLOCATIONS,
    COMPANIONS,
    KEY_WORDS,
    LINES,
    MIN_COUNT,
    NAMES,
    QUOTATIONS,
    SENTENCES,
    STATEMENTS,
    WIDTH,
    WINDOW,
    Grouping,
)
from esr.corpus.collocations import (
    By,
    Collocations,
    ContrastedCollocations,
    Reach,
    contrast_collocations,
    find_collocations,
)
from esr.corpus.concordance import Concordance, LineOptions, Unit, build_concordance
from esr.corpus.frequencies import Frequencies, KeyWords, count_frequencies, find_key_words
from esr.corpus.names_and_quotes import (
    ListedName,
    NameNetwork,
    NamePage,
    Quotations,
    Selection,
    build_network,
    check_names,
    check_quotations,
    find_quotations,
    list_names,
    read_name,
    select,
)
from esr.errors import UsageError
from esr.library.checks import check_arguments
from esr.library.options import SearchOptions, read_search_options
from esr.query import parse
from esr.ranking.prepared_query import check_k

if TYPE_CHECKING:
    from esr.corpus.statements import Statements
    from esr.ranking.searcher import Searcher


@check_arguments
class CorpusMethods:
    """The part of `esr.Index` that is about words, names and quotations."""

    _searcher: Searcher

    def concordance(
        self,
        query: str,
        k: int = LINES,
        *,
        sort: str = "newest",
        width: int = WIDTH,
        unit: Unit = "characters",
        sample: int | None = None,
        seed: int = 0,
        **options: Unpack[SearchOptions],
    ) -> Concordance:
        """Show the occurrences of a word, a phrase or a prefix, one per line, with the text on both sides.

        Words without syntax are read as a phrase. `width` is in characters or words on each side. `sort` is
        "newest", "oldest", "best", "source", "node", or "left1" to "right3". `sample` is the number of
        sentences to draw at random by `seed`. Raises UsageError for a query with nothing to show.
        """
        settings = read_search_options(options, "k", "sort", "width", "unit", "sample", "seed")
        return build_concordance(
            self._searcher,
            settings.parse(query),
            settings.filters,
            LineOptions(k, sort, width, unit, sample, seed),
            settings.ranking,
        )

    def collocations(
        self,
        query: str,
        k: int = COLLOCATIONS,
        *,
        window: int | None = WINDOW,
        by: By = "stems",
        stop_words: bool = False,
        measure: str = "logdice",
        min_count: int = MIN_COUNT,
        **options: Unpack[SearchOptions],
    ) -> Collocations:
        """Find the k words that occur near a word or phrase more often than their frequency explains.

        `window` is the number of words on each side; None takes the whole sentence. `by` is "stems", so that
        forms of a word count together, or "forms". `measure` is "logdice", "log-likelihood", "mi" or "t".
        Raises UsageError if too many sentences match.
        """
        settings = read_search_options(options, "k", "window", "by", "stop_words", "measure", "min_count")
        return find_collocations(
            self._searcher,
            settings.parse(query),
            settings.filters,
            reach=_read_reach(window, by, stop_words),
            measure=measure,
            min_count=min_count,
            k=k,
        )

    def quotes(
        self,
        speaker: str | None = None,
        k: int = QUOTATIONS,
        *,
        about: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> Quotations:
        """Find the k newest quotations of a speaker, or of anyone; with `about`, the best for this query.

        Raises UsageError if the index has no quotations (`enrich("quotes")` finds them).
        """
        settings = read_search_options(options, "k", "about", "speaker")
        quotations = find_quotations(
            self._searcher,
            speaker,
            None if about is None else settings.parse(about),
            settings.filters,
            ranking=settings.ranking,
            k=check_k(k),
        )
        if not quotations.quotations:
            check_quotations(self._searcher.index)
        return quotations

    def name(self, name: str, *, companions: int = COMPANIONS, k: int = SENTENCES) -> NamePage:
        """Read the data of the index about a name: counts, dates, forms, sources, companions, quotations.

        `name` is any of its forms, in any case, an id such as "Q22686", or `person:NAME`. `companions` is
        the number of names that occur with it, `k` that of sentences about it and of its quotations. Raises
        NotFound if the index has no such name.
        """
        return read_name(self._searcher, name, companions=companions, sentences=k)

    def statements(
        self,
        name: str,
        k: int = STATEMENTS,
        *,
        about: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> Statements:
        """Read what somebody said over time: similar quotations joined, and changes of wording marked.

        They are the k newest quotations, or with `about` the best ones whose sentences have all of its words.
        Only quotations whose speaker is certain count. Statements come in the order in which they first
        appeared. Raises NotFound for an unknown name, and UsageError if the index has no quotations.
        """
        from esr.corpus.statements import find_statements

        settings = read_search_options(options, "k", "about")
        query = None if about is None else settings.parse(about)
        return find_statements(self._searcher, name, query, settings.filters, k=check_k(k))

    def names(
        self,
        query: str = "",
        k: int = NAMES,
        *,
        type: str | None = None,
        prefix: str = "",
        **options: Unpack[SearchOptions],
    ) -> list[ListedName]:
        """List the k most frequent names, counted in the sentences with every word of a query if given.

        `type` is "person", "location" or "organization". The name, or another form of it, begins with
        `prefix`, in any case. `options` are those of `SearchOptions`; the ranking has no effect. Raises
        UsageError if the index has no names (`enrich()` finds them).
        """
        return self._list_names(query, k, type, prefix, options)[1]

    def network(
        self,
        query: str = "",
        k: int = NAMES,
        *,
        type: str | None = None,
        prefix: str = "",
        least: int = 1,
        **options: Unpack[SearchOptions],
    ) -> NameNetwork:
        """Find which of the k names that `names` lists occur together, in at least `least` sentences.

        `NameNetwork.to_graphml` writes the network for Gephi and networkx.
        """
        selection, listed = self._list_names(query, k, type, prefix, options)
        return build_network(selection, listed, least=least)

    def _list_names(
        self, query: str, k: int, type: str | None, prefix: str, options: SearchOptions
    ) -> tuple[Selection, list[ListedName]]:
        settings = read_search_options(options, "k", "type", "prefix")
        read = "" if isinstance(query, str) and not query.strip() else settings.parse(query)
        selection = select(self._searcher, read, settings.filters)
        listed = list_names(selection, type=type, prefix=prefix, k=k)
        if not listed:
            check_names(self._searcher.index)
        return selection, listed

    def contrast(
        self,
        query: str,
        part: str,
        k: int = COLLOCATIONS,
        *,
        against: str | None = None,
        window: int | None = WINDOW,
        by: By = "stems",
        stop_words: bool = False,
        min_count: int = MIN_COUNT,
        **options: Unpack[SearchOptions],
    ) -> ContrastedCollocations:
        """Find the k words that occur near a word or phrase more often in a part of its sentences.

        `part` is a query for these sentences, such as "source:bbc.co.uk"; `against` is a query for the
        sentences to compare with, by default all others. The other arguments are those of `collocations`.
        """
        settings = read_search_options(options, "k", "against", "window", "by", "stop_words", "min_count")
        return contrast_collocations(
            self._searcher,
            settings.parse(query),
            settings.filters,
            parse(part),
            None if against is None else parse(against),
            reach=_read_reach(window, by, stop_words),
            min_count=min_count,
            k=k,
        )

    def frequencies(
        self, *queries: str, by: Grouping = "month", **options: Unpack[SearchOptions]
    ) -> Frequencies:
        """Count how often words or phrases occur by period or source, also per million words.

        `by` is "day", "week", "month", "year" or "source". Words without syntax are read as a phrase. Raises
        UsageError if too many sentences match.
        """
        if not queries:
            raise UsageError("frequencies need a query: frequencies('travel ban')")
        settings = read_search_options(options, "by")
        read = [settings.parse(query) for query in queries]
        return count_frequencies(self._searcher, read, settings.filters, by)

    def keyness(
        self,
        part: str,
        k: int = KEY_WORDS,
        *,
        against: str | None = None,
        order: str = "log-likelihood",
        min_count: int = MIN_COUNT,
    ) -> KeyWords:
        """Find the k words that are more frequent in one part of the collection than in another.

        `part` and `against` are queries that select sentences, such as "source:bbc.co.uk after:2017"; without
        `against`, the part is compared with the rest. `order` is "log-likelihood" or "log-ratio". Raises
        UsageError if a server would have to read too many sentences.
        """
        other = None if against is None else parse(against)
        return find_key_words(self._searcher, parse(part), other, order=order, min_count=min_count, k=k)


def _read_reach(window: int | None, by: By, stop_words: bool) -> Reach:
    return Reach(window or None, by, stop_words)
