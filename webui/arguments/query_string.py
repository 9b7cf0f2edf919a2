"""Query arguments: their names and meanings, and how the query string of an address is decoded and checked.

The functions at the end shorten texts for labels and fields.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from unicodedata import category
from urllib.parse import parse_qsl, unquote_to_bytes

from esr.errors import UsageError, unknown
from esr.features import FEATURES
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings

PARAMETER = "params."
PRIOR = "prior."
VERSUS = "vs."
"""The prefix of the second ranking in a comparison, as in vs.model and vs.params.mu."""
NAME = "NAME"
"""Placeholder for any name at the end of an argument: params.NAME covers params.mu and all others."""

RANKING_ARGUMENTS: dict[str, str] = {
    "model": "the ranking model",
    "context": "the text around a sentence that the model uses",
    "candidates": "which sentences are ranked",
    "feature": "a feature that adjusts the score, as in len:log:0.1",
    "boost": "an expansion of the query, as in variants:0.2",
    "rerank": "a signal of the second stage, as in mrf_sdm:0.5",
    "depth": "how many of the best sentences the second stage ranks again",
    PARAMETER + NAME: "a parameter of the model, as in params.mu=50",
    PRIOR + NAME: "the weight of a prior, as in prior.length=1",
}
SEARCH_ARGUMENTS: dict[str, str] = {
    "q": "what to search for: words, or the query language",
    **RANKING_ARGUMENTS,
    "k": "how many sentences to return",
    "from": "the first day, as in 2017-03-01",
    "to": "the last day",
    "source": "a source",
    "author": "an author",
    "section": "a section",
    "keyword": "a keyword",
    "meta": "a key of the metadata and its value, as in desk=Berlin",
    "document": "the id of a document",
    "entity": "a name in the sentence, as in person:Barack Obama",
    "sort": "score: the best first; date: the newest of the sentences with all words first",
    "group": "document: group the sentences of a document",
    "fold": "no: list sentences that repeat another one by one",
    "novel": "yes: the oldest sentences with all words first, and only those that say something new",
    "passages": "no: list sentences that stand next to each other one by one, and any number of a document",
    "furniture": "yes: rank links, labels and notices of pages like sentences, instead of lowering them",
    "overlap": "the share of a sentence from which one that has it makes it a repeat, by the rarity of terms",
    "syntax": "none: read all of q as words, without any syntax",
    "require": "all: sentences with every word of q, and no others",
    "facet": "a field of which the page lists more values",
    "index": "the name of an index, where several are served",
}
TIMELINE_ARGUMENTS: dict[str, str] = {
    "also": "another query in the same timeline",
    "interval": "day, week, month or year; by default, the finest that is easy to read",
    "scale": "rate: the chart shows sentences per million of those of the period",
    "peaks": "how many peaks of each query come with their best sentence",
}
"""The arguments of a timeline in addition to those of a search."""
SIMILAR_ARGUMENTS: dict[str, str] = {"own": "yes: also sentences of the document of the sentence itself"}
"""The arguments of similar sentences in addition to those of a search."""
TEXT_ARGUMENTS = frozenset({"q", "text", "also"})
"""Arguments that may be as long as a query."""
COMPARISON_ARGUMENTS = (*SEARCH_ARGUMENTS, *(VERSUS + name for name in RANKING_ARGUMENTS))

_RANKING_LISTS = frozenset({"feature", "boost", "rerank"})
REPEATABLE = frozenset(
    {
        "source",
        "author",
        "section",
        "keyword",
        "meta",
        "document",
        "entity",
        "field",
        "also",
        *_RANKING_LISTS,
        *(VERSUS + name for name in _RANKING_LISTS),
    }
)
"""Arguments that may be given more than once."""
MAX_DEPTH = 1_000
"""Maximum depth of a second stage, which reads the parse of each sentence."""

_QUERY, _COUNT = "q", "k"
KNOWN_ELSEWHERE = {
    **dict.fromkeys(("query", "search", "term", "terms", "text", "keywords"), _QUERY),
    **dict.fromkeys(("limit", "size", "count", "rows", "n", "top", "top_k"), _COUNT),
}
"""Names of arguments in other search engines, and the names used here."""


def is_ranking_argument(name: str) -> bool:
    """Whether an argument says how to rank."""
    return name in RANKING_ARGUMENTS or name.startswith((PARAMETER, PRIOR))


Arguments = Mapping[str, Sequence[str]]
"""The values of arguments by name."""

_MESSAGE_CHARS = 60  # maximum for an unknown name
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters other than tabs and line ends, and characters that set the direction of text."""


