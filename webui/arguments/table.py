"""The arguments of the pages and of the API, in one table.

Each row says what an argument means, which values it has, which operations take it, and how the form shows
it. The parser of addresses, the form and its short addresses, the OpenAPI document and docs/api.md use it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from msgspec.structs import replace

from esr import models
from esr.arguments.argument import Alias, Argument, Group
from esr.arguments.filters import FILTERS
from esr.arguments.types import (
    Choice,
    Count,
    FieldName,
    LanguageCode,
    Number,
    Offset,
    Share,
    Text,
    Type,
    Whole,
)
from esr.corpus.collocations import COLLOCATIONS, MEASURES, MIN_COUNT, UNITS, WINDOW
from esr.corpus.concordance import LINES, WIDTH
from esr.corpus.concordance import SORTS as LINE_SORTS
from esr.corpus.frequencies import GROUPINGS, KEY_WORDS, ORDERS
from esr.corpus.names_and_quotes import COMPANIONS, MAX_NETWORK, NAMES, QUOTATIONS, SENTENCES
from esr.following.exports import FIELDS as EXPORT_FIELDS
from esr.following.novelty import DEFAULT_THRESHOLD, MIN_THRESHOLD, parse_threshold
from esr.following.timeline import INTERVALS, MAX_PEAKS, PEAKS
from esr.index.filters import FACET_FIELDS
from esr.index.hits import SentenceRecord
from esr.index.names import ENTITY_TYPES
from esr.models.static_scores import PRIORS
from esr.plans.plan import CANDIDATES
from esr.ranking.answers import PASSAGE_FIELDS
from esr.ranking.reranker import DEPTH
from esr.text.document import ATTRIBUTES, META
from webui.arguments.cursor import is_cursor

PARAMETER = "params."
PRIOR = "prior."
VERSUS = "vs."
"""The prefix of the second ranking in a comparison, as in vs.model and vs.params.mu."""
NAME = "NAME"
"""Placeholder for any name at the end of an argument: params.NAME covers params.mu and all others."""
MAX_DEPTH = 1_000
"""Maximum depth of a second stage, which reads the parse of each sentence it rescores."""

# Rows


def _ranking(name: str, help: str, type: Type | None = None, is_repeatable: bool = False) -> Argument:
    return Argument(name, help, type or Text(), f"page {_RANKED}", "ranking", is_repeatable=is_repeatable)


_ASKED = "search facets timeline explain compare query"
_RANKED = f"{_ASKED} similar document documents"
MOST_LISTED = 1_000
"""Most lines or quotations of an answer."""
_WORDS = "concordance collocations contrast frequencies keyness"
_NAMES = "names network"
_OF_INDEX = f"{_RANKED} {_WORDS} {_NAMES} name quotes search_body batch values complete analyze status"
_HITS = "search similar"
"""The operations in which a request can choose the fields of hits."""
HIT_FIELDS = (
    *("score", "direction", *PASSAGE_FIELDS, "matches", "metadata", "permalink"),
    *SentenceRecord._fields,
)
_SENTENCES = Whole(high="max_k", usual="default_k")
_QUERY = "what to search for: words, or the query language"
SORTS = {"score": "best first", "date": "newest first"}
SCALES = {"count": "sentences", "rate": "per million sentences"}
_RANKING = (
    _ranking(
        "model",
        "the ranking model",
        Choice(labels=dict.fromkeys(models.MODELS, ""), usual=models.DEFAULT.name),
    ),
    _ranking("context", "the text around a sentence that the model uses", Choice(labels=models.CONTEXTS)),
    _ranking("candidates", "which sentences are ranked", Choice(labels=CANDIDATES)),
    _ranking("feature", "a feature that adjusts the score, as in len:log:0.1", is_repeatable=True),
    _ranking("boost", "an expansion of the query, as in variants:0.2", is_repeatable=True),
    _ranking(
        "rerank",
        "a signal of the second stage, as in mrf_sdm:0.5, or cross for the server's cross-encoder",
        is_repeatable=True,
    ),
    _ranking(
        "depth",
        "how many of the best sentences the second stage ranks again",
        Whole(high=MAX_DEPTH, usual=DEPTH),
    ),
    _ranking(PARAMETER + NAME, "a parameter of the model, as in params.mu=50"),
    _ranking(PRIOR + NAME, "the weight of a prior, as in prior.length=1"),
)
_LINE_SORTS = {name: meaning for name, meaning in LINE_SORTS.items() if name != "best"}
TABLE: tuple[Argument, ...] = (
    Argument(
        "field",
        "what to list: meta lists the keys of the metadata, meta.desk the values of one",
        FieldName(names=("source", *ATTRIBUTES, META, "entity")),
        "values",
        is_required=True,
    ),
    Argument(
        "prefix",
        "the beginning of a value or a name, in any case, such as `bar` or `person:bar`",
        Text(),
        f"values {_NAMES}",
    ),
    Argument(
        "name",
        "a form of the name, in any case, such as `Michael Flynn` or `person:flynn`",
        Text("query_chars", 1),
        "name",
        is_required=True,
    ),
    Argument("type", "names of this type", Choice(labels=dict.fromkeys(ENTITY_TYPES, "")), _NAMES),
    Argument(
        "companions", "how many names that occur with it", Whole(low=0, high=1_000, usual=COMPANIONS), "name"
    ),
    Argument(
        "k",
        "how many sentences about it, and quotations of it",
        Whole(low=0, high=100, usual=SENTENCES),
        "name",
    ),
    Argument("k", "how many names to list", Whole(high=MAX_NETWORK, usual=NAMES), _NAMES),
    Argument(
        "least",
        "how many sentences two names have together at least",
        Whole(high=999_999, usual=1),
        "network",
    ),
    Argument("text", "what to make terms of", Text("query_chars", 1), "analyze", is_required=True),
    Argument("id", "the id of the document", Text(min_chars=1), "document sentence", is_required=True),
    Argument(
        "id", "the id of a document", Text(min_chars=1), "documents", is_required=True, is_repeatable=True
    ),
    Argument("id", "the id of the sentence", Text(min_chars=1), "similar explain", is_required=True),
    Argument("says", "a digest of the text of the sentence", Text(), "sentence", is_required=True),
    Argument("lost", "yes: the sentence is no longer in the document", Text(), "shown"),
    Argument(
        "own",
        "yes: also sentences of the document of the sentence itself",
        Choice(labels={"yes": "", "no": ""}, usual="no"),
        "similar",
    ),
    Argument(
        "q",
        _QUERY,
        Text("query_chars", 1),
        f"{_ASKED} {_WORDS}",
        is_required=True,
        elsewhere=("query", "search", "term", "terms", "text", "keywords"),
    ),
    Argument(
        "q",
        _QUERY,
        Text("query_chars"),
        f"page document documents complete quotes {_NAMES}",
        elsewhere=("query", "search"),
    ),
    Argument(
        "also", "another query beside it", Text("query_chars"), "timeline frequencies", is_repeatable=True
    ),
    Argument(
        "part",
        "a query for the sentences in which what is near is counted, such as source:bbc.co.uk",
        Text("query_chars", 1),
        "contrast",
        is_required=True,
    ),
    Argument("part", "a query for the sentences to compare", Text("query_chars"), "sides"),
    Argument(
        "against",
        "a query for the sentences to compare with; by default, all others",
        Text("query_chars", 1),
        "contrast keyness sides",
    ),
    Argument(
        "k",
        "how many sentences to return, or documents where sentences are grouped",
        _SENTENCES,
        "search page",
        "arrangement",
        label="Sentences",
        elsewhere=("limit", "size", "count", "rows", "n", "top", "top_k"),
    ),
    Argument(
        "k",
        "how many sentences to write; all: as many as there are, one by one, up to the limit",
        Count(high="export_k", usual="default_k"),
        "export",
    ),
    Argument("k", "how many sentences to return", _SENTENCES, "similar compare query"),
    Argument("k", "how many lines to return", Whole(high=MOST_LISTED, usual=LINES), "concordance"),
    Argument("k", "how many quotations to return", Whole(high=MOST_LISTED, usual=QUOTATIONS), "quotes"),
    Argument("speaker", "who said it: a name, or a speaker as written", Text(), "quotes"),
    Argument("k", "how many words to return", Whole(high=1_000, usual=COLLOCATIONS), "collocations contrast"),
    Argument("k", "how many words to return", Whole(high=1_000, usual=KEY_WORDS), "keyness"),
    Argument("sort", "the order of the lines", Choice(labels=_LINE_SORTS, usual="newest"), "concordance"),
    Argument("width", "how much text on each side", Whole(low=0, high=1_000, usual=WIDTH), "concordance"),
    Argument(
        "unit",
        "what `width` counts",
        Choice(labels=dict.fromkeys(("characters", "words"), ""), usual="characters"),
        "concordance",
    ),
    Argument("sample", "read this many sentences, drawn at random", Whole(high=10_000), "concordance"),
    Argument("seed", "draws another sample", Whole(low=0, high=999_999, usual=0), "concordance"),
    Argument(
        "window",
        "how many words on each side are near; 0: all of the sentence",
        Whole(low=0, high=100, usual=WINDOW),
        "collocations contrast",
    ),
    Argument(
        "by",
        "; ".join(f"{name}: {meaning}" for name, meaning in UNITS.items()),
        Choice(labels=UNITS, usual="stems"),
        "collocations contrast",
    ),
    Argument(
        "stop_words",
        "yes: stop words are counted too",
        Choice(labels={"yes": "", "no": ""}, usual="no"),
        "collocations contrast",
    ),
    Argument(
        "by",
        "what occurrences are counted by",
        Choice(labels=dict.fromkeys(GROUPINGS, ""), usual="month"),
        "frequencies",
    ),
    Argument(
        "order",
        "; ".join(f"{name}: {meaning}" for name, meaning in ORDERS.items()),
        Choice(labels=ORDERS, usual="log-likelihood"),
        "keyness",
    ),
    Argument(
        "measure",
        "the measure to order by",
        Choice(labels=dict.fromkeys(MEASURES, ""), usual="logdice"),
        "collocations",
    ),
    Argument(
        "min_count",
        "return words that are near at least this many times",
        Whole(high=999_999, usual=MIN_COUNT),
        "collocations contrast",
    ),
    Argument(
        "min_count",
        "return words that occur at least this many times in the part",
        Whole(high=999_999, usual=MIN_COUNT),
        "keyness",
    ),
    Argument("limit", "how many completions to list", Whole(high=20, usual=8), "complete"),
    Argument(
        "offset",
        "how many sentences to skip at the top, or documents where sentences are grouped",
        Offset(low=0, high="max_depth", usual=0),
        "search",
    ),
    Argument(
        "fields",
        "a field of each hit, also `matches`, `permalink`, `metadata` and a key of it, as in meta.desk; "
        "several are separated by commas; by default, all but these",
        FieldName(names=HIT_FIELDS),
        _HITS,
        is_repeatable=True,
        elsewhere=("fl", "_source", "include"),
    ),
    Argument(
        "fields",
        "a column of the table, or a field of each line of JSON; several are separated by commas",
        FieldName(names=EXPORT_FIELDS),
        "export",
        is_repeatable=True,
    ),
    Argument(
        "window",
        "how many sentences before and after each hit to add as its `window`",
        Whole(low=0, high=20, usual=0),
        _HITS,
    ),
    Argument(
        "budget",
        "how many characters the texts of hits may have in all: windows become shorter, then hits fewer",
        Whole(high=999_999),
        _HITS,
    ),
    Argument(
        "cursor",
        "`next` of the page before, for the page after it",
        Text(),
        "search",
        aliases=(Alias("after", fits=is_cursor),),
    ),
    Argument(
        "sort",
        "score: the best first; date: the newest of the sentences with all words first",
        Choice(labels=SORTS, usual="score"),
        "page search",
        "arrangement",
        label="Order",
        phrase="{}",
    ),
    Argument(
        "overlap",
        "a sentence is a repeat if an earlier one has this share of it, by the rarity of its terms",
        Share(low=MIN_THRESHOLD, usual=DEFAULT_THRESHOLD, parse=parse_threshold),
        "page search",
        "arrangement",
        label="Repeats share",
    ),
    Argument(
        "novel",
        "yes: the oldest sentences with all words first, and only those that say something new",
        Choice(labels={"yes": ""}),
        "page search",
        "arrangement",
        label="Only what is new",
        phrase="only what is new",
    ),
    Argument(
        "group",
        "document: group the sentences of a document",
        Choice(labels={"document": ""}),
        "page search",
        "arrangement",
        label="Group by document",
        phrase="by document",
    ),
    Argument(
        "fold",
        "no: list sentences that repeat another one by one",
        Choice(labels={"no": ""}),
        "page search",
        "arrangement",
        label="Fold repeats",
        unticked="no",
    ),
    Argument(
        "passages",
        "no: list sentences that are next to each other one by one, and any number of a document",
        Choice(labels={"no": ""}),
        "page search",
        "arrangement",
        label="List sentences one by one",
        phrase="one by one",
    ),
    Argument(
        "furniture",
        "yes: rank links, labels and notices of pages like sentences, instead of lowering them",
        Choice(labels={"yes": ""}),
        f"page document documents {_ASKED}",
        "reading",
        label="Rank links and notices like sentences",
        phrase="links and notices like sentences",
    ),
    Argument(
        "require",
        "all: sentences with every word of q, and no others",
        Choice(labels={"all": ""}),
        f"page document documents {_ASKED}",
        "reading",
        label="All words",
        phrase="all words",
    ),
    Argument(
        "syntax",
        "none: read all of q as words, without any syntax",
        Choice(labels={"none": ""}),
        f"page document documents {_ASKED} {_WORDS} quotes {_NAMES}",
        "reading",
        label="Search literally",
        phrase="searched literally",
    ),
    Argument(
        "query_language",
        "the language of q, such as de, for an index by language; by default, detected from its words",
        LanguageCode(),
        f"page document documents {_ASKED} {_WORDS} quotes {_NAMES} analyze",
        "reading",
        phrase="in the language {}",
    ),
    Argument(
        "field",
        "a field to count by, also a key of the metadata, as in meta.desk; by default, all but these",
        FieldName(names=tuple(FACET_FIELDS)),
        "facets",
        is_repeatable=True,
    ),
    Argument("size", "how many values of each field to list", Whole(high=1_000, usual=10), "facets"),
    Argument("size", "how many to list", Whole(high=100, usual=10), "values"),
    Argument(
        "facet",
        "a field of which the page lists more values",
        FieldName(names=tuple(FACET_FIELDS)),
        "page",
        "arrangement",
    ),
    Argument(
        "interval",
        "day, week, month or year; by default, the finest that is easy to read",
        Choice(labels=dict.fromkeys(INTERVALS, "")),
        "timeline",
    ),
    Argument(
        "scale",
        "rate: the chart shows sentences per million of those of the period",
        Choice(labels=SCALES, usual="count"),
        "timeline",
    ),
    Argument(
        "peaks",
        "how many peaks of each query come with their best sentence",
        Whole(low=0, high=MAX_PEAKS, usual=PEAKS),
        "timeline",
    ),
    *FILTERS,
    *_RANKING,
    *(replace(row, name=VERSUS + row.name, takers="compare") for row in _RANKING),
    Argument(
        "standalone",
        "`true`: let Elasticsearch compute p(t|C); for language models only",
        Choice(labels={"true": "", "false": ""}, usual="false"),
        "query",
    ),
    Argument("index", "the name of an index, where several are served", Text(), f"page sentence {_OF_INDEX}"),
)


@cache
def rows(*takers: str) -> dict[str, Argument]:
    """The arguments of operations and pages by name, in the order of `takers`."""
    found: dict[str, Argument] = {}
    for taker in takers:
        for row in TABLE:
            if row.is_for(taker):
                found.setdefault(row.name, row)
    return found


def expand(of: Iterable[Argument]) -> list[Argument]:
    """The rows, in which each placeholder is replaced by a row for each model parameter or prior."""
    return [each for row in of for each in (_expand(row) if row.name.endswith(NAME) else [row])]


def _expand(row: Argument) -> list[Argument]:
    prefix = row.name.removesuffix(NAME)
    if prefix.endswith(PRIOR):
        weights = ((prior.name, f"weight of the prior {prior.name}") for prior in PRIORS.values())
        return [replace(row, name=prefix + name, help=help, type=Number()) for name, help in weights]
    meanings: dict[str, dict[str, list[str]]] = {}  # several models may share a name
    choices: dict[str, dict[str, str]] = {}
    for model in models.MODELS.values():
        for parameter in model.parameters:
            meaning = f"{parameter.description}, {parameter.range}"
            meanings.setdefault(parameter.name, {}).setdefault(meaning, []).append(model.name)
            choices.setdefault(parameter.name, {}).update(dict.fromkeys(parameter.choices, ""))
    return [
        replace(
            row,
            name=prefix + name,
            help="; ".join(f"{', '.join(of_models)}: {meaning}" for meaning, of_models in texts.items()),
            type=Choice(labels=choices[name]) if choices[name] else Number(),
        )
        for name, texts in meanings.items()
    ]


PAGE = rows("page")
"""The arguments of every page: those of a search."""
REPEATABLE = frozenset(row.name for row in TABLE if row.is_repeatable)
"""Arguments that may be given more than once."""


FORMER_NAMES = frozenset(alias.name for row in TABLE for alias in row.aliases)
"""Former names of arguments, some of which are names of others now."""


def names_of(group: Group) -> tuple[str, ...]:
    """The names of the arguments of pages in a group."""
    return tuple(row.name for row in PAGE.values() if row.group == group)


def is_ranking_argument(name: str) -> bool:
    """Whether an argument says how to rank."""
    return name in _RANKING_NAMES or name.startswith((PARAMETER, PRIOR))


_RANKING_NAMES = frozenset(names_of("ranking"))
