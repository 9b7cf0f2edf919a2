"""The arguments of lists of sentences: how many, in which order, with which fields; and of counts of them."""

from __future__ import annotations

from esr.arguments.argument import Alias, Argument
from esr.arguments.cursor import is_cursor
from esr.arguments.operations import WITH_HITS
from esr.arguments.types import Choice, Count, FieldName, Flag, Offset, Only, Share, Text, Whole
from esr.following.exports import FIELDS as EXPORT_FIELDS
from esr.following.overlap import DEFAULT_THRESHOLD, MIN_THRESHOLD, parse_threshold
from esr.following.timeline import INTERVALS, MAX_PEAKS, PEAKS
from esr.index.filters import FACET_FIELDS
from esr.index.hits import SentenceRecord
from esr.ranking.answers import MOST_OF_DOCUMENT, PASSAGE_FIELDS

HIT_FIELDS = (
    *("score", "direction", *PASSAGE_FIELDS, "matches", "metadata", "permalink"),
    *SentenceRecord._fields,
)
_SENTENCES = Whole(high="max_k", usual="default_k", most=10_000)
SORTS = {"score": "best first", "date": "newest first"}
SCALES = {"count": "sentences", "rate": "per million sentences"}
LISTS: tuple[Argument, ...] = (
    Argument(
        "k",
        "how many sentences to return, or documents where sentences are grouped",
        Whole(high="max_k", usual="default_k", most=100_000),
        "search page",
        "arrangement",
        label="Sentences",
        foreign_names=("limit", "size", "count", "rows", "n", "top", "top_k"),
    ),
    Argument(
        "k",
        "how many sentences to write; all: as many as there are, one by one, up to the limit",
        Count(high="export_k", usual="default_k"),
        "export",
    ),
    Argument("k", "how many sentences to return", _SENTENCES, "similar compare query"),
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
        WITH_HITS,
        is_repeatable=True,
        foreign_names=("fl", "_source", "include"),
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
        WITH_HITS,
    ),
    Argument(
        "budget",
        "how many characters the texts of hits may have in all: windows become shorter, then hits fewer",
        Whole(high=999_999),
        WITH_HITS,
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
        "list the sentences with all words from the oldest on, and only those that say something new",
        Flag(),
        "page search",
        "arrangement",
        label="Only what is new",
        phrase="only what is new",
    ),
    Argument(
        "group",
        "document: group the sentences of a document",
        Only(labels={"document": ""}),
        "page search",
        "arrangement",
        label="Group by document",
        phrase="by document",
    ),
    Argument(
        "fold",
        "fold sentences that repeat an earlier one of the list, instead of listing them one by one",
        Flag(is_on=True),
        "page search",
        "arrangement",
        label="Fold repeats",
        unchecked="no",
    ),
    Argument(
        "passages",
        "join sentences that are next to each other, and list at most "
        f"{MOST_OF_DOCUMENT} passages of a document, unless the search is for a document",
        Flag(is_on=True),
        "page search",
        "arrangement",
        label="List sentences one by one",
        phrase="one by one",
    ),
    Argument(
        "own_document",
        "include sentences of the document of the sentence itself",
        Flag(),
        "similar",
        aliases=(Alias("own", applies_to="similar"),),
    ),
)
"""Lists of sentences."""
COUNTS: tuple[Argument, ...] = (
    Argument(
        "field",
        "a field to count by, also a key of the metadata, as in meta.desk; by default, all but these",
        FieldName(names=tuple(FACET_FIELDS)),
        "facets",
        is_repeatable=True,
    ),
    Argument("size", "how many values of each field to list", Whole(high=1_000, usual=10), "facets"),
    Argument(
        "facet",
        "a field of which the page lists more values",
        FieldName(names=tuple(FACET_FIELDS)),
        "page",
        "arrangement",
    ),
    Argument(
        "interval",
        "count by day, week, month or year; by default, by the finest that is easy to read",
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
)
"""Counts of sentences by field or time."""
