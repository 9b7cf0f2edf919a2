"""The arguments that say what a query is and how it is read."""

from __future__ import annotations

from esr.arguments.argument import Argument
from esr.arguments.operations import ABOUT_NAMES, ASKED, WORDS
from esr.arguments.types import Choice, LanguageCode, Text

QUERY = "what to search for: words, or the query language"
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
    ),
    Argument("part", "a query for the sentences to compare", Text("query_chars"), "sides"),
    Argument(
        "against",
        "a query for the sentences to compare with; by default, all others",
        Text("query_chars", 1),
        "contrast keyness sides",
    ),
    Argument(
        "furniture",
        "yes: rank links, labels and notices of pages like sentences, instead of lowering them",
        Choice(labels={"yes": ""}),
        f"page document documents {ASKED}",
        "reading",
        label="Rank links and notices like sentences",
        phrase="links and notices like sentences",
    ),
    Argument(
        "require",
        "all: sentences with every word of q, and no others",
        Choice(labels={"all": ""}),
        f"page document documents {ASKED}",
        "reading",
        label="All words",
        phrase="all words",
    ),
    Argument(
        "syntax",
        "none: read all of q as words, without any syntax",
        Choice(labels={"none": ""}),
        f"page document documents {ASKED} {WORDS} quotes {ABOUT_NAMES}",
        "reading",
        label="Search literally",
        phrase="searched literally",
    ),
    Argument(
        "query_language",
        "the language of q, such as de, for an index by language; by default, detected from its words",
        LanguageCode(),
        f"page document documents {ASKED} {WORDS} quotes {ABOUT_NAMES} analyze",
        "reading",
        phrase="in the language {}",
    ),
)
"""Queries, and how they are read."""
