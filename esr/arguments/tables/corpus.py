"""The arguments of what linguists ask of a corpus: words in context, collocations, names, quotations."""

from __future__ import annotations

from collections.abc import Mapping

from esr.arguments.argument import Argument
from esr.arguments.operations import ABOUT_NAMES
from esr.arguments.types import Choice, Flag, Seed, Text, WholeNumber
from esr.corpus.choices import (
    COLLOCATIONS,
    COMPANIONS,
    GROUPINGS,
    KEY_WORDS,
    LINES,
    MAX_NETWORK,
    MEASURES,
    MIN_COUNT,
    NAMES,
    ORDERS,
    QUOTATIONS,
    SENTENCES,
    STATEMENTS,
    UNITS,
    WIDTH,
    WINDOW,
)
from esr.corpus.choices import SORTS as LINE_SORTS
from esr.index.names import ENTITY_TYPES

MOST_LISTED = 1_000
"""Most lines or quotations of an answer."""


def _describe(choices: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items())


CORPUS: tuple[Argument, ...] = (
    Argument("k", "how many lines to return", WholeNumber(high=MOST_LISTED, usual=LINES), "concordance"),
    Argument("cursor", "`next` of the answer before, for the lines after it", Text(), "concordance"),
    Argument(
        "sort",
        f"the order of the lines; {_describe(LINE_SORTS)}",
        Choice(labels=LINE_SORTS, usual="newest", local=("best",)),
        "concordance",
    ),
    Argument(
        "width",
        "how much text on each side",
        WholeNumber(low=0, high=1_000, usual=WIDTH, most=1_000),
        "concordance",
    ),
    Argument(
        "unit",
        "what width counts",
        Choice(labels=dict.fromkeys(("characters", "words"), ""), usual="characters"),
        "concordance",
    ),
    Argument("sample", "read this many sentences, drawn at random", WholeNumber(high=10_000), "concordance"),
    Argument("seed", "the seed of the sample", Seed(low=0, high=999_999, usual=0), "concordance"),
    Argument(
        "k", "how many words to return", WholeNumber(high=1_000, usual=COLLOCATIONS), "collocations contrast"
    ),
    Argument(
        "window",
        "how many words on each side are near; 0: all of the sentence",
        WholeNumber(low=0, high=100, usual=WINDOW, most=100),
        "collocations contrast",
    ),
    Argument(
        "by",
        f"what counts as one word; {_describe(UNITS)}",
        Choice(labels=UNITS, usual="stems"),
        "collocations contrast",
    ),
    Argument(
        "stop_words",
        "count stop words too",
        Flag(),
        "collocations contrast",
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
        WholeNumber(high=999_999, usual=MIN_COUNT),
        "collocations contrast",
    ),
    Argument(
        "by",
        "what to count by: a period, or the source",
        Choice(labels=dict.fromkeys(GROUPINGS, ""), usual="month"),
        "frequencies",
    ),
    Argument("k", "how many words to return", WholeNumber(high=1_000, usual=KEY_WORDS), "keyness"),
    Argument(
        "order",
        f"the order of the words; {_describe(ORDERS)}",
        Choice(labels=ORDERS, usual="log-likelihood"),
        "keyness",
    ),
    Argument(
        "min_count",
        "return words that occur at least this many times in the part",
        WholeNumber(high=999_999, usual=MIN_COUNT),
        "keyness",
    ),
    Argument(
        "name",
        "a form of the name, in any case, such as `Michael Flynn` or `person:flynn`",
        Text("query_chars", 1),
        "name",
        is_required=True,
        is_positional=True,
    ),
    Argument(
        "companions",
        "how many names that occur with it",
        WholeNumber(low=0, high=1_000, usual=COMPANIONS, most=1_000),
        "name",
    ),
    Argument(
        "k",
        "how many sentences about it, and quotations of it",
        WholeNumber(low=0, high=100, usual=SENTENCES, most=1_000),
        "name",
    ),
    Argument(
        "prefix",
        "the beginning of a value or a name, in any case, such as `bar` or `person:bar`",
        Text(),
        f"values {ABOUT_NAMES}",
    ),
    Argument("type", "names of this type", Choice(labels=dict.fromkeys(ENTITY_TYPES, "")), ABOUT_NAMES),
    Argument("k", "how many names to list", WholeNumber(high=MAX_NETWORK, usual=NAMES), ABOUT_NAMES),
    Argument(
        "least",
        "how many sentences two names have together at least",
        WholeNumber(high=999_999, usual=1),
        "network",
    ),
    Argument("k", "how many quotations to return", WholeNumber(high=MOST_LISTED, usual=QUOTATIONS), "quotes"),
    Argument(
        "name",
        "who said it: a form of the name, in any case",
        Text("query_chars", 1),
        "statements",
        is_required=True,
    ),
    Argument(
        "about",
        "only quotations in sentences with all of these words",
        Text("query_chars"),
        "statements",
    ),
    Argument(
        "k",
        "how many quotations to put in order: the best for `about`, or the newest",
        WholeNumber(high=MOST_LISTED, usual=STATEMENTS),
        "statements",
    ),
    Argument("speaker", "who said it: a name, or a speaker as written", Text(), "quotes", is_positional=True),
)
"""Words in context, collocations, frequencies, key words, names and quotations."""
