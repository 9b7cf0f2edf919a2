"""The `esr` command and how its errors are printed.

When the garbage collector looks at a command: neither while it is imported nor as it ends.

Modules are some fifty thousand objects that stay. To look for garbage among them takes a sixth of the time of
a search.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

import esr
from esr.cli.options import login_options, use_login
from esr.errors import EsrError
from esr.processes import set_environment


@contextmanager
def pause_collections() -> Iterator[None]:
    """Collects nothing inside the block. What it made counts as old after it, and is seldom looked at."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # All that exists becomes old in two steps, without being looked at.
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def skip_last_collections() -> None:
    """The interpreter looks for garbage as it ends, and will not find anything to look at.

    So what is open then, and in a cycle, is not closed.
    """
    atexit.register(gc.freeze)


COMMANDS = {
    "load": "cli.load",
    "append": "cli.load",
    "remove": "cli.load",
    "sync": "cli.sync",
    "export": "cli.operate",
    "indices": "cli.operate",
    "rollback": "cli.operate",
    "delete": "cli.operate",
    "refresh-priors": "cli.operate",
    "migrate": "cli.operate",
    "enrich": "cli.enrich",
    "search": "cli.search",
    "timeline": "cli.following",
    "similar": "cli.following",
    "watch": "cli.following",
    "run": "lab.commands.run",
    "evaluate": "lab.commands.evaluate",
    "tune": "lab.commands.tune",
    "estimate": "lab.commands.tune",
    "learn": "lab.commands.tune",
    "report": "lab.commands.report",
    "compare": "lab.commands.evaluate",
    "reproduce": "lab.commands.reproduce",
    "explain": "cli.explain",
    "query": "cli.explain",
    "serve": "cli.operate",
    "roles": "cli.operate",
    "status": "cli.operate",
    "analyze": "cli.listings",
    "capacity": "lab.commands.capacity",
    **dict.fromkeys(
        ("models", "priors", "features", "forms", "boosts", "signals", "encoders", "analyzers", "formats"),
        "cli.listings",
    ),
}
"""By command, the module of `esr` that it is in. A command is imported when it is called: a search does
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
    with pause_collections(), set_environment({_THREADS: os.environ.get(_THREADS, "1")}):
        module = import_module(f"esr.{COMMANDS[name]}")
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
@login_options
def main(**options: Any) -> None:
    """Search for sentences of news, in a folder or in Elasticsearch.

    \b
    Example:
      esr load news.jsonl --index my-index
      esr search "earthquake relief China" --index my-index

    The options below are for Elasticsearch, and precede the command.
    """
    click.get_current_context().with_resource(use_login(**options))


def run() -> None:
    """The program `esr`: the command, and then the end of the process."""
    try:
        main()
    except SystemExit as end:
        if not end.code:  # a command that has succeeded has closed what it opened
            skip_last_collections()
        raise
