"""Options and arguments of commands, made from the tables of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from esr.arguments.argument import COMMAND, Argument
from esr.arguments.types import (
    Between,
    Choice,
    Day,
    FilePath,
    Flag,
    Named,
    Percentage,
    Positive,
    Seed,
    Share,
    Stream,
    Text,
    Type,
    UsualLimits,
    WholeNumber,
)

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(dir_okay=False, path_type=Path)
_PATHS = {"file": FILE, "folder": click.Path(file_okay=False, path_type=Path), "any": click.Path()}


def add_options(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    """Add options to a command. Its help shows them in this order."""
    for add in reversed(options):
        command = add(command)
    return command


def add_arguments(
    rows: Iterable[Argument], operation: str, *names: str, **changes: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """Add the arguments that an operation takes: those of these names in this order, by default all.

    `changes` are settings of click by name, for what is different on the command line.
    """
    known = {row.name: row for row in rows if row.is_for(operation)}
    options = [build_option(known[name], **changes.get(name, {})) for name in names or known]
    return lambda command: add_options(options, command)


def collect_options(kind: type[Any], parameter: str = "options") -> Callable[[F], F]:
    """Pass the options that are fields of a struct to the command as one parameter, a struct of this kind."""

    def collect(command: F) -> F:
        @wraps(command)
        def with_options(*args: Any, **kwargs: Any) -> Any:
            names = [name for name in kind.__struct_fields__ if name in kwargs]
            values = {name: kwargs.pop(name) for name in names}
            return command(*args, **{parameter: kind(**values)}, **kwargs)

        return cast(F, with_options)

    return collect


def build_option(
    row: Argument,
    name: str = "",
    values: Type | None = None,
    note: str = "",
    parameter: str = "",
    **changes: Any,
) -> Callable[[Any], Any]:
    """The option or positional argument of a row, under this name if it is given, with values of this type.

    The command receives it as `parameter`, by default as the row says. `note` is added to its help, and
    `changes` are other settings of click.
    """
    name, kind, parameter = name or row.name_at(COMMAND), values or row.type, parameter or row.sets
    settings: dict[str, Any] = _read_type(kind)
    if row.is_repeatable and isinstance(settings.get("default"), str):
        settings["default"] = [settings["default"]]
    if row.metavar:
        settings["metavar"] = row.metavar
    if row.is_positional:
        settings |= {"nargs": -1 if row.is_repeatable else 1, "required": row.is_required}
        settings = {name: value for name, value in settings.items() if value is not None}
        return click.argument(parameter or name, **settings | changes)

    repeated = " May be repeated." * row.is_repeatable
    settings |= {
        "help": f"{row.sentence()}{note and ' '}{note}{repeated}",
        "multiple": row.is_repeatable,
        "required": row.is_required,
    }
    letters = (f"-{row.letter}",) if row.letter else ()
    return click.option(*letters, _write_name(name, kind), parameter or name, **settings | changes)


def _write_name(name: str, kind: Type) -> str:
    written = name.replace("_", "-")
    if isinstance(kind, Flag) and (kind.is_on or kind.opposite):
        return f"--{written}/--{kind.opposite or f'no-{written}'}"
    return f"--{written}" if len(written) > 1 else f"-{written}"


def _read_type(kind: Type) -> dict[str, Any]:
    """The settings of click for a type of values."""
    match kind:
        case Flag():
            return {"default": kind.is_on} if kind.opposite else {"is_flag": True, "default": kind.is_on}
        case Named():
            return {}
        case Choice():
            return {"type": click.Choice(list(kind.labels)), "default": kind.usual}
        case Seed():
            return {"type": int, "default": kind.usual}
        case WholeNumber():
            return {
                "type": click.IntRange(kind.low, kind.most),
                "default": kind.default(UsualLimits),
            }
        case Share():
            return {"type": click.FloatRange(kind.low, 1.0), "default": kind.usual}
        case Percentage():
            return {"default": f"{kind.usual:g}%", "metavar": "N%", "callback": _parse_percentage}
        case Positive():
            return {"type": click.FloatRange(0, kind.high, min_open=True), "default": kind.usual}
        case Between():
            return {"type": click.FloatRange(kind.low, kind.high), "default": kind.usual}
        case Day():
            return {"metavar": "DATE"}
        case FilePath():
            return {"type": _PATHS[kind.kind], "default": kind.usual}
        case Stream():
            return {"type": click.Path(dir_okay=not kind.is_input, allow_dash=True), "default": kind.usual}
        case Text() if kind.usual is not None:
            return {"default": kind.usual, "show_default": bool(kind.usual)}
        case _:
            return {}


def _parse_percentage(context: click.Context, parameter: click.Parameter, value: str) -> float:
    try:
        percentage = float(value.removesuffix("%"))
    except ValueError:
        percentage = -1.0
    if not 0 <= percentage <= 100:
        raise click.BadParameter(f"{value!r} is no share: write for example 80%")
    return percentage
