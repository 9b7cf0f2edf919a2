"""What an alert asks for: words and filters, a least score, similar sentences, days with unusually many.

A saved search is stored as the arguments of an address: texts by the names of the table of arguments, which
knows the former names too. So an update of esr that stores filters in another way changes no alert.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from msgspec import Struct

from esr.alerts.choices import DEFAULT_SIMILARITY, MOST_EXAMPLES
from esr.arguments.argument import WATCH, Argument
from esr.arguments.filters import filters_of
from esr.arguments.reading import reading_of
from esr.arguments.tables.table import PAGE
from esr.arguments.types import Day, Flag, UsualLimits
from esr.errors import InputError, UsageError, unknown
from esr.following.alerts.saved_searches import KEYS, SavedSearch, read_search, read_searches
from esr.index.filters import NO_FILTERS, Filters
from esr.query import ParsedQuery, read_languages
from esr.ranking.ranking import Ranking, read_toml

SEARCH: Mapping[str, Argument] = {
    name: row for name, row in PAGE.items() if row.group in ("reading", "filter")
}
"""What says, beside its words, which sentences a search finds. An alert has all of it."""
_OWN_KEYS = ("least_score", "like", "similarity", "unusual")
_MORE_KEYS = tuple(name for name in SEARCH if name not in KEYS)
"""Of a search, what files of searches do not have."""
_ALL_KEYS = (*KEYS, *_MORE_KEYS, *_OWN_KEYS)
_NUMBERS = ("least_score", "similarity")
_FLAGS = ("unusual", *(name for name, row in SEARCH.items() if isinstance(row.type, Flag)))
_LISTS = ("like", *(name for name, row in SEARCH.items() if row.is_repeatable))
_NAMES: Mapping[str, str] = {"q": "query"}
"""The keys of arguments that files of searches call otherwise."""
_ARRANGEMENT = {"index", *(name for name, row in PAGE.items() if row.group == "arrangement")}
"""Arguments of a page that say where to search and how sentences are listed, not which ones match."""
_RANKING = {name.partition(".")[0] for name, row in PAGE.items() if row.group == "ranking"}
"""Arguments of a page that say how sentences are ranked, by the part of their name before a dot."""


Texts = Mapping[str, Sequence[str]]
"""Arguments as an address has them: the texts of each by its name."""


def _keep_furniture(arguments: Texts) -> Texts:
    """Before version 2, a least score was one that lowers no furniture."""
    return {"furniture": ("yes",), **arguments} if arguments.get("least_score") else arguments


MIGRATIONS: Mapping[int, Callable[[Texts], Texts]] = {1: _keep_furniture}
"""By version, what turns the stored arguments of that version into those of the next."""
VERSION = len(MIGRATIONS) + 1
"""The version of the arguments that are stored."""


class Conditions(Struct, frozen=True):
    """The conditions of an alert, all of which a sentence satisfies.

    - `query`: it has all words of the query and satisfies the rest of it; None for any sentence.
    - `least_score`: instead of all words, it needs one of them, and this score in `ranking`. With
      `requires_all`, it needs all of them too. Furniture is lowered, unless `with_furniture`.
    - `languages`: it is in one of these languages; empty, or `all`, for any.
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
    requires_all: bool = False
    with_furniture: bool = False
    languages: tuple[str, ...] = ()