def decode_arguments(
    query_string: bytes, settings: Settings, names: Collection[str] = SEARCH_ARGUMENTS
) -> Arguments:
    """The arguments by name, as text that is safe to handle. Empty ones count as not given.

    `names`: the allowed names. One that ends in NAME allows all names with its prefix. Raises RequestError
    for the first error.
    """
    values: dict[str, list[str]] = {}
    for name, value in split_pairs(query_string, settings):
        _check_name(name, names)
        check_text(name, value, settings.query_chars if name in TEXT_ARGUMENTS else settings.value_chars)
        if value.strip():
            values.setdefault(name, []).append(value.strip())
    for name, texts in values.items():
        if len(texts) > 1 and name not in REPEATABLE:
            raise RequestError(f"argument {name!r} is given {len(texts)} times: give it once", name)
    return values


def split_pairs(query_string: bytes, settings: Settings) -> list[tuple[str, str]]:
    """Names and values in the order of the address. Raises RequestError."""
    if len(query_string) > settings.address_bytes:
        size, limit = f"{len(query_string):,}", f"{settings.address_bytes:,}"
        raise RequestError(f"the address has {size} bytes of arguments: at most {limit} are allowed", None)
    try:
        text = query_string.decode()  # fails if a character is percent-encoded in part
        unquote_to_bytes(query_string.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise RequestError("the address is not valid UTF-8", None) from None
    pairs = parse_qsl(text, keep_blank_values=True)
    if len(pairs) > settings.arguments:
        limit = f"{settings.arguments:,}"
        raise RequestError(f"the address has {len(pairs)} arguments: at most {limit} are allowed", None)
    return pairs


def check_text(name: str, value: str, max_chars: int) -> None:
    """Raise RequestError for a text that is too long or has control or direction characters."""
    what = "the query" if name == "q" else f"argument {name!r}"
    if len(value) > max_chars:
        raise RequestError(f"{what} has {len(value):,} characters: at most {max_chars:,} are allowed", name)
    if unwanted := _UNWANTED.search(value):
        kind = "control" if category(unwanted[0]) == "Cc" else "text direction"
        code = f"U+{ord(unwanted[0]):04X}"
        raise RequestError(f"{what} contains the {kind} character {code}: remove it", name)


def parse_count(name: str, value: str | None, default: int, maximum: int, minimum: int = 1) -> int:
    """A whole number within the bounds, or the default without a value. Raises RequestError."""
    if value is None:
        return default
    if not re.fullmatch("[0-9]{1,6}", value) or not minimum <= int(value) <= maximum:
        raise RequestError(
            f"argument {name!r} must be a whole number from {minimum} to {maximum}, not {value!r}", name
        )
    return int(value)


def _check_name(name: str, names: Collection[str]) -> None:
    if name in names:
        return
    prefixes = tuple(allowed.removesuffix(NAME) for allowed in names if allowed.endswith(NAME))
    if not name.startswith(prefixes):
        short = name[:_MESSAGE_CHARS]
        ours = KNOWN_ELSEWHERE.get(name.lower())
        with blame_argument(short):
            if ours in names:
                raise UsageError(f"unknown argument {short!r}: did you mean {ours!r}?")
            raise unknown("argument", short, names)


def plain_number(value: object) -> str:
    """A number without trailing zeros; other values as text."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def first_phrase(description: str) -> str:
    """The first phrase of a description, short enough for an option."""
    return re.split(r"[:;,(]", description, maxsplit=1)[0].strip()


def feature_label(name: str) -> str:
    """A short description of a registered feature; of another feature, its name."""
    return first_phrase(FEATURES[name].description) if name in FEATURES else name
