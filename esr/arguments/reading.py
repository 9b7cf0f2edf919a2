"""The arguments that say what a query is and how it is read."""

from __future__ import annotations

from esr.arguments.argument import SEARCHES, WATCH, Alias, Argument
from esr.arguments.operations import ABOUT_NAMES, ALERT, ASKED, WORDS
from esr.arguments.types import Flag, LanguageCode, Only, Text

QUERY = "what to search for: words, or the query language"
FURNITURE = Argument(
    "furniture",
    "rank links, labels, credits and notices of pages like sentences, instead of lowering them",
    Flag(),
    f"{WATCH} page document documents {ASKED} {ALERT}",
    "reading",
    label="Rank links and notices like sentences",
    phrase="links and notices like sentences",
)
READING: tuple[Argument, ...] = (
    Argument(
        "q",
        QUERY,
        Text("query_chars", 1),
        f"{ASKED} {WORDS}",
        is_required=True,
        foreign_names=("query", "search", "term", "terms", "text", "keywords"),
    ),
    Argument(
        "q",
        QUERY,
        Text("query_chars"),
        f"page document documents complete quotes {ABOUT_NAMES}",
        foreign_names=("query", "search"),
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
        is_positional=True,
    ),
    Argument("part", "a query for the sentences to compare", Text("query_chars"), "sides"),
    Argument(
        "against",
        "a query for the sentences to compare with; by default, all others",
        Text("query_chars", 1),
        "contrast keyness sides",
    ),
    FURNITURE,
    Argument(
        "require",
        "require every word of the query in a sentence",
        Only(labels={"all": ""}),
        f"{SEARCHES} page document documents {ASKED} {ALERT}",
        "reading",
        label="All words",
        phrase="all words",
    ),
    Argument(
        "literal",
        "read all of the query as words, without any syntax",
        Flag(),
        f"{SEARCHES} page document documents {ASKED} {WORDS} quotes {ABOUT_NAMES} {ALERT}",
        "reading",
        label="Search literally",
        phrase="searched literally",
        aliases=(
            Alias(
                "syntax",
                "0.3",
                values={"none": "yes"},
                applies_to=f"page document documents {ASKED} {WORDS} quotes {ABOUT_NAMES}",
            ),
        ),
    ),
    Argument(
        "query_language",
        "the language of the query, such as de, for an index by language; by default, it is detected",
        LanguageCode(),
        f"{SEARCHES} page document documents {ASKED} {WORDS} quotes {ABOUT_NAMES} evidence analyze {ALERT}",
        "reading",
        phrase="in the language {}",
        foreign_names=("language", "lang"),
    ),
)
"""Queries, and how they are read."""


def reading_of(door: str) -> tuple[Argument, ...]:
    """How a query is read, as a door or an operation takes it."""
    return tuple(row for row in READING if row.group == "reading" and row.is_for(door))