def read_conditions(arguments: Mapping[str, Any], where: str = "the alert") -> Conditions:
    """Read conditions from arguments by name, of a saved search and of `Conditions`.

    `where` is for messages. Raises InputError.
    """
    try:
        for key in arguments:
            if key not in _ALL_KEYS:
                raise unknown("key", key, _ALL_KEYS)
        least_score = _number(arguments, "least_score")
        similarity = _number(arguments, "similarity")
        if similarity is not None and not -1.0 <= similarity <= 1.0:
            raise UsageError(f"similarity is from -1 to 1, not {similarity:g}")
        like = _texts(arguments.get("like", ()))
        if similarity is not None and not like:
            raise UsageError("similarity needs like: the sentences that others are to be similar to")
        unusual, with_furniture = _flag(arguments, "unusual"), _flag(arguments, "furniture")
        requires_all = _requires_all(arguments)
        languages = read_languages(arguments["languages"]) if arguments.get("languages") else ()
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
        if is_given(value) and query is None:
            raise InputError(where, f"{needed} needs a query")
    if least_score is not None and search.ranking.reranker() is not None:
        raise InputError(
            where,
            "a second stage ranks sentences by what else is found: least_score is for a ranking without one",
        )
    if unusual and (like or least_score is not None):
        raise InputError(where, "unusual counts the sentences of a query: give no least_score and no like")
    if languages and not like:
        raise InputError(
            where,
            "languages needs like: words are found in their own language alone, and sentences of others by "
            "their meaning. Give the query as a sentence to be similar to",
        )
    return Conditions(
        query,
        search.ranking,
        search.filters,
        search.is_literal,
        least_score,
        like,
        DEFAULT_SIMILARITY if similarity is None else similarity,
        unusual,
        requires_all,
        with_furniture,
        languages,
    )


def _flag(arguments: Mapping[str, Any], name: str) -> bool:
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be true or false")
    return value


def _requires_all(arguments: Mapping[str, Any]) -> bool:
    value = arguments.get("require")
    if value not in (None, "all"):
        raise UsageError(f"require is all, not {value!r}")
    return value is not None


def _number(arguments: Mapping[str, Any], name: str) -> float | None:
    value = arguments.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{name} is a number, not {value!r}")
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value or ())
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise UsageError(f"like is a sentence or a list of sentences, not {value!r}")
    if len(texts) > MOST_EXAMPLES:
        raise UsageError(f"like has {len(texts)} sentences: at most {MOST_EXAMPLES} are allowed")
    return texts


def read_arguments(arguments: Texts, version: int = VERSION) -> dict[str, Any]:
    """The arguments of an address, as `read_conditions` takes them.

    How an address arranges sentences is left out. How it ranks them counts with a least score alone, and is
    then to be in `ranking`, as JSON. Raises UsageError for a value that cannot be read, and for arguments
    that a newer version of esr stored, InputError for other JSON.
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
                table[key] = _read_json(name, text)
        elif name.partition(".")[0] in _RANKING:
            if any(arguments.get("least_score", ())):
                raise UsageError(f"a least score is one of the default ranking, or of ranking, not of {name}")
        elif name in _NUMBERS:
            table[key] = _read_number(name, text)
        elif name in _FLAGS:
            table[key] = Flag().read(name, text, UsualLimits())
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


def _read_json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(name, str(error)) from None


def is_given(value: Any) -> bool:
    """Whether a condition is given: the number 0 is, an empty text and an unset flag are not."""
    return not (value is None or value is False or value in ([], (), ""))


def write_arguments(table: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Conditions, such as a table of a file of searches, as the arguments of an address."""
    names = {key: name for name, key in _NAMES.items()}
    written = {}
    for key, value in table.items():
        if not is_given(value):
            continue
        if key == "ranking":
            texts: tuple[str, ...] = (json.dumps(value),)
        elif isinstance(value, str | bool | int | float | date):
            texts = ("yes" if value is True else str(value),)
        elif key in _MORE_KEYS:
            texts = (",".join(map(str, value)),)
        else:
            texts = tuple(map(str, value))
        written[names.get(key, key)] = texts
    return written


def read_tables(path: Path) -> dict[str, dict[str, Any]]:
    """The conditions of each search of a file of `esr watch`, by name, under the names of today.

    Raises InputError.
    """
    read_searches(path)
    return {name: _replace_former(f"{path}, [{name}]", table) for name, table in read_toml(path).items()}


def _replace_former(where: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table without former names of arguments, so that an alert outlives these names."""
    replaced = dict(table)
    for row in (*filters_of(WATCH), *reading_of(WATCH)):
        for former, type in list(row.names(WATCH))[1:]:
            if former not in table:
                continue
            if row.name in table:
                raise InputError(where, f"{former} is now {row.name}: give one of them")
            value = replaced.pop(former)
            if isinstance(type, Day) and type != row.type:
                value = row.type.write(type.read_value(former, value))
            replaced[row.name] = value
    return replaced
