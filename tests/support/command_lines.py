"""Check a command line of esr without running it."""

from __future__ import annotations

import shlex

import click

from esr.cli import main


def check_command(line: str) -> None:
    """Raise what click says of unknown commands and options. Nothing is run, and no value is read."""
    command: click.Command = main
    words = shlex.split(line, comments=True)
    context = click.Context(main, **main.context_settings)  # commands keep the help option of their first
    while isinstance(command, click.Group) and words:
        _, words, _ = command.make_parser(context).parse_args(words)
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, click.Context(found, parent=context)
    _, extra, _ = command.make_parser(context).parse_args(words)
    if extra:
        raise click.UsageError(f"{extra} are too many arguments")
