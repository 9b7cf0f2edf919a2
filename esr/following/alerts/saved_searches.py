"""Saved searches: the TOML file that `esr watch` reads, and an entry of it as text."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esr.arguments.argument import WATCH
from esr.arguments.filters import filters_of, read_filters
from esr.arguments.reading import reading_of
from esr.arguments.types import Texts
from esr.errors import EsrError, InputError, UsageError, unknown
from esr.index.filters import NO_FILTERS, Filters
from esr.query import ParsedQuery, in_language, literal, parse
from esr.ranking.ranking import Ranking, read_toml

_FILTERS = {name: type for row in filters_of(WATCH) for name, type in row.names(WATCH)}
KEYS = ("query", *(row.name for row in reading_of(WATCH)), "ranking", *_FILTERS)
"""The keys of a saved search."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A search and its name, which also names the file of its feed. `is_literal`: the query has no syntax."""

    name: str
    query: ParsedQuery
    ranking: Ranking
    filters: Filters = NO_FILTERS
    is_literal: bool = False

    def definition(self) -> str:
        """What the search asks for, as the state stores it. The ranking is not part of it."""
        parts = {"query": self.query.text, "literal": self.is_literal, "filters": self.filters.as_dict()}
        if self.query.language is not None:
            parts["query_language"] = self.query.language
        return json.dumps({"version": _DEFINITION, **parts}, sort_keys=True)

    def has_definition(self, stored: str) -> bool:
        """Whether this is the search of a stored definition, also of one by another version of esr.

        If that cannot be read in full, what can be read decides: a search that begins anew by mistake would
        keep what came since the last run to itself.
        """
        if stored == self.definition():
            return True
        definition = json.loads(stored)
        if isinstance(definition, list):
            return self._has_old_definition(*definition)
        if definition["version"] == _DEFINITION:
            return False
        return bool(definition.get("query", self.query.text) == self.query.text)

    def _has_old_definition(self, spelling: str, text: str, filters: str) -> bool:
        """Compare a definition of esr 0.2: the query in a uniform spelling and as typed, and its filters."""
        read_otherwise = parse if self.is_literal else literal
        if text != self.query.text or spelling not in (str(self.query), str(read_otherwise(text))):
            return text == self.query.text
        if spelling != str(self.query):
            return False
        known = _read_old_filters(filters)
        return known is None or known.as_dict() == self.filters.as_dict()


_DEFINITION = 1
"""The version of stored definitions."""


def _read_old_filters(text: str) -> Filters | None:
    """The filters in a `repr` of esr 0.2; None if this version cannot read them."""

    def read(node: ast.expr) -> Any:
        match node:
            case ast.Call(ast.Name("Filters"), [], keywords):
                values = {str(keyword.arg): read(keyword.value) for keyword in keywords}
                return Filters(**{**values, "attributes": dict(values.get("attributes", ()))})
            case ast.Call(
                ast.Name("HasAttribute"), [], [ast.keyword("names", names), ast.keyword(_, values)]
            ):
                return ast.literal_eval(names)[0], ast.literal_eval(values)
            case ast.Tuple(parts):
                return tuple(map(read, parts))
            case _:
                return ast.literal_eval(node)

    try:
        filters = read(ast.parse(text, mode="eval").body)
    except (EsrError, SyntaxError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return filters if isinstance(filters, Filters) else None


def read_searches(path: Path) -> list[SavedSearch]:
    """Read the searches of a file: each is a table such as `[floods]`, with a `query`.

    Optional keys are `literal`, `query_language`, `ranking` (as in a ranking file), and the filters, such as
    `after`, `source` and `meta` with pairs such as `desk=Berlin`. `require` and `furniture` say what is so
    for every search of a file: a sentence has all words, and furniture is ranked like sentences. Raises
    InputError with the file and the search at fault.
    """
    data = read_toml(path)
    if not data:
        raise InputError(str(path), 'has no search: write one as [name] with a query = "..." below')
    return [read_search(f"{path}, [{name}]", name, table) for name, table in data.items()]


def list_deprecations(path: Path) -> list[str]:
    """What is said of the former names in a file of searches. Raises InputError."""
    return [
        f"{path}, [{name}]: {line}"
        for name, table in read_toml(path).items()
        for row in (*filters_of(WATCH), *reading_of(WATCH))
        for line in row.deprecations(table, WATCH)
    ]


def read_search(where: str, name: str, table: Any) -> SavedSearch:
    """Read a search from a table with a `query`. `where` is for messages. Raises InputError."""
    if not _NAME.fullmatch(name):
        raise InputError(where, "a name has letters, digits, dots, hyphens and underscores only")
    if not isinstance(table, Mapping):
        raise InputError(where, 'a search is a table: [name] with a query = "..." below')
    try:
        for key in table:
            if key not in KEYS:
                raise unknown("key", key, KEYS)
        query = _text(table, "query")
        if query is None:
            raise UsageError("the query is missing")
        is_literal = _flag(table, "literal")
        _flag(table, "furniture")
        if table.get("require") not in (None, "all"):
            raise UsageError(f"require must be all, not {table['require']!r}")
        values = {
            name: _texts(table, name) if isinstance(type, Texts) else table.get(name)
            for name, type in _FILTERS.items()
        }
        filters = read_filters(values, label=str)
        ranking = Ranking.from_dict(table.get("ranking", {}))
        parsed = in_language(literal(query) if is_literal else parse(query), _text(table, "query_language"))
        return SavedSearch(name, parsed, ranking, filters, is_literal)
    except InputError:
        raise
    except EsrError as error:
        raise InputError(where, str(error)) from error


def _text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise UsageError(f"{key} must be a text, not {value!r}")


def _flag(table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise UsageError(f"{key} must be true or false")
    return value


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return one text or a list of texts as a tuple."""
    value = table.get(key, [])
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list) and all(isinstance(text, str) and text.strip() for text in values):
        return tuple(values)
    raise UsageError(f"{key} must be a text or a list of texts, not {value!r}")


def write_search(table: Mapping[str, Any]) -> str:
    """A search as lines for a file of searches, without empty values. Its name is made from the query."""
    name = re.sub(r"[^a-z0-9]+", "-", table["query"].lower()).strip("-")[:60].rstrip("-")
    lines = (f"{key} = {_toml(value)}\n" for key, value in table.items() if value)
    return f"[{name or 'search'}]\n{''.join(lines)}"


def _toml(value: Any) -> str:
    match value:
        case str():  # a JSON string is a TOML string, except for one character that TOML forbids
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case Mapping():
            pairs = ((key, field) for key, field in value.items() if field not in (None, {}, [], ()))
            return f"{{{', '.join(f'{_key(key)} = {_toml(field)}' for key, field in pairs)}}}"
        case _:
            return repr(value)


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _toml(text)
