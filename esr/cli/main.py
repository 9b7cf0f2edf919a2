"""The `esr` command and how its errors are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import click

import esr
from esr.cli import garbage, login
from esr.environment import set_environment
from esr.errors import EsrError

COMMANDS = {
    "load": "load",
    "append": "append",
    "remove": "append",
    "sync": "sync",
    "export": "export",
    "indices": "generations",
    "rollback": "generations",
    "delete": "generations",
    "refresh-priors": "refresh_priors",
    "migrate": "migrate",
    "enrich": "enrich",
    "search": "search",
    "timeline": "timeline",
    "similar": "similar",
    "watch": "watch",
    "run": "run",
    "evaluate": "evaluate",
    "tune": "tune",
    "estimate": "estimate",
    "learn": "learn",
    "report": "report",
    "compare": "compare",
    "reproduce": "reproduce",
    "explain": "explain",
    "query": "query",
    "serve": "serve",
    "roles": "roles",
    "status": "status",
    "analyze": "analyze",
    "plan": "plan",
    **dict.fromkeys(
        ("models", "priors", "features", "forms", "boosts", "signals", "encoders", "analyzers", "formats"),
        "listings",
    ),
}
"""By command, the module of `esr.cli` that it is in. A command is imported when it is called: a search does
not wait for what only loads and evaluations need."""
_THREADS = "OPENBLAS_NUM_THREADS"
"""numpy starts threads as it is imported, one for each processor, for products of large matrices. No command
has any, and the threads take a quarter of the time of that import: more on more processors."""
_HELP = {"help_option_names": ["-h", "--help"]}


class LazyCommands(MutableMapping[str, click.Command]):
    """The commands by name, each imported at the first look at it."""

    def __init__(self) -> None:
        self._imported: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._imported:
            self[name] = _import_command(name)
        return self._imported[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        # A command that is called without the group has the same help options.
        for own in (command, *getattr(command, "commands", {}).values()):
            own.context_settings = {**_HELP}
        self._imported[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"the command {name} cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _import_command(name: str) -> click.Command:
    with garbage.pause_collections(), set_environment({_THREADS: os.environ.get(_THREADS, "1")}):
        module = import_module(f"esr.cli.{COMMANDS[name]}")
    return next(
        value for value in vars(module).values() if isinstance(value, click.Command) and value.name == name
    )


class Group(click.Group):
    """Prints errors that the user can act on as one line, without a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except EsrError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(error.exit_code)
        except OSError as error:  # of the output, such as a full disk behind a redirection
            click.echo(f"Error: cannot continue: {error.strerror or error}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            sys.exit(130)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from esr.errors import unknown

            raise unknown("command", args[0], self.commands) from error


@click.group(cls=Group, commands=LazyCommands(), context_settings=_HELP)
@click.version_option(esr.__version__, prog_name="esr")
@login.login_options
def main(**options: Any) -> None:
    """Search for sentences of news, in a folder or in Elasticsearch.

    \b
    Example:
      esr load news.jsonl --index my-index
      esr search "earthquake relief China" --index my-index

    The options below are for Elasticsearch, and precede the command.
    """
    click.get_current_context().with_resource(login.use_login(**options))


def run() -> None:
    """The program `esr`: the command, and then the end of the process."""
    try:
        main()
    except SystemExit as end:
        if not end.code:  # a command that has succeeded has closed what it opened
            garbage.skip_last_collections()
        raise
