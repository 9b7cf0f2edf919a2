"""Options that many commands share, and the options of `esr` for logging in to Elasticsearch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from esr.index.login import API_KEY_FILE, CA_FILE, INSECURE, PASSWORD_FILE, USER
from esr.processes import set_environment

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
furniture = click.option(
    "--furniture",
    "with_furniture",
    is_flag=True,
    help="Rank links, labels, credits and notices of pages like sentences, instead of lowering them.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def describe_choices(choices: Mapping[str, str]) -> str:
    """Describe the choices of an option or argument, each with its meaning, for help texts."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items()) + "."


def add_options(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    """Add options to a command. Its help shows them in this order."""
    for option in reversed(options):
        command = option(command)
    return command


_FILES = {
    "--api-key-file": (API_KEY_FILE, "A file with an API key of Elasticsearch"),
    "--password-file": (PASSWORD_FILE, "A file with the user's password"),
    "--ca-file": (CA_FILE, "Certificates (PEM) of the authorities to trust"),
}


def login_options(command: Callable[..., Any]) -> Any:
    """Add the login options. Secrets come from files or the environment, because command lines are public."""
    return add_options(
        [
            click.option("--user", help=f"A user of Elasticsearch [{USER}]."),
            *(
                click.option(option, metavar="FILE", help=f"{help} [{variable}].")
                for option, (variable, help) in _FILES.items()
            ),
            click.option(
                "--insecure",
                is_flag=True,
                help=f"Do not verify Elasticsearch's certificate [{INSECURE}=1].",
            ),
        ],
        command,
    )


def use_login(user: str | None, insecure: bool, **files: str | None) -> AbstractContextManager[None]:
    """Set the login in the environment within the context, also for the processes that a command starts."""
    values = {USER: user, INSECURE: "1" if insecure else None}
    values |= {variable: files[_parameter_name(option)] for option, (variable, _) in _FILES.items()}
    return set_environment({variable: value for variable, value in values.items() if value is not None})


def _parameter_name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")
