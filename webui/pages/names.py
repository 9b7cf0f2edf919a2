"""The pages of names and of what people said: the names of a search's sentences, one name, and quotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from flask import Flask, Response, request
from msgspec.structs import replace

from esr.corpus.names_and_quotes import ListedName, Quotations
from esr.following.timeline import Timeline
from esr.index.contract import Index
from esr.index.filters import DAY
from esr.index.names import ENTITY_TYPES, entity_key, name_key
from esr.ranking.answers import require_record
from esr.text.dates import parse_date_start
from webui.answers.corpus import read_name_page, read_names, read_quotations
from webui.arguments.form import Links, split_links
from webui.arguments.request import decode_arguments
from webui.pages.rail import LABELS, draw_days, query_clause
from webui.pages.rendering import Highlighter, PageRenderer
from webui.pages.results import find_headings
from webui.pages.timeline import draw_chart
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings

COUNTED, OF_EACH_TYPE = "400", 40
"""How many of the most frequent names the page counts, and how many of each type it lists beside others."""
SPEAKERS_OF, SPEAKERS = 500, 30
"""The first quotations whose speakers the page counts, and how many speakers it lists."""
SENTENCES, COMPANIONS = "5", "12"
"""Sentences and companions on the page of a name, as arguments."""


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the pages to the application."""
    get = partial(indexes.route, app)
    app.jinja_env.globals.update(
        name_types=LABELS,
        query_clause=query_clause,
        entity_key=entity_key,
        sees_whole=lambda: not indexes.guard.part,
    )

    @get("/names")
    def names(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "names", "page")
        own, others = split_links(request.query_string, settings, "names")
        _, listed = read_names(visit.searcher, arguments.with_defaults(k=COUNTED), settings)
        return render(
            visit,
            "names.html",
            query=arguments.first("q"),
            groups=group_names(listed, arguments.first("type")),
            type=arguments.first("type"),
            prefix=arguments.first("prefix"),
            own=own,
            others=others,
        )

    @get("/name")
    def name(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "name", "page")
        own, _ = split_links(request.query_string, settings, "name")
        page = read_name_page(visit.searcher, arguments.with_defaults(k=SENTENCES, companions=COMPANIONS))
        index = visit.searcher.index
        dates, analyzer = draw_months(page.months), index.analyzer.for_language(None)
        clause = query_clause(page.type, page.name) or page.name
        kept = [pair for pair in own.arguments if pair[0] == "index"]
        return render(
            visit,
            "name.html",
            page=page,
            query=arguments.first("q"),
            dates=dates,
            chart=dates and draw_chart(dates, "count"),
            clause=clause,
            about=Links([("q", clause), *kept]),
            headings=find_headings(index, [*page.said, *map(require_record, page.best)]),
            highlight=Highlighter(analyzer, analyzer.terms(page.name)),
        )

    @get("/quotes", "quotations")
    def quotations(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "quotes", "page")
        own, others = split_links(request.query_string, settings, "quotes", "sort")
        k, speaker = arguments.value("k"), arguments.first("speaker")
        found = read_quotations(visit.searcher, arguments, settings, max(k, SPEAKERS_OF))
        shown = found.quotations[:k]
        return render(
            visit,
            "quotations.html",
            query=arguments.first("q"),
            speaker=speaker,
            speakers=count_speakers(visit.searcher.index, found),
            counted=len(found.quotations),
            found=replace(found, quotations=shown),
            headings=find_headings(visit.searcher.index, shown),
            next_k=k + settings.more_k if len(found.quotations) > k else None,
            own=own,
            others=others,
        )


def group_names(names: Sequence[ListedName], type: str) -> dict[str, Sequence[ListedName]]:
    """The most frequent names by type: all of the type asked for, or the first of each."""
    if type:
        return {type: names} if names else {}
    by_type = {each: [name for name in names if name.type == each] for each in ENTITY_TYPES}
    return {each: of_type[:OF_EACH_TYPE] for each, of_type in by_type.items() if of_type}


def draw_months(months: Mapping[str, int]) -> Timeline | None:
    """The timeline of numbers of sentences by month, in years if there are many months."""
    days = {parse_date_start(month) // DAY: number for month, number in months.items()}
    return draw_days(days, "month") if days else None


def count_speakers(index: Index, found: Quotations) -> list[tuple[str, str, int]]:
    """The most frequent speakers: what filters by each, what each is called, and the number of quotations.

    They are those that are names in the index, if any are: others are often pronouns and descriptions.
    """
    spoken = [
        (each.name or name_key(each.speaker), each.speaker) for each in found.quotations if each.speaker
    ]
    names = index.find_names(list(dict.fromkeys(key for key, _ in spoken)))
    known = [(names[key].key, names[key].form) for key, _ in spoken if key in names]
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for key, form in known or spoken:
        counts[key] += 1
        forms.setdefault(key, form)
    best = sorted(counts.items(), key=lambda speaker: (-speaker[1], speaker[0]))[:SPEAKERS]
    return [(key, forms[key], number) for key, number in best]
