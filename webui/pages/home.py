"""The first page: the stories of the last days, names that rise, a quotation, and queries that have hits.

Its content is computed once for each state of an index, since it takes as long as several searches. The state
includes what was enriched. While an enrichment runs, it changes with each hundredth of the documents.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

from esr.arguments.filters import METADATA_FILTERS
from esr.corpus.names_and_quotes import Quotation, call_speakers, find_quotations, find_speakers
from esr.errors import EsrError
from esr.following.stories import Story, find_stories
from esr.following.timeline import name_of
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import SentenceRecord
from esr.index.names import ENTITY_TYPES
from esr.index.questions import ByDay, ByField, DayCounts, Hits, Summary, Values
from esr.plans.plan import CollectionStatistics, DateRange
from esr.query import FIELDS, METADATA_FIELD, parse
from esr.ranking.answers import require_record
from esr.ranking.completions import count_values_of
from esr.ranking.searcher import Searcher
from esr.text.attributes import META
from esr.text.dates import DAY
from esr.text.document import CERTAIN
from esr.text.sentence_enrichment import PARSE, QUOTES, VECTORS
from webui.answers.rising_names import Rise, find_rising_names
from webui.pages.dates import Dates, draw_dates
from webui.pages.facets import LABELS, query_clause
from webui.running.settings import Settings
from webui.translations.language import N_

T = TypeVar("T")
EXAMPLES, ASKS, STORIES, RISING, LISTED = 6, 6, 9, 6, 8
"""Maximum numbers of example queries, examples of the query language, stories, rising names, and values of a
list."""
LATEST_SENTENCES = 4_000
"""Number of the newest sentences from which stories and examples are taken."""
LEAST_FOUND = 3
"""Minimum number of sentences that an example query finds."""
LAST_DAYS = 30
"""Number of days, up to the last one, over which the most frequent names are counted."""


class QueryExample(NamedTuple):
    """A query and what it finds, in words."""

    query: str
    meaning: str


class Listed(NamedTuple):
    """A value, the query that finds its sentences, and its count."""

    name: str
    query: str
    number: int


class LatestQuotation(NamedTuple):
    """A quotation, its speaker as readers call them, and who is quoted most: keys of names, and forms."""

    quotation: Quotation | None
    speaker: str
    speakers: Sequence[tuple[str, str]]

    @property
    def text(self) -> str:
        """What was said, without quotation marks around it: a quotation of several sentences has only one."""
        return "" if self.quotation is None else self.quotation.text.strip('"“”„‟«» ')


PART_LABELS = {
    "entities": N_("names"),
    QUOTES: N_("quotations"),
    VECTORS: N_("vectors"),
    PARSE: N_("parses"),
    "features": N_("features"),
}
"""What readers call the parts of enrichment."""
_KEPT_SECONDS, _UNKNOWN_SECONDS = 300, 60
"""Seconds for which a page is kept, and if the enrichment is unknown, as to those who see a part of it."""


class PartProgress(NamedTuple):
    """A part of enrichment, and how many documents have it."""

    label: str
    documents: int


class EnrichmentState(NamedTuple):
    """What an index has of enrichment. `incomplete`: the parts that only some of its documents have.

    `key` is another one if the content of the first page may be another one.
    """

    key: Hashable
    incomplete: Sequence[PartProgress]


def read_enrichment(index: Index, documents: int) -> EnrichmentState:
    """The state of the enrichment of an index with this number of documents."""
    rows = _try(lambda: index.status(Summary())["enrichment"])
    if rows is None:
        return EnrichmentState(int(time.monotonic() // _UNKNOWN_SECONDS), ())
    # On a server, documents may show that they are enriched before their sentences do: hence the time.
    key: list[Hashable] = [int(time.monotonic() // _KEPT_SECONDS)]
    for row in rows:
        key.append((row["part"], repr(row["made_with"]), 100 * row["documents"] // max(documents, 1)))
    counts: dict[str, int] = dict.fromkeys(PART_LABELS, 0)
    for row in rows:
        if row["part"] in counts:  # not "reuse": copies are looked for in all documents at once
            counts[row["part"]] += row["documents"]
    labels = {part: label for part, label in PART_LABELS.items() if 0 < counts[part] < documents}
    return EnrichmentState(tuple(key), [PartProgress(label, counts[part]) for part, label in labels.items()])


@dataclass(frozen=True)
class Home:
    """The content of the first page. Lists may be empty.

    `lists`: the most frequent sources, languages and names by label. `stories`: those of the last days.
    `last`: the day of the newest article. `examples`: queries of words; `asks`: examples of the query
    language; `fields`: the query fields that have values in the collection.
    """

    collection: CollectionStatistics
    dates: Dates | None
    lists: dict[str, list[Listed]]
    last: str
    stories: Sequence[Story]
    rise: Rise | None
    latest_quotation: LatestQuotation | None
    examples: Sequence[str]
    asks: Sequence[QueryExample]
    fields: Sequence[str]


def describe_collection(searcher: Searcher, collection: CollectionStatistics, settings: Settings) -> Home:
    """The content of the first page of an index. Parts for which the engine fails are omitted."""
    snapshot = searcher.snapshot()
    index = snapshot.index
    days: DayCounts = _try(lambda: index.count([None], NO_FILTERS, ByDay())[0]) or {}
    counts = _try(lambda: index.count([None], NO_FILTERS, ByField(_ALWAYS, LISTED))[0]) or {}
    lists = {LABELS[field]: [_list(field, *value) for value in values] for field, values in counts.items()}
    sources = lists.get(LABELS["source"], [])
    last = max(days, default=0)
    latest = (_try(lambda: _latest(index, last)) if days else None) or []
    titles = list(dict.fromkeys(record.title or "" for record in latest))
    chosen = [text.strip() for text in settings.examples.split("|") if text.strip()]
    found_pairs = _example_pairs(snapshot, titles, 2, LEAST_FOUND)
    if len(found_pairs) < 2:  # a small collection
        found_pairs = _example_pairs(snapshot, titles, 1, 1)
    lists |= (_try(lambda: _list_names(index, last)) if days else None) or {}
    asks = make_asks(found_pairs, lists.get(LABELS["person"], []), sources, has_dates=bool(days))
    numbers = _count_found(snapshot, [ask.query for ask in asks])
    return Home(
        collection,
        draw_dates(days, NO_FILTERS) if days else None,
        {
            label: shown
            for label, of_label in lists.items()
            if (shown := [example for example in of_label if example.query])
        },
        name_of(last, "day") if days else "",
        _try(lambda: find_stories(index, latest, STORIES)) or (),
        _try(lambda: find_rising_names(index, days, RISING)),
        (_try(lambda: _find_quotation(snapshot, last)) if days else None),
        chosen[:EXAMPLES] or found_pairs,
        [ask for ask in asks if numbers.get(ask.query)][:ASKS],
        [field.name for field in FIELDS if _try(partial(count_values_of, index, field))]
        + [name for name, field in _METADATA.items() if _try(partial(_has_values, index, field))],
    )


_METADATA = {METADATA_FIELD.name: META} | {row.name: field for field, row in METADATA_FILTERS.items()}
"""The fields of metadata and of its keys that filters have, by the names of these."""


def _has_values(index: Index, field: str) -> bool:
    return bool(index.vocabulary(Values(field)).with_prefix("", 1))


def _example_pairs(snapshot: Searcher, titles: Sequence[str], titles_with: int, least: int) -> list[str]:
    """Pairs of words in `titles_with` titles and `least` sentences or more, the most frequent first."""
    pairs = frequent_pairs(titles, snapshot.index.analyzer.for_language(None).terms, titles_with)
    counts = _count_found(snapshot, [f'"{pair}"' for pair in pairs])
    best = sorted(
        (phrase for phrase in counts if counts[phrase] >= least), key=lambda phrase: -counts[phrase]
    )
    return [phrase.strip('"') for phrase in best][:EXAMPLES]


def _try(work: Callable[[], T]) -> T | None:
    try:
        return work()
    except EsrError:  # a page without a part is better than an error
        return None


def _latest(index: Index, last: int) -> list[SentenceRecord]:
    """The newest sentences, up to the day `last`."""
    condition = DateRange(None, (last + 1) * DAY)
    return [require_record(hit) for hit in index.select(condition, LATEST_SENTENCES, NO_FILTERS, Hits()).hits]


QUOTED_DAYS, QUOTED, SPEAKERS = 7, 200, 2
"""Number of days, up to the last one, and of quotations that are read; number of speakers listed."""
QUOTED_WORDS = (6, 24)
"""Least and greatest number of words of a quotation that is shown by itself."""


def _find_quotation(snapshot: Searcher, last: int) -> LatestQuotation | None:
    """The newest quotation that can stand by itself, and who is quoted in most documents.

    All speakers are persons of at least two words, each with a quotation that is certainly theirs.
    """
    start = name_of(last - QUOTED_DAYS + 1, "day")
    quotations = find_quotations(snapshot, None, None, Filters(date_from=start), k=QUOTED).quotations
    quotations = [candidate for candidate in quotations if candidate.name and candidate.certainty == CERTAIN]
    names, called = find_speakers(snapshot.index, quotations), {}
    for key, label in call_speakers(names, quotations).items():
        if " " in key and " " in label and key in names and names[key].has_type("person"):
            called[key] = label
    quotations = [candidate for candidate in quotations if candidate.name in called]
    least, most = QUOTED_WORDS

    def stands_alone(quotation: Quotation) -> bool:
        text = quotation.text.strip(_MARKS)
        is_whole = text[:1].isupper() and text[-1:] in ".!?"
        return is_whole and least <= len(text.split()) <= most

    often = Counter(
        name
        for name, _ in dict.fromkeys((candidate.name, candidate.document_id) for candidate in quotations)
        if name
    )
    speakers = [(name, called[name]) for name, _ in often.most_common(SPEAKERS)]
    quotation = next(filter(stands_alone, quotations), None)
    speaker = "" if quotation is None else called[quotation.name or ""]
    return LatestQuotation(quotation, speaker, speakers)


_MARKS = "\"'“”‘’„‟«»‹› "


_ALWAYS = ("source", "language")
"""The fields whose values are counted over the whole collection."""


def _list(field: str, name: str, number: int, within: str = "") -> Listed:
    """A value, and a query that finds as many sentences. `within`: a clause added to the query."""
    clause = query_clause(field, name)
    query = f"{clause} {within}".rstrip() if clause else ""
    return Listed(name, query, number)


def _list_names(index: Index, last: int) -> dict[str, list[Listed]]:
    """The most frequent names of each type in the last LAST_DAYS, up to the day `last`."""
    start = name_of(last - LAST_DAYS + 1, "day")
    (counts,) = index.count([None], Filters(date_from=start), ByField(ENTITY_TYPES, LISTED))
    return {
        LABELS[field]: [_list(field, *value, f"after:{start}") for value in values]
        for field, values in counts.items()
    }


_WORD = re.compile(r"\w[\w'’-]*")


def frequent_pairs(titles: Iterable[str], terms: Callable[[str], Sequence[str]], least: int = 2) -> list[str]:
    """The pairs of adjacent words in at least `least` titles, the most frequent first.

    No word occurs in two pairs.
    """
    counts: Counter[str] = Counter()
    for title in titles:
        counts.update(
            {f"{first} {second}".lower() for first, second in pairwise(_content_words(title, terms))}
        )
    used: set[str] = set()
    pairs = []
    for pair, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        words = set(terms(pair))
        if count >= least and len(words) == 2 and used.isdisjoint(words):
            used |= words
            pairs.append(pair)
    return pairs[: 3 * EXAMPLES]


def _content_words(title: str, terms: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """The words of a title. A stop word becomes an empty string, which keeps its neighbours apart."""
    for word in _WORD.findall(title):
        yield word if len(word) > 2 and word.isalpha() and terms(word) else ""


def _count_found(snapshot: Searcher, queries: Sequence[str]) -> dict[str, int]:
    """The number of sentences that satisfy each query. Queries without any are left out."""
    read = [(query, snapshot.interpret(parse(query)).all_words) for query in queries]
    known = [(query, condition) for query, condition in read if condition is not None]
    counts = _try(lambda: snapshot.index.count([condition for _, condition in known], NO_FILTERS)) or []
    return {query: count for (query, _), count in zip(known, counts, strict=False)}


def make_asks(
    examples: Sequence[str], people: Sequence[Listed], sources: Sequence[Listed], *, has_dates: bool
) -> list[QueryExample]:
    """Examples of the query language with words and values of the collection, the most useful first."""
    if len(examples) < 2:
        return []
    last = examples[1].split()[-1]
    pair, long = examples[0], max((word for example in examples for word in example.split()), key=len)
    asks = [
        QueryExample(f'"{pair}"', N_("sentences with this phrase")),
        QueryExample(f"{pair} -{last}", N_("sentences without the last word")),
        QueryExample(f'"{pair}" OR "{examples[1]}"', N_("sentences with one of the phrases")),
    ]
    if people and people[0].query:
        asks.append(
            QueryExample(query_clause("person", people[0].name), N_("sentences that name this person"))
        )
    if len(sources) > 1 and sources[0].query:
        asks.append(QueryExample(f"{pair} {sources[0].query}", N_("only from this source")))
    if has_dates:
        asks.append(QueryExample(f"{pair} after:7d", N_("only of the last seven days")))
    beginning = [QueryExample(f"{long[:6]}*", N_("words that begin like this"))] if len(long) > 7 else []
    return [*asks, QueryExample(f'title:"{pair}"', N_("only where the headline has this phrase")), *beginning]
