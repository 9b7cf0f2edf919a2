"""Options that many commands share, and the options of `esr` for logging in to Elasticsearch."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, cast

import click
from click.core import ParameterSource

from esr.arguments.argument import COMMAND
from esr.arguments.tables.common import INDEX, JSON, LOGIN
from esr.cli.arguments import add_arguments, build_option
from esr.errors import UsageError
from esr.index.login_variables import redact
from esr.processes import set_environment


class IndexOption(click.Option):
    """The option `--index`, which may also be given as an argument.

    Some commands also accept the index as their first (`argument` is 0) or last argument (-1), for
    compatibility with earlier versions. For other commands, a first argument that is an index is taken for it
    if no option or variable names one. With `--index`, all arguments belong to the command.
    """

    def __init__(self, *args: Any, argument: int | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, is_eager=True)  # before the arguments, which it rearranges
        self._argument = argument

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        name = str(self.name)
        values = cast(dict[str, Any], opts)
        places = [parameter for parameter in ctx.command.params if isinstance(parameter, click.Argument)]
        words = [word for place in places for word in _words(values.get(str(place.name)))] + args
        source = self.consume_value(ctx, opts)[1]
        if self._is_among(words, places, source):
            where = words.pop(self._argument or 0)
            if source is ParameterSource.COMMANDLINE and _resolve(where) != _resolve(values[name]):
                raise UsageError(
                    f"two indexes are named, {redact(where)} and {redact(values[name])}: keep that of --index"
                )
            values[name] = where
            for place in places:
                end = place.nargs if place.nargs > 0 else len(words)
                values.pop(str(place.name), None)
                if words[:end]:
                    values[str(place.name)] = words[0] if place.nargs == 1 else tuple(words[:end])
                words = words[end:]
            args = words
        return super().handle_parse_result(ctx, opts, args)

    def _is_among(
        self, words: Sequence[str], places: Sequence[click.Argument], source: ParameterSource
    ) -> bool:
        """Whether one of the arguments is the index."""
        if len(words) <= sum(place.required for place in places):
            return False
        is_open = source not in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
        is_too_many = all(place.nargs == 1 for place in places) and len(words) > len(places)
        was_argument = self._argument is not None
        if was_argument and (is_open or is_too_many):
            return True
        word = words[self._argument or 0]
        is_address = _INDEX_ADDRESS.fullmatch(word) and source is not ParameterSource.COMMANDLINE
        return bool(is_address or is_folder_of_index(word)) and (was_argument or is_open or is_too_many)


_INDEX_ADDRESS = re.compile(r"https?://[^/]+/[^/?#]+/?")


def is_folder_of_index(where: str) -> bool:
    """Whether there is an index folder, possibly damaged."""
    return os.path.isdir(os.path.join(where, "segments"))


def _words(value: Any) -> list[str]:
    """The words that the parser assigned to an argument, as a list."""
    return [value] if isinstance(value, str) else [*value] if isinstance(value, tuple | list) else []


def _resolve(where: str) -> str:
    return where.rstrip("/") if "://" in where else os.path.abspath(where)


def _option(*, required: bool = True, argument: int | None = None) -> Callable[[Any], Any]:
    return build_option(
        INDEX, cls=IndexOption, required=required, argument=argument, envvar="ESR_INDEX", show_envvar=True
    )


index: Callable[[Any], Any] = _option()
optional_index: Callable[[Any], Any] = _option(required=False)
index_or_first: Callable[[Any], Any] = _option(argument=0)
index_or_last: Callable[[Any], Any] = _option(argument=-1)
"""The option for commands that accept the index as their first, or as their last argument."""
as_json: Callable[[Any], Any] = build_option(JSON)


def describe_choices(choices: Mapping[str, str]) -> str:
    """Describe the choices of an option or argument, each with its meaning, for help texts."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items()) + "."


def login_options(command: Callable[..., Any]) -> Any:
    """Add the login options. The command receives them by the variables that they set."""
    return add_arguments(LOGIN, COMMAND)(command)


def use_login(**variables: str | bool | None) -> AbstractContextManager[None]:
    """Set the login in the environment inside the block, also for processes that a command starts."""
    values = {name: "1" if value is True else value for name, value in variables.items()}
    return set_environment({name: str(value) for name, value in values.items() if value})


def parse_slice(text: str) -> tuple[int, int]:
    """Parse a slice: `2/8` is (2, 8). Raises UsageError."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--slice needs I/N, like 2/8 for the second of eight, not {text!r}")
    return int(match[1]), int(match[2])


def read_standard_input() -> str:
    """The text on standard input, without a byte order mark and with line breaks of any kind as \\n.

    Raises UsageError unless it is UTF-8.
    """
    try:
        return io.TextIOWrapper(io.BytesIO(sys.stdin.buffer.read()), "utf-8-sig").read()
    except UnicodeDecodeError:
        raise UsageError("standard input is not UTF-8: convert it first, for example with iconv") from None
