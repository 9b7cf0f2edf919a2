"""The pages of words and names.

Words: in context, collocations, key words, frequencies, and two parts compared. Names: those of a search's
sentences, one name, and quotations.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple
from unicodedata import bidirectional

from flask import Flask, Response, request
from msgspec.structs import replace

from esr.arguments.tables.corpus import MOST_LISTED
from esr.corpus.attributions import split_sentence
from esr.corpus.choices import GROUPINGS, LINES, MEASURES, ORDERS, SORTS, UNITS
from esr.corpus.collocations import Collocations, ContrastedCollocations
from esr.corpus.concordance import MAX_SENTENCES, OUTSIDE, Concordance, Line
from esr.corpus.formulas import FORMULAS, SYMBOLS
from esr.corpus.formulas import PAGE as FORMULA_PAGE
from esr.corpus.frequencies import Frequencies, KeyWords
from esr.corpus.names_and_quotes import (
    ONLY_SOME_WORDS,
    ListedName,
    Quotation,
    call_speakers,
    find_speakers,
    leave_out_pronouns,
    name_speaker,
    speaker_key,
)
from esr.following.timeline import Interval, Timeline, count_periods, name_of
from esr.index.filters import NO_FILTERS
from esr.index.names import ENTITY_TYPES, Name, entity_key
from esr.index.questions import ByDay, Values
from esr.query import ParsedQuery
from esr.ranking.answers import require_record
from esr.ranking.searcher import Searcher
from esr.ranking.speakers import suggest_speakers
from esr.text.dates import DAY, parse_date_start
from esr.text.scripts import AUTO, LEFT_TO_RIGHT, RIGHT_TO_LEFT, text_direction
from webui.answers import corpus
from webui.answers.articles import find_headings
from webui.answers.downloads import json_lines, table_csv
from webui.answers.lists import list_occurrences
from webui.arguments.links import Links, split_links
from webui.arguments.request import Arguments, decode_arguments, parse_search
from webui.pages.dates import draw_days
from webui.pages.facets import LABELS, query_clause
from webui.pages.rendering import Highlighter, PageRenderer
from webui.pages.timeline import draw_chart
from webui.running.problems import RequestError
from webui.running.served_indexes import Route, ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import _, capitalize, ngettext

WINDOWS = (0, 1, 2, 3, 5, 10)
"""Numbers of words on each side that the page offers; 0: all of the sentence."""
WORDS = "30"
"""Number of words listed for each part in a comparison, as an argument."""
_SOURCES = 4
"""Number of the most frequent sources that the page offers to compare."""
_MANY_DAYS = 1_000
"""Minimum length of a collection, in days, at which the page offers years to compare instead of months."""


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the pages and their tables to the application."""
    get = partial(indexes.route, app)
    _add_names(get, settings, render)
    _add_quotations(get, settings, render)
    _add_concordance(get, settings, render)
    app.jinja_env.globals.update(
        name_types=LABELS,
        query_clause=query_clause,
        entity_key=entity_key,
        most_listed=MOST_LISTED,
        word_formulas=FORMULAS,
        formula_symbols=SYMBOLS,
        formula_page=FORMULA_PAGE,
        name_speaker=name_speaker,
        split_sentence=split_sentence,
        sees_whole=lambda: not indexes.guard.part,
    )
    app.jinja_env.filters["line_direction"] = line_direction
    page = partial(_render, render)
    _add_collocations(get, settings, page)
    _add_keyness(get, settings, page)
    _add_frequencies(get, settings, page)
    _add_comparison(get, settings, page)


def _add_collocations(get: Route, settings: Settings, page: Callable[..., Response]) -> None:
    def read(visit: Visit) -> tuple[Arguments, Collocations]:
        arguments = decode_arguments(request.query_string, settings, "collocations", "page")
        return arguments, corpus.read_collocations(visit.searcher, arguments, settings)

    @get("/collocations")
    def collocations(visit: Visit) -> Response:
        arguments, result = read(visit)
        lists = {"measures": MEASURES, "windows": WINDOWS, "units": UNITS}
        return page(visit, "collocations", arguments, found=result, **lists)

    @get("/collocations.csv")
    def collocations_csv(visit: Visit) -> Response:
        result = read(visit)[1]
        return table_csv(result.as_dict()["collocations"], "collocations", columns=tuple(result.columns()))


