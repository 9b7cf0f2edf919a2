"""Options of commands, made from the tables of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from esr.arguments.argument import COMMAND, Argument
from esr.arguments.types import (
    Choice,
    Day,
    Flag,
    Named,
    Percentage,
    Positive,
    Seed,
    Share,
    Type,
    UsualLimits,
    WholeNumber,
)
from esr.cli.options import add_options


def arguments_of(
    rows: Iterable[Argument], operation: str, *names: str, **changes: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """Add the options of arguments that an operation takes, by their names in the table, in this order.

    `changes` are settings of click by name, for what is different on the command line.
    """
    known = {row.name: row for row in rows if row.is_for(operation)}
    made = [build_option(known[name], **changes.get(name, {})) for name in names]
    return lambda command: add_options(made, command)


def build_option(
    row: Argument,
    name: str = "",
    values: Type | None = None,
    note: str = "",
    parameter: str = "",
    **changes: Any,
) -> Callable[[Any], Any]:
    """The option of an argument, under this name if it is given, with values of this type.

    The command receives it as `parameter`, by default as its name. `note` is added to its help, and `changes`
    are other settings of click.
    """
    name, kind = name or row.name_at(COMMAND), values or row.type
    repeated = " May be repeated." * row.is_repeatable
    settings: dict[str, Any] = {
        "help": f"{row.sentence()}{note and ' '}{note}{repeated}",
        "multiple": row.is_repeatable,
    }
    settings |= _read_type(kind) | changes
    return click.option(_write_name(name, kind), parameter or name, **settings)


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
            return {"type": click.FloatRange(0, min_open=True), "default": kind.usual}
        case Day():
            return {"metavar": "DATE"}
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
