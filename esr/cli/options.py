"""Options that most commands share, and how options are added to a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

FILE = click.Path(dir_okay=False, path_type=Path)

_INDEX: Any = {
    "envvar": "ESR_INDEX",
    "show_envvar": True,
    "metavar": "WHERE",
    "help": "The index: a folder, or http(s)://host:port/alias for Elasticsearch.",
}
index = click.option("--index", "where", required=True, **_INDEX)
optional_index = click.option("--index", "where", **_INDEX)
place = click.argument("where", metavar="WHERE")
"""The index, in the same form as for `--index`, for commands that manage indexes."""
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def describe_choices(choices: Mapping[str, str]) -> str:
    """The choices of an option or a command with what each means, for its help."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items()) + "."


def add_options(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    """The command with these options, which its help shows in this order."""
    for option in reversed(options):
        command = option(command)
    return command
