"""Checks the arguments of the Python API by their annotations: a wrong one is a UsageError that names it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, wraps
from itertools import repeat
from numbers import Integral, Real
from types import FunctionType, NoneType, SimpleNamespace, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from esr.arguments.argument import PYTHON, Argument
from esr.arguments.tables.table import rows
from esr.arguments.types import Choice, Percentage, Seed, WholeNumber
from esr.errors import UsageError, unknown
from esr.library.options import EnrichOptions, check_names
from esr.query import ParsedQuery
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from esr.arguments.tables import enriching, loading
else:
    # A search needs neither loaders nor enrichment.
    enriching = import_lazily("esr.arguments.tables.enriching")
    loading = import_lazily("esr.arguments.tables.loading")

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Class = TypeVar("_Class", bound=type)
_Known = tuple[Any, Argument | None]
"""What is known of an argument: its annotation, and its row in the tables."""

_NOUNS = {"parts": "part", "interval": "interval", "unit": "unit", "sort": "order"}
"""What messages call the values of some arguments."""
_CHECKED_BY_METHODS = ("hit",)
"""Arguments for which the methods have a message of their own."""
_WRITING_METHODS = ("append", "enrich", "remove")
_QUERIES = ("query", "queries")
"""Arguments that may also be the result of `esr.parse_query`."""


def check_arguments(cls: _Class) -> _Class:
    """Decorate a class: calls of its public methods raise UsageError for an argument of a wrong kind."""
    for name, member in list(vars(cls).items()):
        is_method = isinstance(member, FunctionType) and not name.startswith("_")
        if is_method and member.__annotations__.keys() - {"return"}:
            setattr(cls, name, checked(member))
    return cls


def check_options(options: Mapping[str, Any], kind: type) -> None:
    """Raise UsageError for an option that this TypedDict lacks, or a value of a wrong kind."""
    check_names(options, kind.__annotations__)
    hints = _option_hints(kind)
    table = enriching if kind is EnrichOptions else loading
    for name, value in options.items():
        if value is not None:
            check_value(name, value, hints[name], table.ROWS.get(name))


def check_value(name: str, value: Any, hint: Any, row: Argument | None = None) -> None:
    """Raise UsageError, naming the argument, unless a value has the kind of an annotation and is in range.

    `row`: the argument in the tables, which has its least value.
    """
    if name in _CHECKED_BY_METHODS:
        return
    if name in _QUERIES and hint is str:
        if not isinstance(value, (str, ParsedQuery)):
            raise UsageError(f"a query is a text or the result of esr.parse_query, not {value!r}")
        return
    type = None if row is None else row.type
    if isinstance(type, Seed):
        type = None
    if isinstance(type, WholeNumber) and not (value is None and _accepts(hint, None)):
        least = type.low
        if not _accepts(int, value) or value < least:
            kind = "a positive number" if least == 1 else f"a whole number from {least}"
            raise UsageError(f"{name} must be {kind}, not {value!r}")
        return
    if isinstance(type, Percentage) and not (_accepts(float, value) and 0 <= value <= 100):
        raise UsageError(f"{name} must be a number from 0 to 100, not {value!r}")
    if _accepts(hint, value):
        return
    choices = [choice for part in _parts(hint) if get_origin(part) is Literal for choice in get_args(part)]
    if choices and isinstance(value, str):
        raise unknown(_NOUNS.get(name, f"choice for {name}"), value, choices)
    kinds = dict.fromkeys(kind for part in _parts(hint) if (kind := _describe(part)))
    raise UsageError(f"{name} is {' or '.join(kinds)}, not {value!r}")


def check_choice(name: str, value: Any, row: Argument | None) -> None:
    """Raise UsageError for a text that an argument does not have in the tables."""
    if row is None or not isinstance(row.type, Choice) or not isinstance(value, str):
        return
    if value not in row.type.labels:
        raise unknown(_NOUNS.get(name, name), value, row.type.labels)


def checked(method: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate a function: a call raises UsageError for an argument of a wrong kind."""

    @wraps(method)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        names, name_of_others, known = _read_signature(method)
        # Signature.bind would take .02 ms, a tenth of a search. Python refuses wrong numbers of arguments.
        if name_of_others:
            names = [*names, *repeat(name_of_others, len(args))]
        _check_values(zip(names, args, strict=False), known)
        _check_values(kwargs.items(), known)
        return method(*args, **kwargs)

    return call


def _check_values(values: Iterable[tuple[str, Any]], known: Mapping[str, _Known]) -> None:
    for name, value in values:
        if name in known:
            hint, row = known[name]
            check_value(name, value, hint, row)
            check_choice(name, value, row)


def _read_table(method: str) -> Mapping[str, Argument]:
    """The arguments in the tables, by the keywords of a method. Those of searches are the usual ones."""
    if method in _WRITING_METHODS:
        return enriching.ROWS if method == "enrich" else loading.ROWS
    return {row.name_at(PYTHON): row for row in rows(method, "search").values()}


@cache
def _read_signature(method: Callable[..., Any]) -> tuple[list[str], str, Mapping[str, _Known]]:
    """The names of a method's arguments by position, the name of `*args` or "", and what is known of them.

    Options (`**options`) are left out, since they have a check of their own.
    """
    parameters = inspect.signature(method).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    others = [parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL]
    written = {
        parameter.name: parameter.annotation
        for parameter in parameters
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.annotation is not parameter.empty
    }
    namespace = inspect.unwrap(method).__globals__
    hints = get_type_hints(SimpleNamespace(__annotations__=written), globalns=namespace)
    table = _read_table(method.__name__)
    return names, "".join(others), {name: (hint, table.get(name)) for name, hint in hints.items()}


@cache
def _option_hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _parts(hint: Any) -> tuple[Any, ...]:
    """The parts of a union, or the annotation itself."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _accepts(hint: Any, value: Any) -> bool:
    """Whether a value has the kind of an annotation. Items are examined if they can be read twice."""
    if type(value) is hint or hint in (Any, object):
        return True
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_accepts(part, value) for part in args)
    if origin is Literal:
        return isinstance(value, str) and value in args
    if value is None:
        return hint in (None, NoneType, bool)  # a flag that is not given
    if hint is bool or isinstance(value, bool):
        return hint is bool and isinstance(value, bool | np.bool_)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real)
    kind = origin or hint
    if not isinstance(kind, type) or args == (object,):  # rows, which are read by their own rules
        return True
    if isinstance(value, bytes) or not isinstance(value, kind):
        return False
    if isinstance(value, tuple) and kind is tuple:
        return len(value) == len(args) and all(map(_accepts, args, value))
    if kind is Iterable and isinstance(value, Sequence | AbstractSet):
        return all(_accepts(args[0], item) for item in value)
    return True


def _describe(hint: Any) -> str:
    """An annotation in words; empty for None, which counts as not given."""
    kind = get_origin(hint) or hint
    words = {str: "a text", int: "a whole number", float: "a number", bool: "True or False", NoneType: ""}
    if kind in words:
        return words[kind]
    if kind is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    if kind is tuple:
        return f"{len(get_args(hint))} numbers"
    several = {Iterable: "several of them", Mapping: "a mapping"}
    return several.get(kind, f"a {kind.__name__.lower()}" if isinstance(kind, type) else str(kind))
