"""What an alert asks for: words and filters, a least score, similar sentences, days with unusually many.

A saved search is stored as the arguments of an address: texts by the names of the table of arguments, which
knows the former names too. So an update of esr that stores filters in another way changes no alert.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from msgspec import Struct

from esr.alerts import DEFAULT_SIMILARITY, MOST_EXAMPLES
from esr.arguments.argument import WATCH
from esr.arguments.filters import filters_of
from esr.arguments.tables.table import PAGE
from esr.errors import InputError, UsageError, unknown
from esr.following.alerts.saved_searches import KEYS, SavedSearch, read_search, read_searches
from esr.index.filters import NO_FILTERS, Filters
from esr.query import ParsedQuery
from esr.ranking.ranking import Ranking, read_toml

VERSION = 1
"""The version of the arguments that are stored."""
MIGRATIONS: Mapping[int, Callable[[Texts], Texts]] = {}
"""By version, what turns the stored arguments of that version into those of the next."""
_OWN_KEYS = ("least_score", "like", "similarity", "unusual")
_NUMBERS, _FLAGS = ("least_score", "similarity"), ("literal", "unusual", "independent")
_LISTS = ("like", *(row.name for row in filters_of(WATCH) if row.is_repeatable))
_NAMES: Mapping[str, str] = {"q": "query"}
"""The keys of arguments that files of searches call otherwise."""
_ARRANGEMENT = {row.name for row in PAGE.values() if row.group not in ("reading", "filter")} - {*_NAMES}
"""Arguments of a page that say how sentences are ranked and listed, not which ones match."""


Texts = Mapping[str, Sequence[str]]
"""Arguments as an address has them: the texts of each by its name."""


class Conditions(Struct, frozen=True):
    """The conditions of an alert, all of which a sentence satisfies.

    - `query`: it has all words of the query and satisfies the rest of it; None for any sentence.
    - `least_score`: instead of all words, it needs one of them, and this score in `ranking`.
    - `like`: its vector has a product of at least `similarity` with that of one of these texts.
    - `unusual`: nothing is told but days on which more sentences than usual match.
    """

    query: ParsedQuery | None = None
    ranking: Ranking = Ranking()
    filters: Filters = NO_FILTERS
    is_literal: bool = False
    least_score: float | None = None
    like: tuple[str, ...] = ()
    similarity: float = DEFAULT_SIMILARITY
    unusual: bool = False


def read_conditions(arguments: Mapping[str, Any], where: str = "the alert") -> Conditions:
    """Read conditions from arguments by name, of a saved search and of `Conditions`.

    `where` is for messages. Raises InputError.
    """
    try:
        for key in arguments:
            if key not in KEYS and key not in _OWN_KEYS:
                raise unknown("key", key, (*KEYS, *_OWN_KEYS))
        least_score = _number(arguments, "least_score")
        similarity = _number(arguments, "similarity")
        if similarity is not None and not -1.0 <= similarity <= 1.0:
            raise UsageError(f"similarity is from -1 to 1, not {similarity:g}")
        like = _texts(arguments.get("like", ()))
        if similarity is not None and not like:
            raise UsageError("similarity needs like: the sentences that others are to be similar to")
        unusual = arguments.get("unusual", False)
        if not isinstance(unusual, bool):
            raise UsageError("unusual must be true or false")
    except UsageError as error:
        raise InputError(where, str(error)) from error
    table = {key: value for key, value in arguments.items() if key in KEYS}
    if "query" not in table and like:
        search = read_search(where, "alert", {**table, "query": "any"})
        search = SavedSearch(search.name, search.query, search.ranking, search.filters)
        query = None
    else:
        search = read_search(where, "alert", table)
        query = search.query
    for needed, value in (("least_score", least_score), ("unusual", unusual)):
        if value and query is None:
            raise InputError(where, f"{needed} needs a query")
    if least_score is not None and search.ranking.reranker() is not None:
        problem = (
            "a second stage ranks sentences by what else is found: least_score is for a ranking without one"
        )
        raise InputError(where, problem)
    if unusual and (like or least_score is not None):
        raise InputError(where, "unusual counts the sentences of a query: give no least_score and no like")
    return Conditions(
        query,
        search.ranking,
        search.filters,
        search.is_literal,
        least_score,
        like,
        DEFAULT_SIMILARITY if similarity is None else similarity,
        unusual,
    )


def _number(arguments: Mapping[str, Any], name: str) -> float | None:
    value = arguments.get(name)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return None if value is None else float(value)
    raise UsageError(f"{name} is a number, not {value!r}")


def _texts(value: Any) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value or ())
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise UsageError(f"like is a sentence or a list of sentences, not {value!r}")
    if len(texts) > MOST_EXAMPLES:
        raise UsageError(f"like has {len(texts)} sentences: at most {MOST_EXAMPLES} are allowed")
    return texts


def read_arguments(arguments: Texts, version: int = VERSION) -> dict[str, Any]:
    """The arguments of an address, as `read_conditions` takes them.

    How an address ranks and arranges sentences is left out, except `ranking`, which is JSON here. Raises
    UsageError for a value that cannot be read, and for arguments that a newer version of esr stored.
    """
    if version > VERSION:
        raise UsageError(
            f"the search was stored by a newer version of esr (its form is {version}): update esr"
        )
    for older in range(version, VERSION):
        arguments = MIGRATIONS[older](arguments)
    table: dict[str, Any] = {}
    for name, texts in arguments.items():
        if not any(texts):
            continue
        key, text = _NAMES.get(name, name), texts[-1]
        if name == "ranking":
            if text.startswith("{"):
                table[key] = json.loads(text)
        elif name in _NUMBERS:
            table[key] = _read_number(name, text)
        elif name in _FLAGS:
            table[key] = text == "yes"
        elif name == "syntax":
            table["literal"] = text == "none"
        elif name not in _ARRANGEMENT:
            table[key] = list(texts) if name in _LISTS else text
    return table


def _read_number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{name} is a number, not {text!r}") from None


def write_arguments(table: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Conditions, such as a table of a file of searches, as the arguments of an address."""
    names = {key: name for name, key in _NAMES.items()}
    written = {}
    for key, value in table.items():
        if value in (None, [], (), "", False):
            continue
        if key == "ranking":
            texts: tuple[str, ...] = (json.dumps(value),)
        elif isinstance(value, str | bool | int | float | date):
            texts = ("yes" if value is True else str(value),)
        else:
            texts = tuple(map(str, value))
        written[names.get(key, key)] = texts
    return written


def read_tables(path: Path) -> dict[str, dict[str, Any]]:
    """The conditions of each search of a file of `esr watch`, by name. Raises InputError."""
    read_searches(path)
    return {name: dict(table) for name, table in read_toml(path).items()}