def _add_keyness(get: Route, settings: Settings, page: Callable[..., Response]) -> None:
    def read(visit: Visit) -> tuple[Arguments, KeyWords]:
        arguments = decode_arguments(request.query_string, settings, "keyness")
        return arguments, corpus.read_keyness(visit.searcher, arguments, settings)

    @get("/keyness")
    def keyness(visit: Visit) -> Response:
        arguments, result = read(visit)
        return page(visit, "keyness", arguments, found=result, orders=ORDERS)

    @get("/keyness.csv")
    def keyness_csv(visit: Visit) -> Response:
        result = read(visit)[1]
        return table_csv(result.as_dict()["words"], "keyness", columns=tuple(result.columns()))


def _add_frequencies(get: Route, settings: Settings, page: Callable[..., Response]) -> None:
    def read(visit: Visit) -> tuple[Arguments, Frequencies]:
        arguments = decode_arguments(request.query_string, settings, "frequencies", "page")
        return arguments, corpus.read_frequencies(visit.searcher, arguments, settings)

    @get("/frequencies")
    def frequencies(visit: Visit) -> Response:
        arguments, result = read(visit)
        rates = [result.rates(series) for series in result.series]
        return page(visit, "frequencies", arguments, found=result, rates=rates, groupings=GROUPINGS)

    @get("/frequencies.csv")
    def frequencies_csv(visit: Visit) -> Response:
        result = read(visit)[1]
        return table_csv(result.rows(), "frequencies", columns=tuple(result.columns()))


def _add_comparison(get: Route, settings: Settings, page: Callable[..., Response]) -> None:
    def read(searcher: Searcher) -> tuple[Arguments, list[ComparedPart]]:
        operations = "sides", "contrast", "keyness", "page"
        arguments = decode_arguments(request.query_string, settings, *operations)
        return arguments, compare_parts(searcher, arguments.with_defaults(k=WORDS), settings)

    @get("/contrast", "contrast")
    def sides(visit: Visit) -> Response:
        searcher = visit.searcher.snapshot()
        arguments, compared = read(searcher)
        pairs = [] if compared else offer_pairs(searcher)
        return page(visit, "contrast", arguments, compared=compared, pairs=pairs)

    @get("/contrast.csv", "contrast_csv")
    def sides_csv(visit: Visit) -> Response:
        parts = read(visit.searcher.snapshot())[1]
        rows = ({"part": p.query, **word._asdict()} for p in parts for word in p.words)
        return table_csv(rows, "contrast", columns=("part", *SideWord._fields))


def _render(render: PageRenderer, visit: Visit, taker: str, arguments: Arguments, **values: Any) -> Response:
    """The page of an operation of the API, with its arguments and links."""
    page_links, others = split_links(request.query_string, render.settings, taker, "sort")
    query, chosen = arguments.first("q"), arguments.value
    return render(visit, f"{taker}.html", query=query, chosen=chosen, own=page_links, others=others, **values)


# Two parts


class SideWord(NamedTuple):
    """A word that is more frequent in one part: its count there, both rates per million, log-likelihood."""

    word: str
    times: int
    own: float
    other: float
    likelihood: float


class ComparedPart(NamedTuple):
    """A part of the sentences, and the words that are more frequent in it than in the other.

    `query` selects the part; it is empty for all other sentences, whose words are not listed. `size` is a
    text, such as a number of sentences.
    """

    query: str
    size: str
    words: Sequence[SideWord]


def compare_parts(searcher: Searcher, arguments: Arguments, settings: Settings) -> list[ComparedPart]:
    """Both parts that the arguments name; empty if they name none.

    The words compared are those near the words of the query; without a query, all words. Raises RequestError.
    """
    part, against = (corpus.read_part(searcher, arguments, settings, name) for name in ("part", "against"))
    if part is None:
        return []
    search = parse_search(arguments)
    if not search.query and search.filters:
        raise RequestError("without q, write filters into both parts, as in source:bbc.co.uk", "part")
    if search.query:
        near = corpus.read_contrast_both_ways(searcher, arguments, settings, part, against)
        sizes, words = _size_near(near[0]), [_list_near(part_near) for part_near in near]
    else:
        key_words = corpus.read_key_words_both_ways(searcher, arguments, part, against)
        sizes = [ngettext("%(num)s word", "%(num)s words", size) for size in key_words[0].sizes]
        words = [_list_key_words(key_word) for key_word in key_words]
    parts = zip([part.text, against.text if against else ""], sizes, [*words, []][:2], strict=True)
    return [ComparedPart(*part) for part in parts]


