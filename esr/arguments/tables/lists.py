"""The arguments of lists of sentences: how many, in which order, with which repeats."""

from __future__ import annotations

from esr.arguments.argument import Alias, Argument
from esr.arguments.cursor import is_cursor
from esr.arguments.operations import ALERT
from esr.arguments.types import Choice, Count, Flag, LanguageCodes, Offset, Only, Share, Text, WholeNumber
from esr.following.overlap import DEFAULT_THRESHOLD, MIN_THRESHOLD, parse_threshold
from esr.ranking.answers import MOST_OF_DOCUMENT

_SENTENCES = WholeNumber(high="max_k", usual="default_k", most=10_000)
SORTS = {"score": "best first", "date": "newest first", "oldest": "oldest first"}
MOST_PER_DOCUMENT = 1_000
"""Maximum number of passages of a document, which `all` stands for."""
LISTS: tuple[Argument, ...] = (
    Argument(
        "k",
        "how many sentences to return, or documents where sentences are grouped",
        WholeNumber(high="max_k", usual="default_k", most=100_000),
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
        "cursor",
        "`next` of the page before, for the page after it",
        Text(),
        "search",
        aliases=(Alias("after", "0.3", fits=is_cursor),),
    ),
    Argument(
        "sort",
        "the order; score: the best first; date: the newest of the sentences with all words first; oldest: "
        "the oldest of them first",
        Choice(labels=SORTS, usual="score"),
        "page search",
        "arrangement",
        label="Order",
        phrase="{}",
    ),
    Argument(
        "languages",
        "the languages of the sentences to find in an index by language, such as de,ar, or all; by default, "
        "only that of the query (needs vectors of a multilingual encoder)",
        LanguageCodes(),
        f"page search {ALERT}",
        "reading",
        phrase="in the languages {}",
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
        "per_document",
        "how many passages of a document to list at most, unless the search is for a document; by default "
        f"{MOST_OF_DOCUMENT} where sentences are joined, and any number elsewhere",
        WholeNumber(high=MOST_PER_DOCUMENT),
        "search",
        "arrangement",
    ),
    Argument(
        "per_document",
        "how many passages of a document to list at most, or all, unless the search is for a document",
        Count(high=MOST_PER_DOCUMENT, usual=1),
        "page",
        "arrangement",
    ),
    Argument(
        "own_document",
        "include sentences of the document of the sentence itself",
        Flag(),
        "similar",
        aliases=(Alias("own", "0.3", applies_to="similar"),),
    ),
    Argument(
        "standalone",
        "let Elasticsearch compute p(t|C), so that the terms can be changed; for language models only",
        Flag(words=("true", "false")),
        "query",
    ),
)
"""Lists of sentences."""
