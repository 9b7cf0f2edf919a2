"""Saved searches, read from a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esr.documents.dates import parse_date_end, parse_date_start
from esr.engines.index import NO_FILTERS, Filters
from esr.errors import EsrError, InputError, UsageError, unknown
from esr.queries import ParsedQuery, literal, parse
from esr.ranking.ranking import Ranking

_KEYS = ("query", "literal", "ranking", "from", "to", "source", "document", "entity")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A search with a name, which is also that of its feed's file."""

    name: str
    query: ParsedQuery
    ranking: Ranking
    filters: Filters = NO_FILTERS


def read_searches(path: Path) -> list[SavedSearch]:
    """The searches of a file: a table for each, `[floods]`, with a `query`.

    The other keys are `literal`, `ranking` (as in a ranking file), `from`, `to`, `source`, `document` and
    `entity`. Raises InputError with the file and the search at fault.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), f"not TOML: {error}") from error
    if not data:
        raise InputError(str(path), 'has no search: write one as [name] with a query = "..." below')
    return [_read_search(f"{path}, [{name}]", name, table) for name, table in data.items()]


def _read_search(where: str, name: str, table: Any) -> SavedSearch:
    if not _NAME.fullmatch(name):
        raise InputError(where, "a name has letters, digits, dots, hyphens and underscores only")
    if not isinstance(table, Mapping):
        raise InputError(where, 'a search is a table: [name] with a query = "..." below')
    try:
        for key in table:
            if key not in _KEYS:
                raise unknown("key", key, _KEYS)
        query = _text(table, "query")
        if query is None:
            raise UsageError("the query is missing")
        is_literal = table.get("literal", False)
        if not isinstance(is_literal, bool):
            raise UsageError("literal must be true or false")
        filters = Filters(
            _moment(table, "from", parse_date_start),
            _moment(table, "to", parse_date_end),
            _texts(table, "source"),
            _texts(table, "document"),
            _texts(table, "entity"),
        )
        ranking = Ranking.from_dict(table.get("ranking", {}))
        return SavedSearch(name, literal(query) if is_literal else parse(query), ranking, filters)
    except InputError:
        raise
    except EsrError as error:
        raise InputError(where, str(error)) from error


def _text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise UsageError(f"{key} must be a text, not {value!r}")


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """One text, or a list of them."""
    value = table.get(key, [])
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list) and all(isinstance(each, str) and each.strip() for each in values):
        return tuple(values)
    raise UsageError(f"{key} must be a text or a list of texts, not {value!r}")


def _moment(table: Mapping[str, Any], key: str, parse_date: Callable[[str], int]) -> int | None:
    """A date as a text or as TOML writes it."""
    value = table.get(key)
    try:
        return None if value is None else parse_date(str(value))
    except ValueError as error:
        raise UsageError(f"{key} must be a date such as 2017-02-28, not {value!r}") from error
