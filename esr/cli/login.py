"""The options of `esr` itself that say who it is to Elasticsearch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import click

from esr.engines.access import login as variables
from esr.environment import set_environment

_FILES = {
    "--api-key-file": (variables.API_KEY_FILE, "A file that holds an API key of Elasticsearch."),
    "--password-file": (variables.PASSWORD_FILE, "A file that holds the user's password."),
    "--ca-file": (variables.CA_FILE, "Certificates (PEM) of the authorities to trust."),
}


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options. Secrets come by files and the environment: others can read a command line."""
    insecure = click.option(
        "--insecure", is_flag=True, help=f"Do not check Elasticsearch's certificate [{variables.INSECURE}=1]."
    )
    user = click.option("--user", help=f"A user of Elasticsearch [{variables.USER}].")
    for decorate in (insecure, *(_file(*each) for each in reversed(_FILES.items())), user):
        command = decorate(command)
    return command


def taken(user: str | None, insecure: bool, **files: str | None) -> AbstractContextManager[None]:
    """Let the options be what the environment says in here, also for the processes that a command starts."""
    given = {variables.USER: user, variables.INSECURE: "1" if insecure else None}
    given |= {variable: files[_argument(option)] for option, (variable, _) in _FILES.items()}
    return set_environment({variable: value for variable, value in given.items() if value is not None})


def _file(option: str, about: tuple[str, str]) -> Callable[..., Any]:
    variable, help = about
    return click.option(option, metavar="FILE", help=f"{help[:-1]} [{variable}].")


def _argument(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")