def _size_near(contrast: ContrastedCollocations) -> list[str]:
    pairs = zip(contrast.node, contrast.sentences, strict=True)
    return [
        _(
            "%(occurrences)s in %(sentences)s",
            occurrences=ngettext("%(num)s occurrence", "%(num)s occurrences", node),
            sentences=ngettext("%(num)s sentence", "%(num)s sentences", number),
        )
        for node, number in pairs
    ]


def _list_near(contrast: ContrastedCollocations) -> list[SideWord]:
    return [
        SideWord(collocation.word, collocation.near, *collocation.per_million, collocation.log_likelihood)
        for collocation in contrast.collocations
    ]


def _list_key_words(key_words: KeyWords) -> list[SideWord]:
    return [SideWord(word.word, word.own, *word.per_million, word.log_likelihood) for word in key_words.words]


def offer_pairs(searcher: Searcher) -> list[tuple[str, str]]:
    """Pairs of parts of the collection to compare, as queries: the largest sources; before and after a time.
    The second query of a pair is empty for all other sentences.
    """
    values = searcher.index.vocabulary(Values("source")).with_prefix("", _SOURCES)
    sources = [clause for clause in (query_clause("source", value.form) for value in values) if clause]
    pairs = (
        [*pairwise(sources), *((source, "") for source in sources[: _SOURCES // 2])] if sources[1:] else []
    )
    days = searcher.index.count([None], NO_FILTERS, ByDay())[0]
    if days:
        interval: Interval = "month" if max(days) - min(days) < _MANY_DAYS else "year"
        periods = sorted(count_periods(days, interval).items())
        if periods[1:]:
            before = list(accumulate(number for _, number in periods[:-1]))
            half = min(range(len(before)), key=lambda n: abs(2 * before[n] - sum(days.values())))
            border, last = (name_of(number, interval) for number, _ in (periods[half + 1], periods[-1]))
            pairs += [(f"before:{border}", f"after:{border}"), (f"after:{last}", "")]
    return pairs


# Words in context

LINE_WIDTH = "110"
"""Characters on each side, as an argument: as many as fit on a wide screen."""
_LETTERS = {"L": LEFT_TO_RIGHT, "R": RIGHT_TO_LEFT, "AL": RIGHT_TO_LEFT}
"""The direction of letters by their bidirectional class."""
SAMPLES = (100, 500)
"""Sizes of the samples that the page offers, in sentences."""
LEAST_GROUP = 3
"""Minimum number of lines of a group with a heading."""
LINE_ORDERS = {name: text for name, text in SORTS.items() if name != "best"}


def line_direction(line: Line) -> str:
    """The direction of a line: that of its language, or if this is unknown, of the first letter found."""
    direction = text_direction(line.language)
    if direction != AUTO:
        return direction
    return next((_LETTERS[kind] for kind in map(bidirectional, line.node) if kind in _LETTERS), LEFT_TO_RIGHT)


def _find_direction(lines: Sequence[Line]) -> str:
    """The direction of most lines."""
    counts = Counter(map(line_direction, lines))
    return max((LEFT_TO_RIGHT, RIGHT_TO_LEFT), key=lambda direction: counts[direction])


def _add_concordance(get: Route, settings: Settings, render: PageRenderer) -> None:
    """Add the page of a concordance: a line for each occurrence, with the text on both sides."""

    @get("/concordance")
    def concordance(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "concordance", "page")
        if not arguments.first("unit"):
            arguments = arguments.with_defaults(width=LINE_WIDTH)
        search, k = parse_search(arguments), arguments.value("k")
        result = list_occurrences(visit.searcher, search, arguments, settings, k + 1)
        return _render(
            render,
            visit,
            "concordance",
            arguments,
            found=replace(result, lines=result.lines[:k]),
            next_k=offer_more(k, len(result.lines), LINES),
            singly=[] if result.lines else list_words(search.parsed),
            orders=LINE_ORDERS,
            groups=name_groups(result.lines[:k], arguments.value("sort")),
            samples=SAMPLES,
            direction=_find_direction(result.lines),
        )

    @get("/concordance.csv", seconds=settings.export_deadline, is_export=True)
    def concordance_csv(visit: Visit) -> Response:
        """All lines, or the first k."""
        result, missing = _list_all(visit, settings)
        return table_csv(result.as_dict()["lines"], "concordance", missing, columns=Line.__struct_fields__)

    @get("/concordance.jsonl", seconds=settings.export_deadline, is_export=True)
    def concordance_jsonl(visit: Visit) -> Response:
        """All lines, or the first k, each as JSON."""
        result, missing = _list_all(visit, settings)
        return json_lines(result.lines, "concordance", missing)


def _list_all(visit: Visit, settings: Settings) -> tuple[Concordance, str | None]:
    """The lines of a file, and what is missing in it."""
    arguments = decode_arguments(request.query_string, settings, "concordance", "page")
    search, k = parse_search(arguments), arguments.value("k") if arguments.first("k") else sys.maxsize
    result = list_occurrences(visit.searcher, search, arguments, settings, k, MAX_SENTENCES)
    missing = None
    if result.sentences > MAX_SENTENCES and len(result.lines) < k:
        missing = f"lines of {MAX_SENTENCES:,} of {result.sentences:,} sentences"
    return result, missing


def name_groups(lines: Sequence[Line], sort: str) -> dict[int, str]:
    """The headings of groups of lines with the same word, by the number of their first line, from 1.

    A word needs LEAST_GROUP lines for a heading; the group without a word always has one.
    """
    headings = {}
    start = 0
    for word, group in groupby(lines, key=lambda line: line.group):
        size = len([*group])
        if word == "":
            headings[start + 1] = capitalize(_(OUTSIDE[sort.rstrip("123")]))
        elif word and size >= LEAST_GROUP:
            headings[start + 1] = ngettext(
                "%(word)s: %(num)s line", "%(word)s: %(num)s lines", size, word=word
            )
        start += size
    return headings


def offer_more(k: int, number: int, more: int) -> int | None:
    """The number of lines or quotations that "Show more" lists; None if there are no more than k to list."""
    return min(k + more, MOST_LISTED) if number > k and k < MOST_LISTED else None


MOST_WORDS = 8
"""Maximum words for which the page offers concordances if those of the whole query are empty."""


def list_words(parsed: ParsedQuery) -> list[str]:
    """The words of a plain query of several; empty for other queries."""
    words = list(dict.fromkeys(parsed.text.split()))
    return words if parsed.is_plain and 1 < len(words) <= MOST_WORDS else []


COUNTED, OF_EACH_TYPE = "400", 40
"""Number of the most frequent names that the page counts, and of each type that it lists if it lists all."""
SPEAKERS_OF, SPEAKERS = 500, 30
"""Number of first quotations whose speakers the page counts, and number of speakers that it lists."""
SENTENCES, COMPANIONS, OVER_TIME = "5", "12", 50
"""Numbers of sentences and companions of a name's page, as arguments, and of quotations in order of time."""


def _add_names(get: Route, settings: Settings, render: PageRenderer) -> None:
    """Add the list of names and the page of a name."""

    @get("/names")
    def names(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "names", "page")
        page_links, others = split_links(request.query_string, settings, "names")
        _, listed = corpus.read_names(visit.searcher, arguments.with_defaults(k=COUNTED), settings)
        return render(
            visit,
            "names.html",
            query=arguments.first("q"),
            groups=group_names(listed, arguments.first("type")),
            type=arguments.first("type"),
            prefix=arguments.first("prefix"),
            own=page_links,
            others=others,
        )

    @get("/name")
    def name(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "name", "statements", "page")
        page_links, _ = split_links(request.query_string, settings, "name")
        page = corpus.read_name_page(
            visit.searcher, arguments.with_defaults(k=SENTENCES, companions=COMPANIONS)
        )
        about = arguments.first("about")
        statements = None
        if page.said:
            statements = corpus.read_statements(visit.searcher, arguments, settings, OVER_TIME)
        index = visit.searcher.index
        dates, analyzer = draw_months(page.months), index.analyzer.for_language(None)
        clause = query_clause(page.type, page.name) or page.name
        index_pairs = [pair for pair in page_links.arguments if pair[0] == "index"]
        return render(
            visit,
            "name.html",
            page=page,
            query=arguments.first("q"),
            dates=dates,
            chart=dates and draw_chart(dates, "count"),
            clause=clause,
            about=Links([("q", clause), *index_pairs]),
            headings=find_headings(index, [*page.said, *map(require_record, page.best)]),
            highlight=Highlighter(analyzer, analyzer.terms(page.name)),
            said=statements,
            subject=about,
            kept=index_pairs,
        )


def _add_quotations(get: Route, settings: Settings, render: PageRenderer) -> None:
    """Add the page of quotations and its table."""

    @get("/quotes", "quotations")
    def quotations(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "quotes", "page")
        page_links, others = split_links(request.query_string, settings, "quotes", "sort")
        k, speaker = arguments.value("k"), arguments.first("speaker")
        result = corpus.read_quotations(visit.searcher, arguments, settings, max(k + 1, SPEAKERS_OF))
        shown = result.quotations[:k]
        attributed = leave_out_pronouns(visit.searcher.index, result.quotations)
        names = find_speakers(visit.searcher.index, attributed)
        called = call_speakers(names, result.quotations)
        return render(
            visit,
            "quotations.html",
            query=arguments.first("q"),
            speaker=speaker,
            meant=suggest_speakers(visit.searcher.index, speaker)
            if speaker and not result.quotations
            else (),
            with_all=corpus.count_quoted(visit.searcher, arguments),
            only_some_words=ONLY_SOME_WORDS,
            called=called,
            speakers=count_speakers(names, attributed, called),
            counted=len(result.quotations),
            found=replace(result, quotations=shown),
            headings=find_headings(visit.searcher.index, shown),
            next_k=offer_more(k, len(result.quotations), settings.more_k),
            own=page_links,
            others=others,
        )

    @get("/quotes.csv")
    def quotes_csv(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "quotes", "page")
        result = corpus.read_quotations(visit.searcher, arguments, settings, arguments.value("k"))
        return table_csv(result.as_dict()["quotations"], "quotations", columns=tuple(result.columns()))


def group_names(names: Sequence[ListedName], type: str) -> dict[str, Sequence[ListedName]]:
    """The most frequent names by type: all of the requested type, or the first ones of each."""
    if type:
        return {type: names} if names else {}
    by_type = {
        entity_type: [name for name in names if name.type == entity_type] for entity_type in ENTITY_TYPES
    }
    return {type_of_names: of_type[:OF_EACH_TYPE] for type_of_names, of_type in by_type.items() if of_type}


def draw_months(months: Mapping[str, int]) -> Timeline | None:
    """The timeline of numbers of sentences by month, in years if there are many months."""
    days = {parse_date_start(month) // DAY: number for month, number in months.items()}
    return draw_days(days, "month") if days else None


def _may_write(speaker: str, form: str) -> bool:
    """Whether a speaker as written may be the name of this form. The pronoun It is not the name I.T."""
    return not form.isupper() or any(len(word) > 1 and word.isupper() for word in speaker.split())


def count_speakers(
    names: Mapping[str, Name], quotations: Sequence[Quotation], called: Mapping[str, str]
) -> list[tuple[str, str, int]]:
    """The most frequent speakers: the value that filters by each, its label, and its number of quotations.

    They are speakers that are names in the index (`names`), or if none are, those with a known name
    (`called`). Others are often pronouns and descriptions.
    """
    attributed = [(quotation.name, quotation.speaker) for quotation in quotations if quotation.speaker]
    spoken = [(speaker_key(quotation), quotation.speaker) for quotation in quotations if quotation.speaker]
    known = [
        (names[key].key, names[key].form)
        for (key, speaker), (name, _) in zip(spoken, attributed, strict=True)
        if key in names and (name or _may_write(speaker, names[key].form))
    ]
    named = [(name, called[name]) for name, _ in attributed if name]
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for key, form in known or named or spoken:
        counts[key] += 1
        forms.setdefault(key, form)
    best = sorted(counts.items(), key=lambda speaker: (-speaker[1], speaker[0]))[:SPEAKERS]
    return [(key, forms[key], number) for key, number in best]
