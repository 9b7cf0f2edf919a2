"""The `esr` command: it imports subcommands when they are called, and prints errors as one line.

Garbage collection is off during imports and at the end of the process. Modules are some fifty thousand
permanent objects; searching them for garbage takes a sixth of the time of a search.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import re
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import click

import esr
from esr.cli.options import login_options, use_login
from esr.errors import EsrError, UsageError, unknown
from esr.installed_plugins import PLUGINS, Kind
from esr.locks import require_locks
from esr.processes import allow_open_files, set_environment


@contextmanager
def pause_collections() -> Iterator[None]:
    """Disable garbage collection inside the block.

    Objects that exist at its end move to the oldest generation, which is seldom collected.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # These two calls move all objects to the oldest generation without a collection.
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def skip_last_collections() -> None:
    """Leave nothing to collect at the end of the interpreter.

    Open objects that are part of a cycle are then not closed.
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
    "verify": "cli.operate",
    "backup": "cli.operate",
    "restore": "cli.operate",
    "enrich": "cli.enrich",
    "search": "cli.search",
    "timeline": "cli.following",
    "collection": "cli.following",
    "similar": "cli.following",
    "watch": "cli.following",
    "explain": "cli.search",
    "query": "cli.search",
    "serve": "cli.operate",
    "keys": "cli.keys",
    "roles": "cli.operate",
    "status": "cli.operate",
    "analyze": "cli.listings",
    **dict.fromkeys(
        ("models", "priors", "features", "forms", "boosts", "encoders", "analyzers", "formats", "plugins"),
        "cli.listings",
    ),
}
"""The module in the package `esr` of each command that is in no plug-in. It is imported when the command is
called, so that a search does not wait for imports that only loads and evaluations need."""
_THREADS = "OPENBLAS_NUM_THREADS"
"""The variable with the number of threads that numpy starts on import for products of large matrices, by
default one per processor. No command computes any, and starting the threads takes a quarter of the time of
the import, or more with many processors."""
_KIND = Kind("commands", "command", click.Command)
_HELP = {"help_option_names": ["-h", "--help"], "show_default": True}


class LazyCommands(MutableMapping[str, click.Command]):
    """The commands by name. Each is imported when it is first accessed.

    Plug-ins are read when a name is unknown, and when all commands are listed.
    """

    def __init__(self) -> None:
        self._imported: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name in COMMANDS and name not in self._imported:
            self[name] = _import_command(name)
        command = self._imported.get(name) or _find_in_plugins(name)
        if command is None:
            raise KeyError(name)
        return _with_help(command)

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._imported[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"the command {name} cannot be removed")

    def __iter__(self) -> Iterator[str]:
        yield from COMMANDS
        yield from PLUGINS.list_shipped(_KIND)
        yield from PLUGINS.find_all(_KIND, COMMANDS)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _with_help(command: click.Command) -> click.Command:
    """The command, with the help options also where it is called without the group."""
    for subcommand in (command, *getattr(command, "commands", {}).values()):
        subcommand.context_settings = {**_HELP}
    return command


_WITH_PAGE = ("serve", "keys")
"""The commands that import the package of the page."""


def _import_page() -> None:
    """Import the package `webui` that was installed with esr.

    Another package of that name may come first on the path: that of a program in the current folder.
    """
    require_locks()
    beside = Path(__file__).resolve().parents[2]
    loaded = sys.modules.get("webui")
    if loaded is not None:
        others = [path for path in getattr(loaded, "__path__", ()) if Path(path).resolve().parent != beside]
        if others:
            raise UsageError(
                f"another package named webui is imported already, from {others[0]}: "
                f"call esr {' and esr '.join(_WITH_PAGE)} in a process of its own"
            )
        return
    spec = PathFinder.find_spec("webui", [str(beside)])
    if spec is not None and spec.origin is not None and spec.loader is not None:
        sys.modules["webui"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)


@contextmanager
def _importing() -> Iterator[None]:
    with pause_collections(), set_environment({_THREADS: os.environ.get(_THREADS, "1")}):
        yield


def _find_in_plugins(name: str) -> click.Command | None:
    with _importing():
        command: click.Command | None = PLUGINS.find(_KIND, name)
    return command


def _import_command(name: str) -> click.Command:
    if name in _WITH_PAGE:
        _import_page()
    with _importing():
        module = import_module(f"esr.{COMMANDS[name]}")
    return next(
        value for value in vars(module).values() if isinstance(value, click.Command) and value.name == name
    )


class Group(click.Group):
    """A group that prints errors as one line without a traceback, if the user can act on them."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            with PLUGINS.reporting(lambda problem: click.echo(f"Warning: {problem}", err=True)):
                return super().main(*args, **kwargs)
        except EsrError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(error.exit_code)
        except (MemoryError, OSError, RuntimeError, ImportError) as error:
            click.echo(f"Error: {_describe_failure(error)}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            sys.exit(130)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise unknown("command", args[0], self.commands) from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if error.message.startswith("Got unexpected extra argument") and _takes_text(error.ctx):
                hint = "several words of a text need quotation marks around them"
                raise click.UsageError(f"{error.message}: {hint}", error.ctx) from error
            raise


def _takes_text(context: click.Context | None) -> bool:
    return context is not None and any(
        isinstance(parameter, click.Argument) and parameter.nargs == 1 for parameter in context.command.params
    )


_LACKS_MEMORY = ("can't start new thread", "failed to map segment", "Cannot allocate memory")
"""Parts of the messages of errors that only a lack of memory causes."""


def _describe_failure(error: Exception) -> str:
    """What stopped a command: a limit of the system. Raises the error itself if it is something else."""
    if isinstance(error, MemoryError) or any(part in str(error) for part in _LACKS_MEMORY):
        return (
            "there is not enough memory for the data or the threads of this process: end other programs, or "
            "raise its limits (ulimit -v, ulimit -u, or those of its container)"
        )
    if not isinstance(error, OSError):
        raise error
    file = f" with {error.filename}" if error.filename else ""
    limit = ": raise the limit of the size of files (ulimit -f)" if error.errno == errno.EFBIG else ""
    return f"cannot continue{file}: {error.strerror or error}{limit}"


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


_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e]"
"""What changes a terminal, or reverses its text. Line ends and tabs do not."""
_OWN_CONTROLS = {"stdout": r"\x1b\[[012]m", "stderr": r"\r|\x1b\[A"}
"""What commands write themselves: bold and dim text, and progress bars."""


class TerminalText(TextIOWrapper):
    """Text for a terminal, with a replacement character for each control character.

    Texts of documents could otherwise clear the terminal, rename it or write into its clipboard.
    """

    controls: re.Pattern[str]

    def write(self, text: str) -> int:
        return super().write(self.controls.sub("\ufffd", text))


def _show_no_controls() -> None:
    """Replace the control characters in what is written to a terminal."""
    for name, allowed in _OWN_CONTROLS.items():
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper) and stream.isatty():
            encoding, errors = stream.encoding, stream.errors
            terminal = TerminalText(stream.detach(), encoding, errors, line_buffering=True)
            terminal.controls = re.compile(f"(?!{allowed}){_CONTROLS}")
            setattr(sys, name, terminal)


def _write_any_letter() -> None:
    """Write UTF-8 to files and pipes. A terminal of another encoding shows ? for letters that it lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            is_chosen = stream.isatty() or "PYTHONIOENCODING" in os.environ
            stream.reconfigure(encoding=None if is_chosen else "utf-8", errors="replace")


_OPEN_FILES = 4000
"""Number of files of an index of 25 million sentences."""


def run() -> None:
    """The entry point of the program `esr`: run the command, then end the process."""
    allow_open_files(_OPEN_FILES)
    _write_any_letter()
    _show_no_controls()
    try:
        main()
    except SystemExit as end:
        if not end.code:  # a successful command has closed its files
            skip_last_collections()
        raise
